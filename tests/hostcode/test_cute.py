"""Maps that CuTe makes, against what CUTLASS 4 gave to the encode function for the same calls.

The expected rows were recorded: each case was compiled with nvcc against CUTLASS, with an encode function that prints
its arguments.
"""

from __future__ import annotations

import pytest

from ptxcheck.hostcode.encode import described
from ptxcheck.hostcode.find import Reading, issues_in, read
from ptxcheck.source import Source

LOAD, STORE = "SM90_TMA_LOAD{}", "SM90_TMA_STORE{}"
RECORDED = [
    (
        "make_tensor(make_gmem_ptr(h), make_shape(m, k), make_stride(k, Int<1>{}))",
        "tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, make_shape(Int<128>{}, Int<64>{}, Int<3>{}))",
        f"make_tma_atom({LOAD}, t, s(_, _, 0), make_shape(Int<128>{{}}, Int<64>{{}}))",
        "6 | 1000 4096 | 2000 | 64 128 | 3",
    ),
    (
        "make_tensor(make_gmem_ptr(f), make_shape(1024, 256))",
        "tile_to_shape(GMMA::Layout_MN_SW128_Atom<float>{}, make_shape(_128{}, _64{}))",
        f"make_tma_copy({LOAD}, t, s)",
        "7 | 1024 256 | 4096 | 32 8 | 3",
    ),
    (
        "make_tensor(make_gmem_ptr(f), make_shape(1024, 32, 512), make_stride(64, Int<1>{}, 65536))",
        "make_layout(make_shape(_16{}, _8{}, _2{}), make_stride(_16{}, _1{}, _8{}))",
        f"make_tma_copy({LOAD}, t, s)",
        "7 | 32 512 1024 | 262144 256 | 8 2 16 | 0",
    ),
    (
        "make_tensor(make_gmem_ptr(h), make_shape(Int<512>{}, Int<64>{}), make_stride(Int<64>{}, Int<1>{}))",
        "make_layout(Shape<_4, _64>{}, LayoutRight{})",
        f"make_tma_copy({LOAD}, t, s)",
        "6 | 32768 |  | 256 | 0",
    ),
    (
        "make_tensor(make_gmem_ptr(h), make_shape(Int<512>{}, Int<64>{}), make_stride(Int<64>{}, Int<1>{}))",
        "tile_to_shape(GMMA::Layout_K_SW64_Atom<half_t>{}, Shape<_128, _64>{})",
        "make_tma_copy(SM90_TMA_LOAD_MULTICAST{}, t, s, Int<2>{})",
        "6 | 64 512 | 128 | 32 64 | 2",
    ),
    (
        "make_tensor(make_gmem_ptr(u), make_shape(300, 128, 7), make_stride(128, Int<1>{}, 300 * 128))",
        "tile_to_shape(GMMA::Layout_K_SW128_Atom<uint8_t>{}, Shape<_64, _128>{})",
        f"make_tma_copy({LOAD}, t, s, Shape<_64, _128>{{}}, _1{{}})",
        "0 | 128 300 7 | 128 38400 | 128 64 1 | 3",
    ),
    (
        "make_tensor(make_gmem_ptr(u), make_shape(300, 128, 1), make_stride(128, Int<1>{}, 300 * 128))",
        "tile_to_shape(GMMA::Layout_K_INTER_Atom<uint8_t>{}, Shape<_64, _64>{})",
        f"make_tma_copy({STORE}, t, s, Shape<_64, _64>{{}}, _1{{}})",
        "0 | 128 300 1 | 128 38400 | 16 64 1 | 0",
    ),
    (
        "make_tensor(make_gmem_ptr(u), make_shape(300, 128, _1{}), LayoutRight{})",
        "make_layout(Shape<_64, _16, _1>{}, LayoutRight{})",
        f"make_tma_copy({STORE}, t, s)",
        "0 | 128 300 | 128 | 16 64 | 0",
    ),
    (
        "make_tensor(make_gmem_ptr(h), make_shape(4096, 512), LayoutRight{})",
        "tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, Shape<_128, _256>{}, Step<_2, _1>{})",
        f"make_tma_copy({LOAD}, t, s)",
        "6 | 512 4096 | 1024 | 64 8 | 3",
    ),
    (
        "make_tensor(make_gmem_ptr(h), make_shape(4096, 512, 8), LayoutLeft{})",
        "make_layout(Shape<_8, _16, _4>{})",
        f"make_tma_copy({LOAD}, t, s)",
        "6 | 4096 512 8 | 8192 4194304 | 8 16 4 | 0",
    ),
    (
        "make_tensor(make_gmem_ptr(h), make_shape(_8{}, _16{}, 8), make_stride(_1{}, _8{}, _128{}))",
        "make_layout(Shape<_8, _16, _4>{})",
        f"make_tma_copy({LOAD}, t, s)",
        "6 | 128 8 | 256 | 128 4 | 0",
    ),
    (
        "make_tensor(make_gmem_ptr(h), make_shape(Int<1024>{}, 64, 3, 5, 9),"
        " make_stride(_1{}, 1024, 65536, 0, 196608))",
        "make_layout(Shape<_64>{})",
        f"make_tma_copy({LOAD}, t, s)",
        "6 | 1024 64 3 5 9 | 2048 131072 0 393216 | 64 1 1 1 1 | 0",
    ),
    (
        "make_tensor(make_gmem_ptr(h), make_shape(4096), make_stride(Int<1>{}))",
        "make_layout(make_shape(Int<128>{}))",
        f"make_tma_copy({LOAD}, t, s)",
        "6 | 4096 |  | 128 | 0",
    ),
    (
        "make_tensor(make_gmem_ptr(f), make_shape(4096, 64), make_stride(Int<128>{}, Int<1>{}))",
        "tile_to_shape(GMMA::Layout_K_SW32_Atom<float>{}, Shape<_32, _32, _4>{}, Step<_1, _2, _3>{})",
        "make_tma_copy_A_sm90(SM90_TMA_LOAD_MULTICAST{}, t, s(_, _, Int<0>{}), Shape<_32, _64, _32>{},"
        " Shape<_2, _4, _1>{})",
        "7 | 64 4096 | 512 | 8 8 | 1",
    ),
    (
        "make_tensor(make_gmem_ptr(f), make_shape(4096, 64), make_stride(Int<128>{}, Int<1>{}))",
        "tile_to_shape(GMMA::Layout_K_SW128_Atom<float>{}, Shape<_64, _32>{})",
        "make_tma_copy_B_sm90(SM90_TMA_LOAD_MULTICAST{}, t, s, Shape<_32, _64, _32>{}, Shape<_2, _4, _1>{})",
        "7 | 64 4096 | 512 | 32 32 | 3",
    ),
    (
        "make_tensor(make_gmem_ptr(f), make_shape(4096, 64), make_stride(_1{}, 4096))",
        "make_layout(Shape<_64, _32>{}, Stride<_1, _64>{})",
        f"make_tma_copy_C_sm90({STORE}, t, s, Shape<_64, _32, _16>{{}})",
        "7 | 4096 64 | 16384 | 64 32 | 0",
    ),
    (
        "make_tensor(make_gmem_ptr(h), make_shape(4096, 1024), LayoutRight{})",
        "make_layout(Shape<_64, _128>{}, Stride<_136, _1>{})",
        f"make_tma_copy({LOAD}, t, s)",
        "6 | 1024 4096 | 2048 | 128 1 | 0",
    ),
]


def reading(tensor: str, shared: str, call: str, top: str = "") -> Reading:
    """Return what is read of one call in a function."""
    text = f"""{top}
void f(half_t *h, float *f, uint8_t *u, int unknown) {{
  int m = 4096, k = 1000;
  auto t = {tensor};
  auto s = {shared};
  auto tma = {call};
}}
"""
    return read(Source("p.cu", text))


@pytest.mark.parametrize(("tensor", "shared", "call", "expected"), RECORDED)
def test_as_cutlass_encodes(tensor: str, shared: str, call: str, expected: str) -> None:
    (encode,) = reading(tensor, shared, call).encodes
    found = described(encode)
    assert found is not None
    tensor_map, known = found
    lists = (tensor_map.global_dim, tensor_map.global_strides, tensor_map.box_dim)  # type: ignore[union-attr]
    texts = [" ".join(map(str, one)) for one in lists]
    assert " | ".join((str(tensor_map.data_type), *texts, str(tensor_map.swizzle))) == expected
    assert known >= {"data_type", "swizzle", "interleave", "dim[0]", "box[0]"}


PLAIN = "make_layout(Shape<_64, _64>{}, LayoutRight{})"
ROWS = "make_tensor(make_gmem_ptr(h), make_shape(m, k), make_stride(k, Int<1>{}))"
LEFT_ALONE = [
    ("unknown tensor", "source()", PLAIN, f"make_tma_copy({LOAD}, t, s)"),
    ("unknown tile", ROWS, "make_layout(Shape<X, _64>{})", f"make_tma_copy({LOAD}, t, s)"),
    ("extent of a run", ROWS, "make_layout(make_shape(unknown, 8))", f"make_tma_copy({LOAD}, t, s)"),
    ("other type", ROWS, PLAIN, f"make_tma_copy<uint16_t>({LOAD}, t, s)"),
    ("im2col", ROWS, PLAIN, "make_tma_copy(SM90_TMA_LOAD_IM2COL{}, t, s)"),
    ("unknown operation", ROWS, PLAIN, "make_tma_copy(Operation{}, t, s)"),
    (
        "nested shape",
        "make_tensor(h, make_shape(make_shape(4, 4), 8))",
        PLAIN,
        f"make_tma_copy({LOAD}, t, s)",
    ),
    (
        "not the first slice",
        ROWS,
        "make_layout(Shape<_64, _64, _2>{})",
        f"make_tma_copy({LOAD}, t, s(_, _, 1))",
    ),
    ("unknown cluster", ROWS, PLAIN, f"make_tma_copy({LOAD}, t, s, unknown)"),
    ("unevaluated", "0", f"decltype(make_tma_copy({LOAD}, {ROWS}, {PLAIN})){{}}", "0"),
]


@pytest.mark.parametrize(
    ("tensor", "shared", "call"), [r[1:] for r in LEFT_ALONE], ids=[r[0] for r in LEFT_ALONE]
)
def test_what_is_not_static_is_left_alone(tensor: str, shared: str, call: str) -> None:
    found = reading(tensor, shared, call)
    assert found.encodes == ()
    assert not any(found.makers.values())


def test_own_functions_of_the_same_names_are_not_cutes() -> None:
    own = "int make_tma_copy(int a, Tensor b, Layout c) { return 0; }"
    assert reading(ROWS, PLAIN, f"make_tma_copy({LOAD}, t, s)").encodes
    assert reading(ROWS, PLAIN, f"make_tma_copy({LOAD}, t, s)", own).encodes == ()


def test_names_of_types_belong_to_their_function() -> None:
    def text(parameter: str) -> str:
        return f"""
void g() {{ using Tile = decltype(make_layout(Shape<_64, _512>{{}}, LayoutRight{{}})); }}
template <class {parameter}> void f(half_t *h, int m) {{
  auto t = make_tensor(h, make_shape(m, 1024), LayoutRight{{}});
  auto tma = make_tma_copy({LOAD}, t, Tile{{}});
}}
"""

    assert issues_in(Source("p.cu", text("Tile"))) == []
    assert issues_in(Source("p.cu", text("Other"))) == []
    outside = text("Other").replace("void g() {", "").replace("; }\ntemplate", ";\ntemplate", 1)
    assert [one.argument for one in issues_in(Source("p.cu", outside))] == ["boxDim"]


def test_a_symbol_is_a_condition() -> None:
    text = f"""
void f(half_t *h, int rows, int columns) {{
  auto t = make_tensor(h, make_shape(rows, columns), make_stride(columns, Int<1>{{}}));
  auto tma = make_tma_copy({LOAD}, t, {PLAIN});
}}
"""
    assert issues_in(Source("p.cu", text)) == []
    possible = {(one.argument, one.fault.condition) for one in issues_in(Source("p.cu", text), possible=True)}  # type: ignore[union-attr]
    assert any(argument == "globalStrides" and "columns" in str(said) for argument, said in possible)
