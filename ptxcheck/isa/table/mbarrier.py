"""PTX ISA 9.7.13.15: mbarrier instructions."""

from __future__ import annotations

from ...op import Op
from ...spec import Trait
from ..row import Row

_MBARRIER = frozenset({Trait.MBARRIER})

ROWS = (
    Row(
        "mbarrier.init",
        Op.MBARRIER_INIT,
        "9.7.13.15.9",
        ("mbarrier.init{.space}.b64 [addr], count",),
        since="7.0+sm_80",
        slots={"space": ".shared .shared::cta@7.8"},
        operands={"count": ".u32"},
        traits=_MBARRIER,
    ),
)
