"""CUDA sources that instantiate the block primitives of CUB (package `nvidia-cuda-cccl`), each for types and sizes.

Each kernel loads, calls one primitive, and stores; some call it in a loop behind a barrier, as CUB's documentation
demands before temporary storage is used again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_TYPES = ("int", "float", "double", "unsigned char")
_THREADS = (64, 128, 256)
_PLACE = re.compile(r"\b(LOAD|STORE)\b")
_WORD = re.compile(r"\b(TYPE|THREADS|ITEMS)\b")


@dataclass(frozen=True, slots=True)
class CubKernel:
    """One kernel: its name, the header that it needs, its block, and its text."""

    name: str
    header: str
    threads: int
    text: str


def kernels() -> tuple[CubKernel, ...]:
    """Return all kernels, in an order that stays."""
    found = (
        *_reduce(), *_scan(), *_exchange(), *_load(), *_store(), *_radix_sort(), *_radix_rank(), *_merge_sort(),
        *_histogram(), *_discontinuity(), *_adjacent_difference(), *_shuffle(), *_run_length(), *_warps(),
    )  # fmt: skip
    assert len({each.name for each in found}) == len(found)
    return found


def _kernel(name: str, header: str, type_: str, threads: int, items: int, body: str) -> CubKernel:
    full = f"{name}_{type_.replace(' ', '_')}_{threads}_{items}"
    head = f'extern "C" __global__ void __launch_bounds__({threads}) {full}(const {type_}* in, {type_}* out, int n)'
    load = (
        f"{type_} items[{items}]; for (int i = 0; i < {items}; ++i) items[i] = in[threadIdx.x * {items} + i];"
    )
    store = f"for (int i = 0; i < {items}; ++i) out[threadIdx.x * {items} + i] = items[i];"
    words = {"LOAD": load, "STORE": store}
    text = _PLACE.sub(lambda found: words[found[0]], body)
    words = {"TYPE": type_, "THREADS": str(threads), "ITEMS": str(items)}
    text = _WORD.sub(lambda found: words[found[0]], text)
    return CubKernel(full, header, threads, f"{head}\n{{\n{text}\n}}\n")


def _each(types: tuple[str, ...] = _TYPES, threads: tuple[int, ...] = _THREADS) -> Iterator[tuple[str, int]]:
    """Yield pairs that have each type and each size, without all combinations."""
    for number in range(max(len(types), len(threads))):
        yield types[number % len(types)], threads[number % len(threads)]


_SHARED = "__shared__ typename P::TempStorage storage;"


def _reduce() -> Iterator[CubKernel]:
    algorithms = ("RAKING", "RAKING_COMMUTATIVE_ONLY", "WARP_REDUCTIONS")
    for algorithm in algorithms:
        primitive = f"using P = cub::BlockReduce<TYPE, THREADS, cub::BLOCK_REDUCE_{algorithm}>; {_SHARED}"
        for type_, threads in (*_each(), ("int", 96), ("float", 100)):
            for items in (1, 4):
                body = (
                    f"{primitive} LOAD TYPE sum = P(storage).Sum(items); if (threadIdx.x == 0) out[0] = sum;"
                )
                yield _kernel(f"reduce_{algorithm.lower()}", "block_reduce", type_, threads, items, body)
        body = (
            f"{primitive} TYPE sum = P(storage).Sum(in[threadIdx.x], n); if (threadIdx.x == 0) out[0] = sum;"
        )
        yield _kernel(f"reduce_valid_{algorithm.lower()}", "block_reduce", "int", 128, 1, body)
        body = f"{primitive} for (int j = 0; j < n; ++j) {{ TYPE sum = P(storage).Sum(in[j * THREADS + threadIdx.x]); "
        body += "if (threadIdx.x == 0) out[j] = sum; __syncthreads(); }"
        yield _kernel(f"reduce_loop_{algorithm.lower()}", "block_reduce", "float", 256, 1, body)


def _scan() -> Iterator[CubKernel]:
    for algorithm in ("RAKING", "RAKING_MEMOIZE", "WARP_SCANS"):
        primitive = f"using P = cub::BlockScan<TYPE, THREADS, cub::BLOCK_SCAN_{algorithm}>; {_SHARED}"
        for type_, threads in _each():
            for call in ("ExclusiveSum", "InclusiveSum"):
                for items in (1, 4):
                    body = f"{primitive} LOAD P(storage).{call}(items, items); STORE"
                    yield _kernel(
                        f"scan_{call.lower()}_{algorithm.lower()}", "block_scan", type_, threads, items, body
                    )
        body = (
            f"{primitive} for (int j = 0; j < n; ++j) {{ TYPE x = in[j * THREADS + threadIdx.x]; TYPE all; "
        )
        body += (
            "P(storage).ExclusiveSum(x, x, all); out[j * THREADS + threadIdx.x] = x + all; __syncthreads(); }"
        )
        yield _kernel(f"scan_loop_{algorithm.lower()}", "block_scan", "int", 128, 1, body)


def _exchange() -> Iterator[CubKernel]:
    for sliced in ("false", "true"):
        primitive = f"using P = cub::BlockExchange<TYPE, THREADS, ITEMS, {sliced}>; {_SHARED}"
        for call in ("StripedToBlocked", "BlockedToStriped", "WarpStripedToBlocked", "BlockedToWarpStriped"):
            for type_, threads in _each():
                body = f"{primitive} LOAD P(storage).{call}(items, items); STORE"
                yield _kernel(f"exchange_{call.lower()}_{sliced}", "block_exchange", type_, threads, 4, body)
            body = f"{primitive} LOAD P(storage).{call}(items, items); STORE"
            yield _kernel(f"exchange_{call.lower()}_{sliced}", "block_exchange", "int", 128, 7, body)


def _load() -> Iterator[CubKernel]:
    for algorithm in (
        "DIRECT",
        "STRIPED",
        "VECTORIZE",
        "TRANSPOSE",
        "WARP_TRANSPOSE",
        "WARP_TRANSPOSE_TIMESLICED",
    ):
        primitive = f"using P = cub::BlockLoad<TYPE, THREADS, ITEMS, cub::BLOCK_LOAD_{algorithm}>; {_SHARED}"
        for type_, threads in _each(_TYPES[:3]):
            body = f"{primitive} TYPE items[ITEMS]; P(storage).Load(in, items, n); STORE"
            yield _kernel(f"load_{algorithm.lower()}", "block_load", type_, threads, 4, body)
        body = f"{primitive} for (int j = 0; j < n; ++j) {{ TYPE items[ITEMS]; "
        body += "P(storage).Load(in + j * THREADS, items); __syncthreads(); STORE }"
        yield _kernel(f"load_loop_{algorithm.lower()}", "block_load", "int", 128, 4, body)


def _store() -> Iterator[CubKernel]:
    for algorithm in (
        "DIRECT",
        "STRIPED",
        "VECTORIZE",
        "TRANSPOSE",
        "WARP_TRANSPOSE",
        "WARP_TRANSPOSE_TIMESLICED",
    ):
        primitive = (
            f"using P = cub::BlockStore<TYPE, THREADS, ITEMS, cub::BLOCK_STORE_{algorithm}>; {_SHARED}"
        )
        for type_, threads in _each(_TYPES[:3]):
            body = f"{primitive} LOAD P(storage).Store(out, items, n);"
            yield _kernel(f"store_{algorithm.lower()}", "block_store", type_, threads, 4, body)


def _radix_sort() -> Iterator[CubKernel]:
    primitive = f"using P = cub::BlockRadixSort<TYPE, THREADS, ITEMS>; {_SHARED}"
    for type_, threads in _each(("unsigned int", "int", "float", "unsigned char")):
        for items in (1, 4):
            for call in ("Sort", "SortDescending", "SortBlockedToStriped"):
                body = f"{primitive} LOAD P(storage).{call}(items); STORE"
                yield _kernel(f"radix_{call.lower()}", "block_radix_sort", type_, threads, items, body)
    pairs = "using P = cub::BlockRadixSort<TYPE, THREADS, ITEMS, int>; "
    pairs += f"{_SHARED} LOAD int values[ITEMS]; for (int i = 0; i < ITEMS; ++i) values[i] = i + n; "
    pairs += "P(storage).Sort(items, values); STORE out[threadIdx.x * ITEMS] += values[0];"
    for type_, threads in _each(("unsigned int", "float"), (64, 128)):
        yield _kernel("radix_pairs", "block_radix_sort", type_, threads, 4, pairs)


def _radix_rank() -> Iterator[CubKernel]:
    for kind, extra in (("BlockRadixRank", ""), ("BlockRadixRankMatch", "")):
        for threads in _THREADS:
            body = f"using P = cub::{kind}<THREADS, 4, false{extra}>; {_SHARED} LOAD int ranks[ITEMS]; "
            body += "P(storage).RankKeys(items, ranks, cub::BFEDigitExtractor<unsigned int>(n, 4)); "
            body += "for (int i = 0; i < ITEMS; ++i) out[threadIdx.x * ITEMS + i] = ranks[i];"
            yield _kernel(kind.lower(), "block_radix_rank", "unsigned int", threads, 4, body)


def _merge_sort() -> Iterator[CubKernel]:
    for type_, threads in _each(_TYPES[:3]):
        for items in (1, 3):
            body = "using P = cub::BlockMergeSort<TYPE, THREADS, ITEMS>; "
            body += f"{_SHARED} LOAD P(storage).Sort(items, [](TYPE a, TYPE b) {{ return a < b; }}); STORE"
            yield _kernel("merge_sort", "block_merge_sort", type_, threads, items, body)


def _histogram() -> Iterator[CubKernel]:
    for algorithm in ("SORT", "ATOMIC"):
        for threads in _THREADS:
            body = f"using P = cub::BlockHistogram<TYPE, THREADS, ITEMS, 256, cub::BLOCK_HISTO_{algorithm}>; {_SHARED}"
            body += (
                "__shared__ unsigned int bins[256]; LOAD P(storage).Histogram(items, bins); __syncthreads(); "
            )
            body += "for (int i = threadIdx.x; i < 256; i += THREADS) out[i] = bins[i];"
            yield _kernel(
                f"histogram_{algorithm.lower()}", "block_histogram", "unsigned char", threads, 4, body
            )


def _discontinuity() -> Iterator[CubKernel]:
    primitive = f"using P = cub::BlockDiscontinuity<TYPE, THREADS>; {_SHARED} LOAD "
    primitive += "bool flags[ITEMS]; bool tails[ITEMS];"
    end = "for (int i = 0; i < ITEMS; ++i) out[threadIdx.x * ITEMS + i] = flags[i]"
    for type_, threads in _each(_TYPES[:3]):
        differ = "[](TYPE a, TYPE b) { return a != b; }"
        body = f"{primitive} P(storage).FlagHeads(flags, items, {differ}); {end};"
        yield _kernel("discontinuity_heads", "block_discontinuity", type_, threads, 4, body)
        body = f"{primitive} P(storage).FlagHeadsAndTails(flags, tails, items, {differ}); {end} + tails[i];"
        yield _kernel("discontinuity_both", "block_discontinuity", type_, threads, 2, body)


def _adjacent_difference() -> Iterator[CubKernel]:
    primitive = f"using P = cub::BlockAdjacentDifference<TYPE, THREADS>; {_SHARED} LOAD"
    for type_, threads in _each(_TYPES[:3]):
        for call in ("SubtractLeft", "SubtractRight"):
            body = (
                f"{primitive} P(storage).{call}(items, items, [](TYPE a, TYPE b) {{ return a - b; }}); STORE"
            )
            yield _kernel(f"difference_{call.lower()}", "block_adjacent_difference", type_, threads, 4, body)


def _shuffle() -> Iterator[CubKernel]:
    primitive = f"using P = cub::BlockShuffle<TYPE, THREADS>; {_SHARED}"
    for type_, threads in _each(_TYPES[:3]):
        for call in ("Offset(x, x, 1)", "Rotate(x, x, 3)"):
            body = f"{primitive} TYPE x = in[threadIdx.x]; P(storage).{call}; out[threadIdx.x] = x;"
            yield _kernel(f"shuffle_{call[:6].lower()}", "block_shuffle", type_, threads, 1, body)
        for call in ("Up", "Down"):
            body = f"{primitive} LOAD P(storage).{call}(items, items); STORE"
            yield _kernel(f"shuffle_{call.lower()}", "block_shuffle", type_, threads, 4, body)


def _run_length() -> Iterator[CubKernel]:
    for type_, threads in _each(_TYPES[:2], (64, 128)):
        body = "using P = cub::BlockRunLengthDecode<TYPE, THREADS, ITEMS, 4>; "
        body += f"{_SHARED} LOAD unsigned int lengths[ITEMS]; for (int i = 0; i < ITEMS; ++i) lengths[i] = i + 1; "
        body += "unsigned int total; P decode(storage, items, lengths, total); TYPE decoded[4]; "
        body += "for (unsigned int start = 0; start < total; start += 4 * THREADS) { "
        body += "decode.RunLengthDecode(decoded, start); "
        body += "for (int i = 0; i < 4; ++i) out[start + threadIdx.x * 4 + i] = decoded[i]; }"
        yield _kernel("run_length", "block_run_length_decode", type_, threads, 2, body)


def _warps() -> Iterator[CubKernel]:
    storage = "__shared__ typename P::TempStorage storage[THREADS / WIDTH]; int w = threadIdx.x / WIDTH;"
    for width in (32, 16):
        for type_, threads in _each(_TYPES[:3]):
            head = f"using P = cub::WarpReduce<TYPE, {width}>; {storage} TYPE x = in[threadIdx.x];"
            body = f"{head} x = P(storage[w]).Sum(x); if (threadIdx.x % WIDTH == 0) out[w] = x;"
            yield _kernel(
                f"warp_reduce_{width}",
                "../warp/warp_reduce",
                type_,
                threads,
                1,
                body.replace("WIDTH", str(width)),
            )
            head = f"using P = cub::WarpScan<TYPE, {width}>; {storage} TYPE x = in[threadIdx.x];"
            body = f"{head} P(storage[w]).InclusiveSum(x, x); out[threadIdx.x] = x;"
            yield _kernel(
                f"warp_scan_{width}",
                "../warp/warp_scan",
                type_,
                threads,
                1,
                body.replace("WIDTH", str(width)),
            )
    for type_, threads in _each(_TYPES[:3]):
        head = "using P = cub::WarpMergeSort<TYPE, ITEMS, 32>; "
        head += "__shared__ typename P::TempStorage storage[THREADS / 32];"
        body = f"{head} LOAD P(storage[threadIdx.x / 32]).Sort(items, [](TYPE a, TYPE b) {{ return a < b; }}); STORE"
        yield _kernel("warp_merge_sort", "../warp/warp_merge_sort", type_, threads, 4, body)


def sources() -> dict[str, str]:
    """Return one CUDA text for each header."""
    found: dict[str, list[str]] = {}
    for each in kernels():
        found.setdefault(each.header, []).append(each.text)
    return {
        header.rsplit("/", 1)[-1]: f"#include <cub/block/{header}.cuh>\n\n" + "\n".join(texts)
        for header, texts in found.items()
    }
