"""Actions as sentences."""

from __future__ import annotations

from ..protocols.model.actions import (
    TENSOR_CORE,
    TENSOR_LOADS,
    TENSOR_STORES,
    Access,
    Action,
    Amount,
    Arrive,
    AsyncArrive,
    Commit,
    Expect,
    Fence,
    Init,
    Inval,
    Registers,
    Rendezvous,
    Span,
    TensorAccess,
    TensorFence,
    TensorWait,
    Transfer,
    Wait,
    WaitGroup,
)
from .barrier_names import BarrierNames


def wording(action: Action, phase: int | None, names: BarrierNames) -> str:
    """Return what an action does. `phase` is the one that it counts in or sees; None when that is not known."""
    text = _of_mbarrier(action, phase, names) or _of_pipeline(action, names)
    return names.say(text or _of_memory(action, names))


def _of_mbarrier(action: Action, phase: int | None, names: BarrierNames) -> str:
    match action:
        case Init():
            return f"initialises {names.of(action.barrier)} for {_many(action.count, 'arrival')}"
        case Inval():
            return f"invalidates {names.of(action.barrier)}"
        case Arrive():
            expects = f", expecting {amount(action.expect)} bytes" if action.expect != 0 else ""
            count = "" if action.count == 1 else f" ×{action.count}"
            drops = " for good" if action.drop else ""
            return f"arrives at {names.of(action.barrier)}{count}{drops}{expects}{_in_phase(phase)}"
        case Expect():
            return f"expects {amount(action.amount)} more bytes on {names.of(action.barrier)}"
        case AsyncArrive():
            count = "" if action.count == 1 else f" ×{action.count}"
            return f"has earlier work arrive at {names.of(action.barrier)}{count} when done{_in_phase(phase)}"
        case Wait():
            return _wait(action, phase, names)
        case _:
            return ""


def _of_pipeline(action: Action, names: BarrierNames) -> str:
    match action:
        case Transfer():
            return _transfer(action, names)
        case Commit():
            return f"closes a group of {action.pipeline}"
        case WaitGroup():
            until = "have read their sources" if action.read else "are done"
            return f"waits until all but {_many(action.pending, 'group')} of {action.pipeline} {until}"
        case Rendezvous():
            return _rendezvous(action, names)
        case _:
            return ""


def _of_memory(action: Action, names: BarrierNames) -> str:
    match action:
        case Access():
            return _touches("", action.reads, action.writes, names)
        case Fence(tensor=TensorFence() as fence):
            return f"tcgen05.fence::{fence.value}"
        case Fence():
            kinds = {"proxies": action.proxy, "initialisations": action.inits, "memory": True}
            return f"fence of {next(kind for kind, has in kinds.items() if has)}"
        case TensorAccess():
            return _tensor_access(action)
        case TensorWait():
            what = "loads" if action.pipeline == TENSOR_LOADS else "stores"
            return f"has its {what} of tensor memory behind it"
        case Registers():
            return f"{'raises' if action.increases else 'lowers'} its registers to {action.count}"
        case _:
            return ""


_TENSOR_WORK = {
    TENSOR_CORE: "starts work on", TENSOR_LOADS: "starts a load of", TENSOR_STORES: "starts a store to", "": "frees",
}  # fmt: skip


def _tensor_access(action: TensorAccess) -> str:
    """Return what is done to which columns: of a multiplication those of D."""
    if action.allocates:
        return "allocates tensor memory"
    known = [each for each in (*action.writes, *action.reads) if each.start >= 0]
    if not known:
        return f"{_TENSOR_WORK[action.pipeline]} tensor memory"
    first = known[0]
    end = f" to {first.start + first.size - 1}" if first.size > 1 else ""
    word = "columns" if end else "column"
    return f"{_TENSOR_WORK[action.pipeline]} {word} {first.start}{end} of tensor memory"


def _rendezvous(action: Rendezvous, names: BarrierNames) -> str:
    if action.waits:
        what = "meets at" if action.arrives else "waits at"
    else:
        what = "arrives at"
    return f"{what} {names.of(action.name)} ({_many(action.needed, 'thread')})"


def _transfer(action: Transfer, names: BarrierNames) -> str:
    if action.completes:
        return f"starts a copy{_completions(action, names)}"
    return _touches(
        f"starts {action.pipeline or 'asynchronous'} work that ", action.reads, action.writes, names
    )


def _touches(lead: str, reads: tuple[Span, ...], writes: tuple[Span, ...], names: BarrierNames) -> str:
    parts = [f"reads {names.of(span)}" for span in reads[:1]]
    parts += [f"writes {names.of(span)}" for span in writes[:1]]
    return lead + (" and ".join(parts) if parts else "touches no shared memory")


def amount(value: Amount) -> str:
    """Return a number or formula of bytes."""
    return str(value)


def _wait(action: Wait, phase: int | None, names: BarrierNames) -> str:
    how = "for its own arrival" if action.parity is None else f"with parity {action.parity}"
    text = f"waits on {names.of(action.barrier)} {how}"
    if phase is None:
        return text
    if phase < 0:
        return f"{text}: passes, as the phase before the first"
    return f"{text}: sees phase {phase} complete"


def _completions(action: Transfer, names: BarrierNames) -> str:
    if not action.completes:
        return ""
    (barrier, bytes_), *others = action.completes
    text = f" of {amount(bytes_)} bytes onto {names.of(barrier)}"
    return f"{text} and {len(others)} more" if others else text


def _in_phase(phase: int | None) -> str:
    return "" if phase is None or phase < 0 else f" in phase {phase}"


def _many(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
