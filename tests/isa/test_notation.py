"""The notation of table rows: counts, addresses of several parts, order of slots, sinks and vectors."""

from __future__ import annotations

import pytest

from ptxcheck.isa import Row, resolve_shape
from ptxcheck.isa.count import vector_length
from ptxcheck.isa.lookup import fill_slots
from ptxcheck.isa.modifier import Mod
from ptxcheck.isa.row import compile_row
from ptxcheck.opcodes.op import Op
from ptxcheck.opcodes.spec import Direction, OperandKind, Trait


@pytest.mark.parametrize(
    ("count", "slots", "length"),
    [
        ("", {}, 1),
        ("4", {}, 4),
        ("vec", {}, 1),
        ("vec", {"vec": ".v4"}, 4),
        ("num*2", {"num": ".x16"}, 32),
        ("dim-2", {"dim": ".5d"}, 3),
        ("num/32", {"num": ".x4"}, 1),
        ("shape.n/4", {"shape": ".m64n96k16"}, 24),
        ("any", {}, None),
        ("mode", {"mode": ".tile"}, None),
    ],
)
def test_vector_length(count: str, slots: dict[str, str], length: int | None) -> None:
    assert vector_length(count, slots) == length


def test_vector_length_rejects_nonsense() -> None:
    with pytest.raises(ValueError, match="cannot read the count"):
        vector_length("num+", {})


def test_address_parts_chain() -> None:
    (form,) = compile_row(Row("x", Op.ADD, "", ("x [map, base, coords]",), operands={"coords": ".s32*3"}))
    (operand,) = form.operands
    assert operand.kind is OperandKind.ADDRESS
    assert operand.second is not None
    assert operand.second.name == "base"
    assert operand.second.second is not None
    assert operand.second.second.count == "3"


def test_operand_described_by_another_entry() -> None:
    row = Row("x", Op.ADD, "", ("x a, mask=wide",), operands={"wide": "rw .b32"}, limits={"wide": "1"})
    operand = compile_row(row)[0].operands[1]
    assert (operand.name, operand.type, operand.direction) == ("mask", ".b32", Direction.READ_WRITE)
    assert operand.limits == (range(1, 2),)


def test_types_keep_their_order() -> None:
    row = Row("x", Op.ADD, "", ("x.dtype(.f32,.f16).atype(.f16).mode(.m) a",))
    slots = compile_row(row)[0].slots
    assert fill_slots(slots, (".f32", ".m", ".f16")) == {"dtype": ".f32", "atype": ".f16", "mode": ".m"}
    assert fill_slots(slots, (".f16", ".f32", ".m")) is None


def test_name_words_are_modifiers() -> None:
    operation = resolve_shape("mbarrier.arrive.expect_tx.shared.b64", ("_", "[", "a"))
    assert operation.op is Op.MBARRIER_ARRIVE
    assert operation.has(Mod.EXPECT_TX)
    assert "tx_count" in operation.operand_index


def test_shapes_select_forms() -> None:
    head = "tcgen05.mma.cta_group::1.kind::f16"
    masked = resolve_shape(head, ("[", "a", "a", "a", "{", "a"))
    scaled = resolve_shape(head, ("[", "[", "a", "a", "a", "a"))
    assert "disable_lanes" in masked.operand_index
    assert {"a_taddr", "scale_input_d"} <= set(scaled.operand_index)


@pytest.mark.parametrize(
    ("text", "shape", "traits"),
    [
        ("bar.sync", ("a",), {Trait.BARRIER, Trait.ALIGNED}),
        ("barrier.sync", ("a",), {Trait.BARRIER}),
        ("barrier.sync.aligned", ("a",), {Trait.BARRIER, Trait.ALIGNED}),
        ("cp.async.bulk.commit_group", (), {Trait.COMMIT}),
        ("cp.async.bulk.wait_group.read", ("a",), {Trait.WAIT}),
        ("fence.proxy.async", (), {Trait.FENCE}),
        ("mbarrier.init.shared.b64", ("[", "a"), {Trait.MBARRIER}),
        ("mbarrier.pending_count.b64", ("a", "a"), {Trait.PURE}),
    ],
)
def test_traits(text: str, shape: tuple[str, ...], traits: set[Trait]) -> None:
    assert resolve_shape(text, shape).traits == traits


def test_generic_copy_is_not_in_the_async_proxy() -> None:
    copy = resolve_shape("cp.async.cg.shared.global", ("[", "[", "a"))
    tensor = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
    assert Trait.ASYNC_PROXY_WRITE not in copy.traits
    assert resolve_shape(tensor, ("[", "[,", "[")).traits >= {
        Trait.ASYNC,
        Trait.ASYNC_PROXY_READ,
        Trait.ASYNC_PROXY_WRITE,
        Trait.TENSORMAP_PROXY_READ,
    }
