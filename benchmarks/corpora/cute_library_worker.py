"""Runs in the environment of the CuTe DSL: kernels of libraries by their public functions and classes, with no GPU.

python -m benchmarks.corpora.cute_library_worker FOLDER TARGET [CASE...]

Tensors are PyTorch's fake ones, for which FlashAttention 4 compiles and does not launch; cuDNN's frontend compiles from
samples of tensors. A case may compile several kernels; each has a JSON line, with the cluster that the host would
launch. Nothing of the kernels is read for that.
"""
# mypy: ignore-errors

from __future__ import annotations

import json
import os
import re
import signal
import sys
import tempfile
import traceback
from pathlib import Path

SECONDS = 240
IS_ASYNCHRONOUS = re.compile(r"mbarrier|cp\.async|wgmma|tcgen05")

ATTENTION = {
    "fwd_d128": {},
    "fwd_d128_causal": {"causal": True},
    "fwd_d64_causal_gqa": {"causal": True, "depth": 64, "groups": 4},
    "fwd_d96": {"depth": 96},
    "fwd_d192_128_causal": {"causal": True, "depth": 192, "depth_v": 128},
    "fwd_d128_window": {"window": (256, 0)},
    "fwd_d128_softcap": {"softcap": 30.0},
    "fwd_d128_split": {"num_splits": 4},
    "fwd_d128_varlen": {"varlen": True},
    "fwd_d128_varlen_causal_gqa": {"varlen": True, "causal": True, "groups": 8},
    "fwd_d64_fp16": {"depth": 64, "kind": "float16"},
    "fwd_d256": {"depth": 256},
    "bwd_d128": {"backward": True},
    "bwd_d128_causal": {"backward": True, "causal": True},
    "bwd_d64_gqa": {"backward": True, "depth": 64, "groups": 4},
    "bwd_d128_deterministic": {"backward": True, "deterministic": True},
    "bwd_d128_varlen": {"backward": True, "varlen": True},
    "bwd_d256": {"backward": True, "depth": 256},
}
CUDNN = {
    "swiglu_128x128": ("_swiglu", {"mma_tiler_mn": (128, 128), "cluster_shape_mn": (1, 1)}),
    "swiglu_128x64_1x2": ("_swiglu", {"mma_tiler_mn": (128, 64), "cluster_shape_mn": (1, 2)}),
    "swiglu_256x128_2x1": ("_swiglu", {"mma_tiler_mn": (256, 128), "cluster_shape_mn": (2, 1)}),
    "swiglu_256x256_2x2": ("_swiglu", {"mma_tiler_mn": (256, 256), "cluster_shape_mn": (2, 2)}),
    "compression_attention": ("_compression", {}),
    "compression_attention_persistent": ("_compression", {"is_persistent": True}),
    "compression_attention_varlen": ("_compression", {"varlen": True}),
    "top_k_reduction": ("_top_k", {}),
    "selection_attention": ("_selection", {}),
    "rmsnorm_rht_amax": ("_rmsnorm", {}),
    "indexer_forward": ("_indexer", {}),
}
CASES = {**{name: ("_attention", how) for name, how in ATTENTION.items()}, **CUDNN}


def main(arguments: list[str]) -> int:
    folder, target, *names = arguments
    capability = target.removeprefix("sm_").rstrip("af")
    with tempfile.TemporaryDirectory() as dumps:
        os.environ.update(
            CUTE_DSL_ARCH=target,
            CUTE_DSL_DISABLE_FILE_CACHING="1",
            CUTE_DSL_DUMP_DIR=dumps,
            CUTE_DSL_KEEP="ptx",
            FLASH_ATTENTION_ARCH=f"sm_{capability}",
            FLASH_ATTENTION_NUM_SMS="132",
            QUACK_ARCH=capability,
            QUACK_CACHE_ENABLED="0",
        )
        _be_a_device(int(capability))
        for name in names or CASES:
            for line in _in_own_process(name, Path(dumps), Path(folder), target):
                print(json.dumps(line), flush=True)
    return 0


def _be_a_device(capability: int) -> None:
    import torch

    properties = type("Device", (), {"multi_processor_count": 132, "major": capability // 10, "minor": 0})()
    for name, value in {
        "is_available": True, "device_count": 1, "current_device": 0, "get_device_properties": properties,
        "get_device_capability": (capability // 10, 0), "_lazy_init": None, "current_stream": None,
    }.items():  # fmt: skip
        setattr(torch.cuda, name, lambda *_, _value=value, **__: _value)
    from cutlass.utils import HardwareInfo

    HardwareInfo.__init__ = lambda self, device_id=0: None
    HardwareInfo.get_device_multiprocessor_count = lambda self: 132
    HardwareInfo.get_max_active_clusters = lambda self, size, stream=None: 132 // size


def _in_own_process(name: str, dumps: Path, folder: Path, target: str) -> list[dict]:
    for old in dumps.iterdir():
        old.unlink()
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.close(read)
        os.dup2(2, 1)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        clusters, error = _record_clusters(), ""
        try:
            make, how = CASES[name]
            globals()[make](**how)
        except BaseException as raised:
            where = traceback.extract_tb(raised.__traceback__)[-1]
            error = f"{type(raised).__name__}: {raised} ({Path(where.filename).name}:{where.lineno})"[:500]
        with os.fdopen(write, "w") as stream:
            json.dump([clusters, error], stream)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as stream:
        clusters, error = json.loads(stream.read() or '[[], "the compiler died, or time was over"]')
    os.waitpid(child, 0)
    made = sorted(dumps.glob("*.ptx"), key=lambda path: path.stat().st_mtime_ns)
    lines = []
    number = int(re.sub(r"\D", "", target))
    for index, path in enumerate(made):
        text = path.read_text(encoding="utf-8").replace("\x00", "")
        if not IS_ASYNCHRONOUS.search(text):
            continue
        cluster = clusters[index] if len(clusters) == len(made) else None
        if cluster is None and len({tuple(each) for each in clusters}) == 1:
            cluster = clusters[0]
        kernel = re.search(r"\.entry\s+(\w+)", text)
        short = (
            re.sub(r"_?0x[0-9a-f]+|_object_at.*|_tensor.*", "", kernel[1])[:60]
            if kernel
            else f"kernel{index}"
        )
        unit = f"{name}.{index}.{target}"
        (folder / f"{unit}.ptx").write_text(text, encoding="utf-8")
        lines.append(
            {"name": f"{name}.{index}", "target": number, "unit": unit, "entry": short, "cluster": cluster}
        )
    if error:
        lines.append({"name": name, "target": number, "error": error})
    return lines or [{"name": name, "target": number, "skipped": "nothing asynchronous"}]


def _record_clusters() -> list[list[int]]:
    from cutlass.base_dsl.dsl import BaseDSL

    seen: list[list[int]] = []
    config = BaseDSL.LaunchConfig
    finish = config.__post_init__

    def noting(self) -> None:
        cluster = self.cluster
        try:
            seen.append([1, 1, 1] if cluster is None else [int(extent) for extent in cluster])
        except Exception:  # an extent that is no number yet
            seen.append([0, 0, 0])
        finish(self)

    config.__post_init__ = noting
    return seen


def _attention(
    depth=128, depth_v=None, groups=1, causal=False, window=(None, None), softcap=0.0, num_splits=1, varlen=False,
    kind="bfloat16", backward=False, deterministic=False,
) -> None:  # fmt: skip
    import torch
    from flash_attn.cute.interface import _flash_attn_bwd, flash_attn_func, flash_attn_varlen_func
    from torch._subclasses.fake_tensor import FakeTensorMode

    depth_v = depth_v or depth
    batch, length, heads = 2, 1024, 8
    with FakeTensorMode(), torch.no_grad():

        def tensor(count: int, width: int):
            shape = (batch * length, count, width) if varlen else (batch, length, count, width)
            return torch.empty(shape, dtype=getattr(torch, kind), device="cuda")

        q, k, v = tensor(heads, depth), tensor(heads // groups, depth), tensor(heads // groups, depth_v)
        starts = torch.empty(batch + 1, dtype=torch.int32, device="cuda")
        if backward:
            lse_shape = (heads, batch * length) if varlen else (batch, heads, length)
            lse = torch.empty(lse_shape, dtype=torch.float32, device="cuda")
            more = {"cu_seqlens_q": starts, "cu_seqlens_k": starts} if varlen else {}
            if varlen:
                more |= {"max_seqlen_q": length, "max_seqlen_k": length}
            out, dout = tensor(heads, depth_v), tensor(heads, depth_v)
            _flash_attn_bwd(q, k, v, out, dout, lse, causal=causal, deterministic=deterministic, **more)
            return
        how = {"causal": causal, "window_size": window, "softcap": softcap, "num_splits": num_splits}
        if varlen:
            more = {
                "cu_seqlens_q": starts,
                "cu_seqlens_k": starts,
                "max_seqlen_q": length,
                "max_seqlen_k": length,
            }
            flash_attn_varlen_func(q, k, v, **more, **how)
        else:
            flash_attn_func(q, k, v, return_lse=True, **how)


def _matrix(rows: int, columns: int, kind: str = "bfloat16"):
    """A batch of one matrix, its rows contiguous, as cuDNN's frontend takes it: the batch is the last dimension."""
    import torch

    return torch.empty((1, rows, columns), dtype=getattr(torch, kind), device="cuda").permute(1, 2, 0)


def _compile(make) -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode(allow_non_fake_inputs=True):
        kernel = make()
    kernel.check_support()
    kernel.compile()


def _swiglu(**how) -> None:
    from cudnn.gemm.cutedsl.dense.swiglu.api import GemmSwigluSm100

    m, n, k = 1024, 2048, 512
    _compile(lambda: GemmSwigluSm100(_matrix(m, k), _matrix(n, k), _matrix(m, n), _matrix(m, n // 2), **how))


def _tensors(*shapes):
    import torch

    return [
        torch.empty(shape, dtype=getattr(torch, (kind or ["bfloat16"])[0]), device="cuda")
        for shape, *kind in shapes
    ]


def _compression(varlen=False, **how) -> None:
    from cudnn.native_sparse_attention.compression.api import CompressionAttention

    def make():
        if varlen:
            shapes = [(2048, 8, 128), (256, 2, 128), (256, 2, 128), (2048, 8, 128)]
            tensors = _tensors(*((shape,) for shape in shapes), ((2048, 8, 1), "float32"))
            starts = _tensors(((3,), "int32"), ((3,), "int32"))
        else:
            shapes = [(2, 8, 1024, 128), (2, 2, 128, 128), (2, 2, 128, 128), (2, 8, 1024, 128)]
            tensors = _tensors(*((shape,) for shape in shapes), ((2, 8, 1024, 1), "float32"))
            starts = [None, None]
        return CompressionAttention(*tensors, *starts, **how)

    _compile(make)


def _top_k() -> None:
    from cudnn.native_sparse_attention.top_k.api import TopKReduction

    def make():
        tensors = _tensors(
            ((2048, 8, 128),), ((256, 2, 128),), ((2048, 8, 1), "float32"), ((2048, 2, 16), "float32"),
            ((2048, 2, 16), "int32"), ((3,), "int32"), ((3,), "int32"),
        )  # fmt: skip
        return TopKReduction(*tensors, 1024, 128)

    _compile(make)


def _selection() -> None:
    from cudnn.native_sparse_attention.selection.api import SelectionAttention

    def make():
        tensors = _tensors(
            ((2048, 16, 128),), ((2048, 1, 128),), ((2048, 1, 128),), ((2048, 16, 128),), ((2048, 16, 1), "float32"),
            ((2048, 16, 1), "float32"), ((2048, 1, 16), "int32"), ((2048, 1), "int32"),
            ((3,), "int32"), ((3,), "int32"),
        )  # fmt: skip
        return SelectionAttention(*tensors)

    _compile(make)


def _rmsnorm() -> None:
    from cudnn.rmsnorm_rht_amax.api import RmsNormRhtAmaxSm100

    _compile(
        lambda: RmsNormRhtAmaxSm100(
            *_tensors(((4096, 4096),), ((4096,),), ((4096, 4096),), ((2048,), "float32")), rows_per_cta=2
        )
    )


def _indexer() -> None:
    from cudnn.deepseek_sparse_attention.indexer_forward.api import IndexerForward

    _compile(
        lambda: IndexerForward(
            *_tensors(
                ((1, 1024, 64, 128),),
                ((1, 256, 1, 128),),
                ((1, 1024, 64), "float32"),
                ((1, 1024, 256), "float32"),
            )
        )
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
