"""What is surely wrong with maps that kernels make, at which line."""

from __future__ import annotations

import pytest

import ptxcheck
from ptxcheck.descriptors.device.field import ELEMENT_TYPES, SWIZZLES
from ptxcheck.descriptors.fields import DataType, Swizzle
from ptxcheck.descriptors.matrix.swizzle_mode import REPLACE, TENSOR_MAP
from ptxcheck.rules import RULES
from ptxcheck.source import Source

from .kernels import COPY, LINT, kernel

ON_DEVICE = tuple(rule for rule in RULES if rule.id.startswith(("TD05", "TD06")))


def found(text: str) -> list[tuple[str, str]]:
    """Return each finding of these rules with the line that it is at."""
    report = ptxcheck.check(Source("made.ptx", text), rules=ON_DEVICE, config=LINT)
    assert report.problems == ()
    lines = text.split("\n")
    return [(one.rule, lines[one.location.ptx.line - 1].strip()) for one in report.active]


def test_a_good_map_has_none() -> None:
    assert found(kernel()) == []
    assert found(kernel(user=96)) == []


@pytest.mark.parametrize(
    ("changed", "rule", "where"),
    [
        ({"box_dim.b32 1": "512"}, "TD050", "box_dim"),
        ({"global_dim.b32 0": "0"}, "TD050", "global_dim"),
        ({"element_stride.b32 1": "9"}, "TD050", "element_stride"),
        ({"global_stride.b64 0": "24"}, "TD050", "global_stride"),
        ({"global_address.b64": "4104"}, "TD050", "global_address"),
        ({"rank.b32": "5"}, "TD050", "rank"),
        ({"rank.b32": "2"}, "TD051", "rank"),
        ({"box_dim.b32 0": "128"}, "TD052", "box_dim"),
        ({"box_dim.b32 0": "4"}, "TD052", "box_dim"),
        ({"elemtype.b32": "9"}, "TD054", "elemtype"),
        ({"global_stride.b64 0": None}, "TD055", "cp.async.bulk.tensor"),
    ],
)
def test_a_wrong_field_is_found_where_it_is_replaced(
    changed: dict[str, str | None], rule: str, where: str
) -> None:
    rules = found(kernel(changed))
    assert [one for one, _ in rules] == [rule]
    assert where in rules[0][1]


def test_dimensions_beyond_the_rank_do_not_count() -> None:
    beyond: dict[str, str | None] = {
        "global_dim.b32 4": "0",
        "global_stride.b64 3": "8",
        "box_dim.b32 3": "0",
    }
    assert found(kernel(beyond)) == []


def test_a_fifth_stride_never_counts() -> None:
    assert [rule for rule, _ in found(kernel({"global_stride.b64 4": "4096"}))] == ["TD050"]


@pytest.mark.parametrize(("version", "stride", "wrong"), [
    ("8.6", "2048", False), ("8.6", "128", True), ("8.4", "128", False), ("8.4", "2048", True),
])  # fmt: skip
def test_unit_of_strides(version: str, stride: str, wrong: bool) -> None:
    sizes: dict[str, str | None] = {"global_dim.b32 0": "1024", "global_stride.b64 0": stride}
    rules = [rule for rule, _ in found(kernel(sizes, version=version))]
    assert rules == (["TD053"] if wrong else [])


def test_a_shifted_row_of_unknown_length() -> None:
    shifted = {"global_stride.b64 0": "%rd11"}
    text = kernel(shifted, before="shr.u64 %rd11, %rd4, 4;")
    assert [rule for rule, _ in found(text)] == ["TD053"]
    assert found(kernel(shifted, before="shl.b64 %rd11, %rd4, 4;")) == []


def test_a_map_that_ordinary_loads_copy_is_not_thrown_away() -> None:
    ordinary = """
    ld.shared.u32 %r12, [%r1];
    cvt.u64.u32 %rd12, %r0;
    shl.b64 %rd12, %rd12, 2;
    add.u64 %rd12, %rd12, %rd1;
    st.global.u32 [%rd12], %r12;
    fence.proxy.tensormap::generic.release.gpu;
    """
    assert [rule for rule, _ in found(kernel(copy="", acquire=""))] == ["TD059"]
    assert found(kernel(copy=ordinary)) == []


def test_unknown_stores_between_leave_no_certainty() -> None:
    hidden = "ld.shared.u32 %r13, [full];\nst.shared.u32 [%r13], %r0;"
    assert found(kernel({"global_dim.b32 1": None}, copy=f"{hidden}\n{COPY}")) == []


def test_element_types_are_numbered_as_the_manual_does() -> None:
    assert ELEMENT_TYPES[8:11] == (DataType.FLOAT32_FTZ, DataType.FLOAT64, DataType.BFLOAT16)
    assert all(ELEMENT_TYPES[n] == n for n in (*range(8), *range(11, 16)))


def test_swizzles_agree_with_those_of_matrix_descriptors() -> None:
    assert {pair: Swizzle(TENSOR_MAP[mode]) for mode, pair in REPLACE.items()} == SWIZZLES
