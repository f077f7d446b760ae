"""Let one thread, lane, warp or warpgroup execute what too many execute."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ...ir import Guard, Instruction, Register
from ...opcodes.op import Op
from ...parser.show import show_instruction, show_operand
from ..edits import Edit
from ..patch import Patch, Writer, combined
from ..subject import Subject


@dataclass(frozen=True, slots=True)
class Choice:
    """Who stays, and the statements that find out: `{p}` is the predicate, `{t}` a 32-bit register,
    `{response}` that operand of the instruction."""

    who: str
    lines: tuple[str, ...]


_THREAD = Choice("thread 0", ("mov.u32 {t}, %tid.x;", "setp.eq.u32 {p}, {t}, 0;"))
_LANE = Choice("lane 0 of each warp", ("mov.u32 {t}, %laneid;", "setp.eq.u32 {p}, {t}, 0;"))
_ELECTED = Choice("one elected lane", ("elect.sync {t}|{p}, -1;",))
_WARP = Choice("warp 0", ("mov.u32 {t}, %tid.x;", "setp.lt.u32 {p}, {t}, 32;"))
_WARPGROUP = Choice("warpgroup 0", ("mov.u32 {t}, %tid.x;", "setp.lt.u32 {p}, {t}, 128;"))
_CANCELED = Choice(
    "who got a cluster", ("clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 {p}, {response};",)
)

_CHOICES: tuple[tuple[frozenset[str], tuple[Choice, ...]], ...] = (
    (frozenset({"MB007", "MB026"}), (_THREAD,)),
    (frozenset({"MB005", "MB015", "TX001", "TX002"}), (_LANE, _THREAD)),
    (frozenset({"MB020", "MB021", "MB022", "MB024"}), (_LANE, _THREAD)),
    (frozenset({"TM011"}), (_ELECTED, _LANE, _THREAD)),
    (frozenset({"TM007", "TM017", "TM030"}), (_WARP,)),
    (frozenset({"WG004"}), (_WARPGROUP,)),
    (frozenset({"CL008"}), (_CANCELED,)),
)
"""Rules, and who may execute the instruction instead, the likeliest first."""
_ONE_LANE = frozenset(
    {
        Op.MBARRIER_INIT, Op.MBARRIER_ARRIVE, Op.MBARRIER_EXPECT_TX, Op.CP_ASYNC_BULK, Op.CP_ASYNC_BULK_TENSOR,
        Op.TCGEN05_MMA, Op.TCGEN05_COMMIT,
    }
)  # fmt: skip
"""What one lane may execute for others; the rest is for whole warps."""


def guard_statement(subject: Subject) -> Iterator[Patch]:
    """Yield guards of the instruction of a finding alone, and of all of its kind that have the same guard."""
    if subject.point < 0:
        return
    instructions = subject.view.body.instructions
    own = instructions[subject.point]
    for rules, choices in _CHOICES:
        if subject.finding.rule not in rules:
            continue
        for rank, choice in enumerate(choices):
            if choice in (_THREAD, _LANE, _ELECTED) and own.operation.op not in _ONE_LANE:
                continue
            same_operation = [
                p
                for p, i in enumerate(instructions)
                if i.operation.op is own.operation.op and i.guard == own.guard
            ]
            groups = (tuple(same_operation), (subject.point,), _together(subject, own))
            for more, points in enumerate(dict.fromkeys(groups)):
                edits = [guarded(subject, point, choice) for point in points]
                count = f" ({len(points)} times)" if len(points) > 1 else ""
                summary = f"'{own.operation.text}' by {choice.who} only{count}"
                yield combined("guard", summary, 3 + rank + more, edits)


def _together(subject: Subject, own: Instruction) -> tuple[int, ...]:
    """Return what one lane may execute for others, in the block of the finding, under the guard of its instruction."""
    cfg, instructions = subject.view.cfg, subject.view.body.instructions
    block = cfg.blocks[cfg.graph.block_of[subject.point]]
    found = (p for p in block.points if instructions[p].guard == own.guard)
    return tuple(
        p
        for p in found
        if p == subject.point or instructions[p].operation.op in _ONE_LANE - {Op.MBARRIER_INIT}
    )


def guarded(subject: Subject, point: int, choice: Choice) -> Edit:
    """Return an instruction that only those execute who are chosen, of those who execute it."""
    instruction = subject.view.body.instructions[point]
    names = {"p": f"%ptxcheck_one{point}", "t": f"%ptxcheck_who{point}"}
    lines = [f".reg .pred {names['p']};", f".reg .b32 {names['t']};"]
    response = instruction.get("response")
    names["response"] = "" if response is None else show_operand(response)
    lines += [line.format(**names) for line in choice.lines]
    guard = instruction.guard
    if guard is not None and guard.negated:
        other = f"%ptxcheck_not{point}"
        lines += [f".reg .pred {other};", f"not.pred {other}, {guard.register.name};"]
        lines.append(f"and.pred {names['p']}, {names['p']}, {other};")
    elif guard is not None:
        lines.append(f"and.pred {names['p']}, {names['p']}, {guard.register.name};")
    statement = show_instruction(replace(instruction, guard=Guard(Register(names["p"]), False)))
    return Writer(subject.view).within(point, lines, statement)
