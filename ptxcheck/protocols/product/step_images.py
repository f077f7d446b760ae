"""What two steps of one strand have in common, and which barriers and accesses of one are which of the other.

Property: where `image_of` returns an image, the two steps do the same, but for the mbarriers, the parity and the memory
that the image names.

Argument: a step says of an action all that performing it asks for (`operations`). Each field is compared, or stands in
the image.

Not covered: which landmarks and cells correspond: that follows from the accesses, and is checked by `ring_turns`.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import TypeAlias

from ..model.actions import Access, Transfer
from .operations import (
    AccessStep,
    ArriveStep,
    Count,
    ExpectStep,
    InitStep,
    InvalStep,
    Kind,
    LaterStep,
    Step,
    TensorKind,
    TensorStep,
    TransferStep,
    WaitStep,
)

Touch: TypeAlias = Kind | TensorKind


@dataclass(frozen=True, slots=True)
class Image:
    """What one step names, and what another one names in its place."""

    barriers: tuple[tuple[int, int], ...] = ()
    flips: tuple[tuple[int, int], ...] = ()
    """For an mbarrier that is waited for: 1 if the other step waits for the other parity, else 0."""
    touches: tuple[tuple[Touch, Touch], ...] = ()
    objects: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    """Mbarriers with bytes among those that the steps touch, in no order."""


SAME = Image()


@dataclass(frozen=True, slots=True)
class Named:
    """A step, taken apart: what has to be equal of two steps, and what they name."""

    step: Step
    text: Hashable
    """None for one that names nothing that a turn moves, or that is followed no further: it is only like itself."""
    barriers: tuple[int, ...] = ()
    parity: int | None = None
    touches: tuple[Touch, ...] = ()
    texts: tuple[Hashable, ...] = ()
    """What has to be equal of accesses, for each."""
    objects: tuple[int, ...] = ()


def image_of(one: Named, other: Named, *, at_one_place: bool = True) -> Image | None:
    """Return what a step and another one of its strand name; None where they do not do the same.

    Unless they are `at_one_place`, the two may be at different points of the program.
    """
    if one.text is None or other.text is None:
        return SAME if one.step is other.step else None
    if one.text != other.text or one.texts != other.texts:
        return None
    if at_one_place and one.step.point != other.step.point:
        return None
    flips: tuple[tuple[int, int], ...] = ()
    if one.parity is not None and other.parity is not None:
        flips = ((one.barriers[0], one.parity ^ other.parity),)
    return Image(
        tuple(zip(one.barriers, other.barriers, strict=True)), flips,
        tuple(zip(one.touches, other.touches, strict=True)), (one.objects, other.objects),
    )  # fmt: skip


def named(step: Step) -> Named:
    """Take a step apart."""

    def of(
        text: Hashable,
        barriers: tuple[int, ...] = (),
        parity: int | None = None,
        touches: tuple[Touch, ...] = (),
        objects: tuple[int, ...] = (),
    ) -> Named:
        return Named(step, text, barriers, parity, touches, tuple(map(_text, touches)), objects)

    match step:
        case InitStep():
            return of(("init", step.count), (step.barrier,), touches=(step.kind,))
        case InvalStep():
            return of(("inval",), (step.barrier,), touches=(step.kind,))
        case ArriveStep():
            flags = (
                step.token,
                step.count,
                step.drop,
                step.releases,
                step.completes,
                step.is_wide,
                step.narrows,
            )
            return of(("arrive", flags, _text_of(step.what)), (step.what.barrier,))
        case ExpectStep():
            return of(("expect", _text_of(step.what)), (step.what.barrier,))
        case LaterStep():
            later = step.count, step.increments, step.pipeline, step.commits, bool(step.finished)
            return of(("later", later, _text_of(step.what)), (step.what.barrier,))
        case WaitStep():
            how = "wait", step.token, step.acquires, step.wide, step.parity is None
            return of(how, (step.barrier,), step.parity)
        case TransferStep():
            counts = tuple(map(_text_of, step.completes))
            text = "transfer", step.pipeline, step.multiplies, bool(step.asks), counts
            barriers = tuple(each.barrier for each in step.completes)
            return of(text, barriers, touches=step.kinds, objects=step.objects)
        case AccessStep():
            return of(("access", step.refused, step.collides), touches=step.kinds, objects=step.objects)
        case TensorStep():
            made = step.allocates, step.frees, step.freed
            return of(("tensor", step.pipeline, step.fault, made), touches=step.kinds)
        case _:
            return Named(step, None)


def _text_of(what: Count) -> Hashable:
    return what.amount, what.far


def _text(touch: Touch) -> Hashable:
    """Return what has to be equal of two accesses."""
    if isinstance(touch, TensorKind):
        issued = bool(touch.issued)
        return touch.strand, touch.warp, touch.pipeline, touch.writes, touch.makes, touch.frees, issued
    return (
        touch.strand, touch.cta, touch.writes, touch.combines, touch.is_asynchronous, touch.through_async_proxy,
        touch.reaches, touch.reaches_own, _text_of_action(touch),
    )  # fmt: skip


def _text_of_action(kind: Kind) -> Hashable:
    match kind.action:
        case Access() as action:
            return replace(action, point=0, reads=(), writes=())
        case Transfer() as action:
            return replace(action, point=0, completes=(), reads=(), writes=(), copied=())
        case action:
            return type(action).__name__


__all__ = ["Image", "Named", "Touch", "image_of", "named"]
