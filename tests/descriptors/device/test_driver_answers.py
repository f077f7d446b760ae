"""Maps of constants that a kernel makes: legal exactly where a driver encoded the same map on the host."""

from __future__ import annotations

import numpy as np
import pytest

from ptxcheck.descriptors import Kind
from ptxcheck.pipeline.device_map_verdicts import descriptor_verdicts
from ptxcheck.verdict import VerdictKind
from tests.descriptors.maps import driver_rows, sampled_rows

from .kernels import FIELDS, kernel, view

ROWS = 60
PTX_TYPE = {8: 9, 9: 10, 10: 8}
"""FLOAT64, BFLOAT16 and FLOAT32_FTZ of cuda.h as PTX numbers them (PTX ISA §9.7.9.27)."""
BASE = 0x7F0000000000
TABLES = {"recorded": driver_rows(Kind.TILED), **sampled_rows(Kind.TILED)}


@pytest.mark.parametrize("name", TABLES)
def test_the_driver_agrees(name: str) -> None:
    table = TABLES[name]
    fits = (table["rank"] >= 1) & (table["rank"] <= 5) & (table["dtype"] >= 0) & (table["dtype"] <= 12)
    for column, most in (("swizzle", 3), ("interleave", 2), ("oob", 1), ("l2", 3)):
        fits &= (table[column] >= 0) & (table[column] <= most)
    for i in range(5):
        fits &= (table[f"dim{i}"] >= 0) & (table[f"dim{i}"] < 1 << 32) & (table[f"box{i}"] >= 0)
    rows = np.flatnonzero(fits)[:ROWS]
    assert len(rows) == ROWS
    seen = set()
    for row in rows:
        fields = {key: int(column[row]) for key, column in table.items()}
        expected = VerdictKind.PROVED if fields["result"] == 0 else VerdictKind.VIOLATED
        (legality, *_) = descriptor_verdicts(view(kernel(replacements_of(fields), use="")))
        assert legality.kind is expected, (fields, legality)
        seen.add(expected)
    assert VerdictKind.VIOLATED in seen or name == "uniform"


def replacements_of(fields: dict[str, int]) -> dict[str, str | None]:
    """Return the replacements that make the map of one recorded encode."""
    rank = fields["rank"]
    made: dict[str, str | None] = dict.fromkeys(FIELDS)
    made |= {
        "global_address.b64": str(BASE + fields["addr_off"]),
        "rank.b32": str(rank - 1),
        "elemtype.b32": str(PTX_TYPE.get(fields["dtype"], fields["dtype"])),
        "interleave_layout.b32": str(fields["interleave"]),
        "swizzle_mode.b32": str(fields["swizzle"]),
        "fill_mode.b32": str(fields["oob"]),
    }
    for i in range(rank):
        made[f"box_dim.b32 {i}"] = str(fields[f"box{i}"])
        made[f"global_dim.b32 {i}"] = str(fields[f"dim{i}"])
        made[f"element_stride.b32 {i}"] = str(fields[f"es{i}"])
    for i in range(rank - 1):
        made[f"global_stride.b64 {i}"] = str(fields[f"stride{i}"])
    return made
