// The swizzled layout cuts the rows of 512 elements at 64: eight copies bring the tile.
#include <cute/tensor.hpp>

using namespace cute;

template <class T> void load_rows(T const *data, int rows, int columns) {
  auto tile = make_shape(Int<32>{}, Int<512>{});
  auto tensor = make_tensor(make_gmem_ptr(data), make_shape(rows, columns), make_stride(columns, Int<1>{}));
  auto shared = tile_to_shape(GMMA::Layout_K_SW128_Atom<T>{}, tile);
  Copy_Atom load = make_tma_atom(
      SM90_TMA_LOAD{}, tensor,
      shared,
      tile);
  launch(load);
}

void load(bfloat16_t const *data, int rows, int columns) {
  load_rows<bfloat16_t>(data, rows, columns);
}
