"""`KernelView`: one kernel with its lazily computed analyses. Rules read views; nothing is invalidated."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from .ir import Body, Function, Module
from .launch import Launch

if TYPE_CHECKING:
    from .cfg import Cfg, Facts


@dataclass(frozen=True)
class KernelView:
    """A function with a body, the module it is in, and the launch that verdicts are for."""

    module: Module
    function: Function
    launch: Launch

    @property
    def body(self) -> Body:
        assert self.function.body is not None
        return self.function.body

    @cached_property
    def cfg(self) -> Cfg:
        """Basic blocks, dominators and loops."""
        from .cfg import build

        return build(self.function)

    @cached_property
    def facts(self) -> Facts:
        """Values, pointers and uniformity at each point."""
        from .cfg import analyse

        return analyse(self.cfg, self.module, self.launch)
