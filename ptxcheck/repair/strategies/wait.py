"""Wait for a phase that nobody waits for: the address and the parity are values that the kernel computes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from ...ir import Address, Register, Symbol
from ...opcodes.op import Op
from ...protocols.model.actions import (
    Action,
    Barrier,
    Init,
    Wait,
)
from ...protocols.symex.slice.layout import layout_of
from ...protocols.symex.slice.polling import POLLS
from ..patch import Patch, Writer, combined
from ..sites import (
    nearest,
    points_of,
    sites_of,
    steps_of,
    toggled,
    unread,
    ways_out,
)
from ..slices import idle
from ..subject import Subject

_RULES = ("SM02", "MB02", "TX", "CL", "MB015", "TM03", "TM04")
_MOST = 48
_WIDE = ".acquire.cluster"
_RELEASES = ".release.cluster"
_ADDRESSES = 4
_STEPS = 3
_OF_ENDS = "CL02"
_BITS = frozenset({Op.XOR, Op.AND, Op.NOT, Op.SELP})
_COPIES = frozenset({Op.CP_ASYNC_BULK, Op.CP_ASYNC_BULK_TENSOR})


def insert_wait(subject: Subject) -> Iterator[Patch]:
    """Yield the most likely waits."""
    yield from sorted(_waits(subject), key=lambda patch: patch.cost)[:_MOST]


def _waits(subject: Subject) -> Iterator[Patch]:
    """Yield waits: where an address is computed that nothing uses, and where the finding says that one is missing."""
    if not subject.finding.rule.startswith(_RULES):
        return
    parities, places = _parities(subject), _places(subject)
    names = dict.fromkeys(
        (*_unawaited(subject), *(name for name, distance in _known(subject) if not distance))
    )
    for far, (point, parity) in enumerate(_lost_bits(subject)):
        for cost, where in enumerate(names):
            yield _patch(subject, point, where, parity, 3 + far + cost, behind=True)
    yield from _for_unawaited(subject, places, parities)
    for cost, (point, address) in enumerate(_lost(subject)):
        likely = dict.fromkeys((*_flipped_near(subject, point), *_bits_near(subject, point)))
        for more, parity in enumerate(dict.fromkeys((*likely, *parities))):
            place = max(point, _made(subject, parity, point))
            least = 3 if parity in likely else 4
            yield _patch(subject, place, address, parity, least + cost + more, behind=True)
    for cost, (address, distance) in enumerate(_known(subject)):
        where = f"{address}+{distance}" if distance else address
        for far, point in enumerate(places):
            for more, parity in enumerate(parities):
                yield _patch(subject, point, where, parity, 6 + cost + more + far, behind=False)


def _places(subject: Subject) -> list[int]:
    """Return the places of the finding, in front of ways out where it is about the end, and the last steps before."""
    places = [p for p in dict.fromkeys((subject.point, *subject.related)) if p >= 0]
    if subject.finding.rule.startswith(_OF_ENDS):
        places = [*ways_out(subject.view), *places]
    return places + [p for p in _steps_before(subject, places) if p not in places]


def _for_unawaited(subject: Subject, places: list[int], parities: list[str]) -> Iterator[Patch]:
    """Yield waits for mbarriers that nobody waits for: with idle bits, those of waits near, for the first phase."""
    idle_bits = sorted({register.name for register in _idle_bits(subject)})
    near = {point: _bits_near(subject, point) for point in places}
    for cost, where in enumerate(_unawaited(subject)):
        for far, point in enumerate(places):
            likely = dict.fromkeys((*idle_bits, *near[point], "0"))
            for more, parity in enumerate(dict.fromkeys((*likely, *parities))):
                least = 3 if parity in likely else 4
                yield _patch(subject, point, where, parity, least + cost + more + far, behind=False)


def _bits_near(subject: Subject, point: int) -> list[str]:
    """Return the registers with which waits name a phase and that are set at a point, the nearest wait first."""
    instructions = subject.view.body.instructions
    waits = nearest(points_of(subject.view, *POLLS), (point,))
    registers = dict.fromkeys(instructions[each].get("parity") for each in waits)
    return [
        register.name
        for register in registers
        if isinstance(register, Register) and subject.view.facts.definitions(point, register)
    ]


def _flipped_near(subject: Subject, point: int) -> list[str]:
    """Return the bits that the block of a point has flipped there, and those it flips later, the nearest first."""
    block, instructions = subject.view.cfg.graph.block_of, subject.view.body.instructions
    flips = [p for p in points_of(subject.view, Op.XOR) if block[p] == block[point]]
    registers = (
        register
        for flip in nearest(tuple(flips), (point,))
        for register in (instructions[flip].writes() if flip < point else instructions[flip].operands[1:2])
        if isinstance(register, Register)
    )
    return list(dict.fromkeys(register.name for register in registers))[:_STEPS]


def _steps_before(subject: Subject, places: list[int]) -> list[int]:
    """Return the last steps in front of each place: what is waited for has to be seen by the fences between."""
    steps = steps_of(subject.view)
    found = [s.first for place in places for s in [s for s in steps if s.last < place][: -_STEPS - 1 : -1]]
    return list(dict.fromkeys(found))


def _patch(subject: Subject, point: int, address: str, parity: str, cost: int, *, behind: bool) -> Patch:
    done, again = f"ptxcheck_done{point}", f"PTXCHECK_AGAIN{point}"
    lines = (
        "{",
        f".reg .pred {done};",
        f"{again}:",
        f"{_head(subject)} {done}, [{address}], {parity};",
        f"@!{done} bra {again};",
        "}",
    )
    writer = Writer(subject.view)
    edit = writer.after_step(point, *lines) if behind else writer.before_step(point, *lines)
    return combined("wait", f"wait for parity {parity} at [{address}]", cost, [edit])


def _head(subject: Subject) -> str:
    """Return the opcode of a wait: one that acquires from the cluster where CTAs arrive at each other's mbarriers."""
    cluster = subject.view.launch.cluster_size
    operations = [each.operation for each in subject.view.body.instructions]
    if cluster is None or cluster > 1:
        for operation in operations:
            if operation.op is Op.MBARRIER_TRY_WAIT and _WIDE in operation.text:
                return operation.text
        if any(each.op is Op.MBARRIER_ARRIVE and _RELEASES in each.text for each in operations):
            return "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64"
    return "mbarrier.try_wait.parity.shared::cta.b64"


def _unawaited(subject: Subject) -> list[str]:
    """Return the mbarriers that no thread waits for, then those waited for less often than others of their variable.

    The names are those of variables, with a distance.
    """
    starts = layout_of(subject.view.function, subject.view.module).shared
    waits = Counter({a.barrier.offset: 0 for a in _actions(subject) if isinstance(a, Init)})
    waits.update(a.barrier.offset for a in _actions(subject) if isinstance(a, Wait))
    rings: dict[tuple[int, str], list[int]] = defaultdict(list)
    for offset in sorted(waits):
        before = [(start, name) for (name, _), start in starts.items() if start <= offset]
        if before:
            rings[max(before)].append(offset)
    lost = [
        (waits[offset], f"{name}+{offset - start}" if offset > start else name)
        for (start, name), ring in sorted(rings.items())
        for offset in ring
        if not waits[offset] or waits[offset] < max(waits[each] for each in ring)
    ]
    return [name for _, name in sorted(lost, key=lambda each: each[0])]


def _actions(subject: Subject) -> Iterator[Action]:
    for violation in subject.violations[:1]:
        for strand in violation.run.protocol.strands:
            yield from strand.actions


def _parities(subject: Subject) -> list[str]:
    """Return bits that are computed and not used, those that loops flip, then those that other waits take."""
    instructions = subject.view.body.instructions
    found = [name for _, name in _lost_bits(subject)]
    found += [register.name for register in _idle_bits(subject)]
    found += [register.name for register in toggled(subject.view)]
    for instruction in instructions:
        parity = instruction.get("parity") if instruction.operation.op in POLLS else None
        if isinstance(parity, Register):
            found.append(parity.name)
    return [*dict.fromkeys(found), "0", "1"]


def _idle_bits(subject: Subject) -> list[Register]:
    """Return bits that a loop flips and that nothing else uses there."""
    flipped = set(toggled(subject.view))
    return list(dict.fromkeys(register for _, register in idle(subject.view) if register in flipped))


def _lost_bits(subject: Subject) -> list[tuple[int, str]]:
    """Return bits that are computed and not used, with the points that compute them, the nearest first."""
    instructions = subject.view.body.instructions
    lost = {p: r.name for p, r in unread(subject.view) if instructions[p].operation.op in _BITS}
    return [(point, lost[point]) for point in nearest(tuple(lost), subject.around)[:2]]


def _made(subject: Subject, parity: str, point: int) -> int:
    """Return where a parity that nothing reads is computed, -1 where it is not behind a point in its block."""
    block = subject.view.cfg.graph.block_of
    return max(
        (p for p, r in unread(subject.view) if r.name == parity and block[p] == block[point]), default=-1
    )


def _lost(subject: Subject) -> list[tuple[int, str]]:
    """Return computed values that nothing reads, the nearest to the finding first."""
    found = {point: register.name for point, register in unread(subject.view) if _is_address(subject, point)}
    return [(point, found[point]) for point in nearest(tuple(found), subject.around)][:_ADDRESSES]


def _is_address(subject: Subject, point: int) -> bool:
    return subject.view.body.instructions[point].operation.op in (Op.ADD, Op.MOV, Op.MAD)


def _known(subject: Subject) -> list[tuple[str, int]]:
    """Return addresses of mbarriers, with the distances to the mbarriers that the kernel initialises."""
    instructions = subject.view.body.instructions
    bases = []
    for point in nearest(sites_of(subject.view), subject.around):
        for name in ("addr", "mbar"):
            address = instructions[point].get(name)
            if isinstance(address, Address) and isinstance(address.base, Register | Symbol):
                bases.append((address.base.name, address.offset))
    bases = list(dict.fromkeys(bases))[:_ADDRESSES]
    return [
        *bases,
        *((name, offset + change) for name, offset in bases[:2] for change in _distances(subject) if change),
    ]


def _distances(subject: Subject) -> list[int]:
    """Return distances between rings of barriers: from those that are waited for to the first ones of others."""
    strands = [s for v in subject.violations[:1] for s in v.run.protocol.strands]
    inits: list[Barrier] = sorted({a.barrier for s in strands for a in s.actions if isinstance(a, Init)})
    waited = {a.barrier for s in strands for a in s.actions if isinstance(a, Wait)}
    first = [b.offset for b in inits if b.cta == 0]
    return sorted(
        {o - b.offset for o in first for b in waited if b.cta == 0 and o != b.offset},
        key=lambda d: (abs(d), d),
    )[:_ADDRESSES]
