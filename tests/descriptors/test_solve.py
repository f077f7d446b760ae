"""Every answer of the solver is legal, no search finds a cheaper one, and every clash is minimal."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from ptxcheck.descriptors import (
    DataType,
    Impossible,
    Platform,
    Request,
    Solution,
    Swizzle,
    Use,
    encodes,
    is_encoded,
    solve,
)
from ptxcheck.descriptors.facts import element_bits
from ptxcheck.descriptors.solve import _candidates, divisors, minimal_clash

BYTES = {DataType.UINT8: 1, DataType.FLOAT16: 2, DataType.FLOAT32: 4}
SPAN = {0: 16, 1: 32, 2: 64, 3: 128}
OPERANDS = {DataType.UINT8, DataType.FLOAT16, DataType.FLOAT32}
Cost = tuple[int, int, int]
Table = dict[str, npt.NDArray[np.int64]]


def small_request(rng: random.Random) -> Request:
    rank = rng.choice((1, 2, 2, 3))
    data_type = rng.choice(list(BYTES))
    shape = tuple(rng.choice((3, 8, 12, 16, 20, 33, 64)) for _ in range(rank))
    tile = tuple(
        rng.choice((1, 4, 8, 12, 16, 24, 32, 48, 64, 96, 257, 264) if i < 2 else (1, 2, 3))
        for i in range(rank)
    )
    strides = None
    if rng.random() < 0.4 and rank > 1:
        given = [shape[0] * BYTES[data_type] + rng.randrange(0, 40)]
        given += [given[0] * shape[1] + rng.randrange(0, 40)] * (rank - 2)
        strides = tuple(given)
    swizzle = rng.choice((None, None, Swizzle(rng.randrange(4))))
    use = rng.choice((Use.COPY, Use.COPY, Use.WGMMA))
    return Request(
        data_type=data_type,
        shape=shape,
        tile=tile,
        strides=strides,
        may_pad=rng.random() < 0.5,
        swizzle=swizzle,
        use=use,
    )


def stride_choices(request: Request) -> list[tuple[int, ...]]:
    """Return every choice of strides within 48 bytes of the given ones that keeps them nested."""
    given = request.given_strides
    if not request.may_pad or not given:
        return [given]
    choices: list[tuple[int, ...]] = []
    for first in range(given[0], given[0] + 49):
        if len(given) == 1:
            choices.append((first,))
            continue
        least = max(given[1], first * request.shape[1])
        choices.extend((first, second) for second in range(least, least + 49))
    return choices


def best_by_search(request: Request) -> Cost | None:
    """Return the least (padding, copies, -span) over all boxes, swizzles and strides, or None."""
    size = BYTES[DataType(request.data_type)]
    swizzles = range(4) if request.swizzle is None else [int(request.swizzle)]
    strides = [s for s in stride_choices(request) if legal_strides(request, s)]
    boxes = list(itertools.product(*(divisors(extent) for extent in request.tile)))
    rows = [(box, swizzle) for box in boxes for swizzle in swizzles if usable(request, box, swizzle, size)]
    if not rows or not strides:
        return None
    length = min(tensor_length(request, s, size) for s in strides)
    added = length - tensor_length(request, request.given_strides, size)
    cheapest = min(strides, key=lambda s: tensor_length(request, s, size))
    legal = encodes("tiled", columns(request, rows, cheapest))
    costs = [
        box_cost(request, box, sw, size, added) for (box, sw), good in zip(rows, legal, strict=True) if good
    ]
    return min((cost for cost in costs if cost is not None), default=None)


def legal_strides(request: Request, strides: tuple[int, ...]) -> bool:
    return all(stride % 16 == 0 for stride in strides)


def tensor_length(request: Request, strides: tuple[int, ...], size: int) -> int:
    return max([request.shape[0] * size, *(s * d for s, d in zip(strides, request.shape[1:], strict=True))])


def usable(request: Request, box: tuple[int, ...], swizzle: int, size: int) -> bool:
    if request.use is Use.COPY:
        return True
    return box[0] * size == SPAN[swizzle] and len(box) >= 2 and box[1] % 8 == 0


def box_cost(request: Request, box: tuple[int, ...], swizzle: int, size: int, added: int) -> Cost | None:
    row, rows = box[0] * size, int(np.prod(box[1:]))
    pitch = max(row, SPAN[swizzle]) if swizzle else row
    copies = int(np.prod(request.tile)) // int(np.prod(box))
    unit = max(128, SPAN[swizzle] * 8 if swizzle else 0)
    stage = -(-pitch * rows // unit) * unit * (copies - 1) + pitch * rows
    if stage > 232448:
        return None
    return added + (pitch - row) * rows * copies, copies, -SPAN[swizzle]


def columns(request: Request, rows: list[tuple[tuple[int, ...], int]], strides: tuple[int, ...]) -> Table:
    n, rank = len(rows), len(request.shape)
    ones = np.ones(n, dtype=np.int64)
    table: Table = {name: ones * 0 for name in ("addr_off", "map_off", "interleave", "l2", "oob")}
    table |= {"dtype": ones * request.data_type, "rank": ones * rank}
    table["swizzle"] = np.array([swizzle for _, swizzle in rows], dtype=np.int64)
    for i in range(5):
        table[f"dim{i}"] = ones * (request.shape[i] if i < rank else 1)
        table[f"box{i}"] = np.array([box[i] if i < rank else 1 for box, _ in rows], dtype=np.int64)
        table[f"es{i}"] = ones
        table[f"stride{i}"] = ones * (strides[i] if i < rank - 1 else 0)
    return table


@pytest.mark.parametrize("seed", range(8))
def test_search_finds_nothing_cheaper(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(40):
        request = small_request(rng)
        answer, best = solve(request), best_by_search(request)
        if isinstance(answer, Impossible):
            assert best is None, request
            continue
        assert best is not None, request
        span = SPAN[answer.tensor_map.swizzle]
        assert (answer.global_padding + answer.shared_padding, answer.copies, -span) == best, request


@pytest.mark.parametrize("seed", range(4))
def test_answers_are_legal_and_cover_the_tile(seed: int) -> None:
    rng = random.Random(1000 + seed)
    for _ in range(60):
        request = small_request(rng)
        answer = solve(request)
        if isinstance(answer, Impossible):
            continue
        assert is_encoded(answer.tensor_map, request.platform)
        copies = list(answer.each_copy())
        assert len({copy.start for copy in copies}) == len(copies) == answer.copies
        moved = int(np.prod(answer.tensor_map.box_dim)) * answer.copies
        assert moved == int(np.prod(request.tile))
        assert answer.expect_tx_bytes == moved * element_bits(request.data_type) // 8
        assert all(copy.shared_offset % answer.facts.shared_alignment == 0 for copy in copies)
        assert answer.stage_bytes <= 232448


@pytest.mark.parametrize(
    ("request_", "ids"),
    [
        (
            Request(data_type=DataType.FLOAT16, shape=(4097, 64), tile=(64, 64)),
            ["stride-aligned", "request-no-padding"],
        ),
        (Request(data_type=DataType.UINT8, shape=(512, 64), tile=(257, 8)), ["box-inner-multiple"]),
        (Request(data_type=DataType.FLOAT16, shape=(4096, 64), tile=(4096, 64)), ["request-stage-fits"]),
        (Request(data_type=DataType.INT64, shape=(64, 64), tile=(16, 8), use=Use.WGMMA), ["operand-type"]),
        (Request(data_type=DataType.FLOAT16, shape=(8,) * 6, tile=(8, 1, 1, 1, 1, 1)), ["rank-range"]),
        (
            Request(
                data_type=DataType.FLOAT16, shape=(64, 64), tile=(32, 64), use=Use.WGMMA, swizzle=Swizzle(3)
            ),
            ["request-swizzle", "operand-row"],
        ),
    ],
)
def test_clashes(request_: Request, ids: list[str]) -> None:
    answer = solve(request_)
    assert isinstance(answer, Impossible)
    assert [constraint.id for constraint in answer.clash] == ids


def test_a_clash_is_minimal() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        table = rng.random((40, 12)) < 0.6
        if table.all(axis=1).any():
            continue
        core = minimal_clash(table)
        assert not table[:, core].all(axis=1).any()
        for column in core:
            rest = [other for other in core if other != column]
            assert not rest or table[:, rest].all(axis=1).any()


def test_gemm_tiles() -> None:
    request = Request(data_type=DataType.BFLOAT16, shape=(4096, 8192), tile=(128, 512), use=Use.WGMMA)
    answer = solve(replace(request, tile=(128, 256)))
    assert isinstance(answer, Solution)
    assert (answer.tensor_map.box_dim, answer.tensor_map.swizzle, answer.copies) == ((64, 256), 3, 2)
    tall = solve(replace(request, tile=(64, 512)))
    assert isinstance(tall, Solution)
    assert tall.copies == 2
    padded = solve(replace(request, shape=(4097, 8192), may_pad=True, tile=(64, 64)))
    assert isinstance(padded, Solution)
    assert padded.tensor_map.global_strides == (8208,)
    assert padded.global_padding == 14 * 8192


def test_tcgen05_packed_operand() -> None:
    request = Request(
        data_type=DataType.PACKED_16U4_ALIGN16B,
        shape=(4096, 4096),
        tile=(128, 128),
        use=Use.TCGEN05,
        platform=Platform((10, 0)),
    )
    answer = solve(request)
    assert isinstance(answer, Solution)
    assert answer.tensor_map.swizzle == Swizzle.SWIZZLE_128B


def test_most_requests_have_few_candidates() -> None:
    """Each of them is judged, and an answer is due while somebody types."""
    rng = random.Random(5)
    counts = sorted(len(_candidates(small_request(rng)).boxes) for _ in range(60))
    assert counts[30] < 100


def test_bad_requests() -> None:
    with pytest.raises(ValueError, match="dimensions"):
        Request(data_type=6, shape=(8, 8), tile=(8,))
    with pytest.raises(ValueError, match="below 1"):
        Request(data_type=6, shape=(8, 8), tile=(8, 0))
