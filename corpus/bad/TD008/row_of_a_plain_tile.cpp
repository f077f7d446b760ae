// CuTe takes the longest run of the tile for the box, here a row of 512 elements; a swizzled layout cuts it at 64.
#include <cute/tensor.hpp>

using namespace cute;

template <class T> void load_rows(T const *data, int rows, int columns) {
  auto tile = make_shape(Int<32>{}, Int<512>{});
  auto tensor = make_tensor(make_gmem_ptr(data), make_shape(rows, columns), make_stride(columns, Int<1>{}));
  auto shared = make_layout(tile, LayoutRight{});
  Copy_Atom load = make_tma_atom(
      SM90_TMA_LOAD{}, tensor,
      shared,
      tile);
  launch(load);
}

void load(bfloat16_t const *data, int rows, int columns) {
  load_rows<bfloat16_t>(data, rows, columns);  // expect: TD008
}
