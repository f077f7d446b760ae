"""Runs of whole blocks: what instructions compute, what lanes exchange, and which contents of memory show a race."""

from __future__ import annotations

import random

import numpy as np
import pytest

from ptxcheck.ir import Immediate, Operand, Register
from ptxcheck.launches.hints import from_directives
from ptxcheck.parser import parse_module
from ptxcheck.protocols.races.accesses import accesses_of
from ptxcheck.protocols.races.block_atomics import changed
from ptxcheck.protocols.races.block_run import BlockRun
from ptxcheck.protocols.races.block_steps import Steps
from ptxcheck.protocols.races.lane_integers import Lanes, integer_meaning
from ptxcheck.protocols.races.made_up_data import Data, Ranks
from ptxcheck.protocols.races.semantics import Call, computed
from ptxcheck.source import Source
from ptxcheck.terms.bit_pool import Pool
from ptxcheck.terms.bitvectors import Bits
from ptxcheck.verdict import VerdictKind
from ptxcheck.view import KernelView

from .test_judgement import races

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
_OPERATIONS = (
    "add.s32", "sub.s32", "mul.lo.s32", "mul.hi.s32", "mul.hi.u32", "and.b32", "or.b32", "xor.b32", "shl.b32",
    "shr.u32", "shr.s32", "min.s32", "max.s32", "min.u32", "max.u32", "bmsk.clamp.b32", "bmsk.wrap.b32", "add.s16",
)  # fmt: skip
_OTHERS = (
    "not.b32 %d, %a;", "neg.s32 %d, %a;", "abs.s32 %d, %a;", "mad.lo.s32 %d, %a, %b, %a;", "cvt.s32.s8 %d, %a;",
    "cvt.u32.u16 %d, %a;", "bfe.u32 %d, %a, 5, 9;", "bfe.s32 %d, %a, 5, 9;", "bfi.b32 %d, %a, %b, 3, 11;",
    "prmt.b32 %d, %a, %b, 0x9A3F;", "lop3.b32 %d, %a, %b, %a, 0x6C;", "shf.l.wrap.b32 %d, %a, %b, 7;",
    "shf.r.clamp.b32 %d, %a, %b, 40;", "div.u32 %d, %a, 7;", "rem.u32 %d, %a, 7;", "div.s32 %d, %a, -7;",
    "rem.s32 %d, %a, 7;", "mul.wide.s32 %e, %a, %b;", "mad.wide.u32 %e, %a, %b, %e;",
)  # fmt: skip


def _instruction(text: str):  # type: ignore[no-untyped-def]
    head = f"{HEAD}.visible .entry k() {{ .reg .b32 %d, %a, %b; .reg .b64 %e; "
    body = parse_module(Source("k.ptx", f"{head} {text} ret; }}")).entries[0].body
    assert body is not None
    assert not body.problems
    return body.instructions[0]


@pytest.mark.parametrize("text", [*(f"{each} %d, %a, %b;" for each in _OPERATIONS), *_OTHERS])
def test_lanes_compute_what_terms_say(text: str) -> None:
    instruction, chosen = _instruction(text), random.Random(text)
    some = (0, 1, 5, 31, 32, 33, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x80FF017F)
    rows = [
        {name: chosen.choice((*some, chosen.randrange(1 << 32))) for name in ("%a", "%b", "%e")}
        for _ in range(60)
    ]
    meaning = integer_meaning(instruction)
    assert meaning is not None
    sources = []
    for operand, width in zip(instruction.operands[1:], meaning.widths, strict=True):
        numbers = [operand.value if isinstance(operand, Immediate) else row[operand.name] for row in rows]
        sources.append(np.array([each & (1 << width) - 1 for each in numbers], np.uint64))
    found = np.asarray(meaning.function(*sources)).tolist()
    for row, number in zip(rows, found, strict=True):
        pool = Pool()

        def read(operand: Operand, width: int, row: dict[str, int] = row, pool: Pool = pool) -> Bits:
            if isinstance(operand, Immediate):
                return pool.number(operand.value, width)
            assert isinstance(operand, Register)
            return pool.number(row[operand.name], width)

        term = computed(Call(pool, instruction, 0, read))
        assert term is not None
        assert term.constant == number, row


def _run(body: str, contents: int = 0) -> BlockRun:
    text = f"{HEAD}.visible .entry k(.param .u64 p) .reqntid 64 {{ .reg .pred %q<4>; .reg .b32 %r<20>; "
    text += f".shared .align 16 .b8 a[1024]; mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 2; mov.u32 %r2, a; {body} ret; }}"
    module = parse_module(Source("k.ptx", text))
    (function,) = module.entries
    view = KernelView(module, function, from_directives(function), verify_seconds=10.0)
    accesses = {access.point: access for access in view.get(accesses_of).known}
    steps = Steps(view.facts, module, function, accesses)
    return BlockRun(steps, (64, 1, 1), {"p": 1 << 32}, lambda places: places * 0 + contents)


def _left_in_shared(body: str) -> list[int]:
    run = _run(f"{body} add.u32 %r2, %r2, %r1; st.shared.u32 [%r2], %r9;")
    last = [touches for touches in run.intervals()][-1][-1]
    assert run.is_complete
    assert last.values is not None
    return [int(each) for each in last.values]


def test_lanes_exchange() -> None:
    assert _left_in_shared("shfl.sync.down.b32 %r9, %r0, 1, 31, -1;")[:32] == [*range(1, 32), 31]
    assert _left_in_shared("shfl.sync.up.b32 %r9, %r0, 2, 0, -1;")[32:] == [32, 33, *range(32, 62)]
    assert _left_in_shared("shfl.sync.bfly.b32 %r9, %r0, 3, 31, -1;") == [each ^ 3 for each in range(64)]
    assert _left_in_shared("shfl.sync.idx.b32 %r9, %r0, 5, 0x1807, -1;")[:16] == [5] * 8 + [13] * 8
    odd = "and.b32 %r3, %r0, 1; setp.eq.u32 %q0, %r3, 1; "
    assert _left_in_shared(odd + "vote.sync.ballot.b32 %r9, %q0, -1;") == [0xAAAAAAAA] * 64
    assert _left_in_shared(odd + "match.any.sync.b32 %r9, %r3, -1;")[:2] == [0x55555555, 0xAAAAAAAA]
    assert _left_in_shared("redux.sync.add.s32 %r9, %r0, -1;") == [496] * 32 + [1520] * 32


def test_lanes_wait_for_those_that_come_later() -> None:
    """Lanes that take a longer way meet the others at the shuffle; the loop has different rounds in each."""
    body = "mov.u32 %r9, 0; L: setp.ge.u32 %q0, %r9, %r0; @%q0 bra D; add.u32 %r9, %r9, 1; bra L; D: "
    assert _left_in_shared(body + "shfl.sync.idx.b32 %r9, %r9, 31, 31, -1;") == [31] * 32 + [63] * 32


def test_atomics_of_lanes_follow_each_other() -> None:
    body = "atom.shared.add.u32 %r9, [a+512], 3; "
    assert sorted(_left_in_shared(body)) == [3 * each for each in range(64)]


def test_contents_keep_their_conditions() -> None:
    places = np.array([4096, 4097, 4099, 9000], np.uint64)
    ranks = Ranks([places], 4)

    def numbers(data: Data, bound: int) -> list[int]:
        contents = ranks.contents(data, bound)
        assert contents is not None
        return [int(each) for each in contents(places)]

    assert numbers(Data.RISING, 100) == [0, 1, 2, 3]
    assert numbers(Data.FALLING, 100) == [3, 2, 1, 0]
    assert numbers(Data.RISING, 2) == [0, 0, 1, 1]
    assert numbers(Data.SPREAD, 100) == [1, 3, 5, 7]
    assert ranks.contents(Data.SPREAD, 5) is None
    assert {*numbers(Data.BITS, 100)} <= {0, 1}


READ = "ld.param.u64 %rd1, [p]; cvt.u64.u32 %rd2, %r1; add.u64 %rd3, %rd1, %rd2; ld.global.u32 %r5, [%rd3]; "
PLACE = "and.b32 %r5, %r5, 127; shl.b32 %r6, %r5, 2; add.u32 %r6, %r6, %r20; "


def test_a_race_that_no_data_avoid_is_found() -> None:
    table = "st.shared.u32 [%r2], %r0; {} " + READ + PLACE + "ld.shared.u32 %r7, [%r6];"
    assert races(table.format("")) is VerdictKind.VIOLATED
    assert races(table.format("bar.sync 0;")) is VerdictKind.PROVED


@pytest.mark.parametrize(
    "body",
    [
        PLACE + "st.shared.u32 [%r6], %r0;",
        "and.b32 %r5, %r5, 508; add.u32 %r6, %r5, %r20; st.shared.u32 [%r6], %r0;",
        "shr.u32 %r5, %r5, 3; " + PLACE + "st.shared.u32 [%r6], %r0;",
        "setp.eq.u32 %p1, %r5, 1; @%p1 st.shared.u32 [%r20], %r0;",
        "setp.ne.u32 %p1, %r5, 0; @%p1 bra E; st.shared.u32 [%r20], %r0; E: ",
    ],
    ids=["permutation", "offsets", "upper bits", "one flag", "one zero"],
)
def test_what_a_host_may_promise_makes_no_finding(body: str) -> None:
    assert races(READ + body) in (VerdictKind.UNKNOWN, VerdictKind.ASSUMES)


class _Words:
    """Memory of words that are numbers."""

    def __init__(self) -> None:
        self.words = {4 * place: 3 * place for place in range(8)}

    def load(self, offsets: Lanes, size: int) -> Lanes | None:
        return np.array([self.words[each] for each in offsets.tolist()], np.uint64)

    def store(self, offsets: Lanes, size: int, values: Lanes | None) -> None:
        assert values is not None
        self.words.update(zip(offsets.tolist(), values.tolist(), strict=True))


@pytest.mark.parametrize(
    "name", ["add.u32", "exch.b32", "cas.b32", "inc.u32", "dec.u32", "min.s32", "max.u32"]
)
def test_lanes_of_an_atomic_operation_come_one_after_the_other(name: str) -> None:
    given = ", %b, %a" if name == "cas.b32" else ", %b"
    instruction = _instruction(f"atom.shared.{name} %d, [%a]{given};")
    chosen = random.Random(name)
    places = np.array([4 * chosen.randrange(8) for _ in range(64)], np.uint64)
    sources = [np.array([chosen.randrange(24) for _ in places], np.uint64) for _ in range(len(given) // 4)]
    together, alone = _Words(), _Words()
    old = changed(instruction, together, places, 4, sources)
    one_by_one = [
        changed(instruction, alone, places[lane : lane + 1], 4, [each[lane : lane + 1] for each in sources])
        for lane in range(len(places))
    ]
    assert old is not None
    assert old.tolist() == [int(each[0]) for each in one_by_one if each is not None]
    assert together.words == alone.words != _Words().words


def test_words_of_a_lock_are_no_finding() -> None:
    lock = "W: atom.shared.cas.b32 %r5, [b], 0, 1; setp.ne.u32 %p1, %r5, 0; @%p1 bra W; "
    body = (
        lock
        + READ
        + PLACE
        + "ld.shared.u32 %r7, [%r6]; st.shared.u32 [%r6], %r0; atom.shared.exch.b32 %r8, [b], 0;"
    )
    assert races(body) is VerdictKind.UNKNOWN
