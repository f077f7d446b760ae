"""Delays and mends put into the PTX of released kernels.

    python -m benchmarks.hardware.released.edits prefill KERNEL.ptx FOLDER

writes `prefill_late.ptx` and its like. The places are counted: the n-th instruction of a name in what nvcc 13.0 wrote.
A delay is read from the global `ptxcheck_delay` when the kernel runs: cycles, and a mask of warps. With a mask of 0 it
does nothing but read. `multicast_mended` is made from the CUDA source that TileLang writes, with the changes `MENDED`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_DELAY = """{{ .reg .pred q0, q1; .reg .b32 hc, hm, hw; .reg .b64 hs, hn, hd;
    ld.volatile.global.u32 hc, [ptxcheck_delay]; ld.volatile.global.u32 hm, [ptxcheck_delay+4];
    mov.u32 hw, %tid.x; shr.u32 hw, hw, 5; shr.u32 hm, hm, hw; and.b32 hm, hm, 1; {whose}setp.eq.u32 q0, hm, 0;
    @q0 bra DELAYED{n};
    cvt.u64.u32 hd, hc; mov.u64 hs, %clock64;
DELAY{n}:
    mov.u64 hn, %clock64; sub.u64 hn, hn, hs; setp.lt.u64 q1, hn, hd;
    @q1 bra DELAY{n};
DELAYED{n}:
}}"""
_RANK = "mov.u32 hw, %cluster_ctarank; "
_OF_CTA = {
    "delay of the second CTA": _RANK + "and.b32 hm, hm, hw; ",
    "delay of the first CTA": _RANK + "xor.b32 hw, hw, 1; and.b32 hm, hm, hw; ",
}
_GLOBAL = ".visible .global .align 16 .b32 ptxcheck_delay[4];\n"


@dataclass(frozen=True, slots=True)
class Edit:
    """What is put in front of some instructions of a name, or done to them."""

    instruction: str
    which: tuple[int, ...]
    """Of all instructions of that name, in the order of the text."""
    text: str
    """The new line in front; `delay` and that of a CTA are written out, `drop` drops the instruction."""


_LATE_STORE = Edit("stmatrix", (0,), "delay")
_NO_ARRIVAL = Edit("bar.arrive", (-1,), "drop")
_TILES = "bar.sync", (2, 6, 10)  # behind `repack_fp8_kv_to_bf16`, in the three loops of the consumer
_PROBABILITIES = "bar.arrive", (0, 1, 2)  # behind `write_p_rmem_smem`
_PROXY_FENCE, _MEMORY_FENCE = "fence.proxy.async.shared::cta;", "fence.acq_rel.cta;"
_LATE_CONSUMER = Edit("wgmma.fence", (1, 2, 3, 4, 5, 6, 7), "delay of the second CTA")
_LATE_FIRST_CONSUMER = Edit("wgmma.fence", (1, 2, 3, 4, 5, 6, 7), "delay of the first CTA")
_LATE_INIT = Edit("mbarrier.init", (0,), "delay of the second CTA")
_LATE_COLLECTION = Edit("ld.shared", (-4,), "delay")  # last pass of `RadixCollectIndices`, values stored
_BARRIER_AT_THE_END = Edit("setp.lt", (-1,), "bar.sync 0;")  # is there another row?
KERNELS: Mapping[str, Mapping[str, tuple[Edit, ...]]] = {
    "prefill": {
        "original": (),
        "late": (_LATE_STORE,),
        "mended": (_NO_ARRIVAL,),
        "mended_late": (_LATE_STORE, _NO_ARRIVAL),
    },
    "mla_fp8": {
        "original": (),
        "mended": (Edit(*_TILES, _PROXY_FENCE), Edit(*_PROBABILITIES, _PROXY_FENCE)),
        "mended_tiles": (Edit(*_TILES, _PROXY_FENCE),),
        "memory_fence": (Edit(*_TILES, _MEMORY_FENCE), Edit(*_PROBABILITIES, _MEMORY_FENCE)),
    },
    "topk": {
        "original": (),
        "late": (_LATE_COLLECTION,),
        "mended": (_BARRIER_AT_THE_END,),
        "mended_late": (_LATE_COLLECTION, _BARRIER_AT_THE_END),
    },
    "multicast": {
        "original": (),
        "late_init": (_LATE_INIT,),
        "late_consumer": (_LATE_CONSUMER,),
    },
    "multicast_mended": {
        "original": (),
        "late_consumer": (_LATE_CONSUMER,),
        "late_first_consumer": (_LATE_FIRST_CONSUMER,),
        "late_init": (_LATE_INIT,),
    },
}
"""For each kernel: its variants."""


_SECOND = "tl::block_rank_in_cluster() != 0"
_WAITING, _ELECTED = (
    "mbarrier[((step & 1) + 2)].wait((((step & 3) >> 1) ^ 1));",
    "if (tl::tl_shuffle_elect<128>()) {",
)
MENDED = (
    (f"{_WAITING}\n      {_ELECTED}", f"{_ELECTED}\n        {_WAITING}"),
    ("mbarrier[2].init(128);", f"mbarrier[2].init({_SECOND} ? 128 : 256);"),
    ("mbarrier[3].init(128);", f"mbarrier[3].init({_SECOND} ? 128 : 256);"),
    (
        "__syncthreads();\n  if (((int)threadIdx.x) < 128)",
        "tl::cluster_sync();\n  if (((int)threadIdx.x) < 128)",
    ),
    (
        "mbarrier[((step_1 & 1) + 2)].arrive();",
        "mbarrier[((step_1 & 1) + 2)].arrive();\n"
        f"if ({_SECOND}) tl::mbarrier_arrive(mbarrier_mem[((step_1 & 1) + 2)], 0, 1u);",
    ),
)
"""Both CTAs know that all mbarriers are there, and the first one waits for room in both rings. The thread that copies
waits for it alone: a warp that only waits and comes two rounds late would wait for ever, and all of the cluster for it.
A `tl::cluster_sync();`
at the end keeps it there until the second one has arrived."""


_FIRST_WAIT = "mbarrier[(step_1 & 1)].wait(((step_1 & 3) >> 1));"
_RELEASE = "mbarrier[((step_1 & 1) + 2)].arrive();"
_FEW = "128 : 132"
MENDED_CHEAPLY = (
    MENDED[0],
    *((old, new.replace("128 : 256", _FEW)) for old, new in MENDED[1:3]),
    ("__syncthreads();", "tl::cluster_arrive_relaxed();\n  __syncthreads();"),
    ("tl::warpgroup_reg_dealloc<24>();", "tl::warpgroup_reg_dealloc<24>();\n    tl::cluster_wait();"),
    (_FIRST_WAIT, f"{_FIRST_WAIT}\n      if (step_1 == 0) tl::cluster_wait();"),
    (
        _RELEASE,
        f"{_RELEASE}\n      __syncwarp(); if ({_SECOND} && step_1 < 6 && (threadIdx.x & 31) == 0) "
        "tl::mbarrier_arrive(mbarrier_mem[((step_1 & 1) + 2)], 0, 1u);",
    ),
)
"""The same order for less: the producer waits for the other CTA, and consumers do behind their first copy, which
comes later anyway; one lane of each warp tells the first CTA; and releases that no later copy waits for tell nobody, so
that the first CTA is there for all that come to it without a barrier at the end."""


def mended_source(text: str) -> str:
    """Return the CUDA source of `matmul_multicast`, mended."""
    return _replaced(text, MENDED).rstrip().removesuffix("}") + "tl::cluster_sync();\n}\n"


def cheaply_mended_source(text: str) -> str:
    """Return the CUDA source of `matmul_multicast`, mended by what takes less time."""
    return _replaced(text, MENDED_CHEAPLY)


def _replaced(text: str, changes: tuple[tuple[str, str], ...]) -> str:
    for old, new in changes:
        if text.count(old) != 1:
            raise ValueError(f"not the source that the changes are for: {old}")
        text = text.replace(old, new)
    return text


def edited(text: str, edits: tuple[Edit, ...]) -> str:
    """Return the text of a variant."""
    lines = text.split("\n")
    fronts: dict[int, str] = {}
    dropped: set[int] = set()
    for edit in edits:
        found = [i for i, line in enumerate(lines) if re.match(rf"\s*{re.escape(edit.instruction)}\b", line)]
        for place in (found[n] for n in edit.which):
            if edit.text == "drop":
                dropped.add(place)
            else:
                whose = _OF_CTA.get(edit.text, "")
                is_delay = edit.text.startswith("delay")
                fronts[place] = _DELAY.format(whose=whose, n=len(fronts)) if is_delay else edit.text
    kept = [
        f"{fronts[i]}\n{line}" if i in fronts else line for i, line in enumerate(lines) if i not in dropped
    ]
    changed = "\n".join(kept)
    has_delay = any(edit.text.startswith("delay") for edit in edits)
    return changed.replace(".visible .entry", _GLOBAL + ".visible .entry", 1) if has_delay else changed


def main(kernel: str, source: str, folder: str) -> None:
    """Write all variants of a kernel."""
    text = Path(source).read_text(encoding="utf-8")
    for name, edits in KERNELS[kernel].items():
        Path(folder, f"{kernel}_{name}.ptx").write_text(edited(text, edits), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
