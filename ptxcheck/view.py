"""`KernelView`: one kernel, and a cache of what analyses found in it. Rules read views; nothing is invalidated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, cast

from .cfg import analyse, build
from .cfg.cfg import Cfg
from .cfg.facts import Facts
from .cfg.local_words import with_words_in_registers
from .ir import Body, Function, Module
from .launch import Launch

if TYPE_CHECKING:
    from .descriptors.tensor_map import TensorMap

Result = TypeVar("Result")


@dataclass(frozen=True)
class KernelView:
    """A function with a body, the module it is in, and the launch that verdicts are for."""

    module: Module
    function: Function
    launch: Launch
    tensor_maps: tuple[tuple[str, TensorMap], ...] = field(default=(), kw_only=True)
    """Tensor maps that the host passes, by kernel parameter, as far as the user describes them."""
    for_every_count: bool = field(default=True, kw_only=True)
    """Whole-kernel verification asks the product of role automata first."""
    verify_seconds: float | None = None
    """Time for whole-kernel verification; None turns it off."""
    _found: dict[Callable[[Any], object], object] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def get(self, analysis: Callable[[KernelView], Result]) -> Result:
        """Return what an analysis finds in this kernel; it runs when it is first asked for.

        An analysis is a class that is made from a view, or a function of one; it lives in the package of its subject.
        """
        if analysis not in self._found:
            self._found[analysis] = self.compute(analysis)
        return cast(Result, self._found[analysis])

    def compute(self, analysis: Callable[[KernelView], Result]) -> Result:
        """Run an analysis; a profile counts its time here."""
        return analysis(self)

    def has(self, analysis: Callable[[KernelView], object]) -> bool:
        """Tell whether an analysis was run."""
        return analysis in self._found

    @property
    def body(self) -> Body:
        assert self.function.body is not None
        return self.function.body

    @property
    def cfg(self) -> Cfg:
        """Basic blocks, dominators and loops."""
        return self.get(_cfg)

    @property
    def facts(self) -> Facts:
        """Values, pointers and uniformity at each point."""
        return self.get(_facts)

    @cached_property
    def in_registers(self) -> KernelView:
        """This kernel, point by point, with the words of local memory at known places in registers."""
        followed = with_words_in_registers(self.function)
        return self if followed is self.function else replace(self, function=followed)


def _cfg(view: KernelView) -> Cfg:
    return build(view.function)


def _facts(view: KernelView) -> Facts:
    return analyse(view.cfg, view.module, view.launch)
