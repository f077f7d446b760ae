// Rows of 1001 halves: the second row of the tensor does not start on 16 bytes.
#include <cute/tensor.hpp>

using namespace cute;

using SmemLayout = decltype(tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, Shape<_128, _64, _3>{}));

void make_loads(half_t const *data, int rows) {
  constexpr int kColumns = 1001;
  auto tensor = make_tensor(make_gmem_ptr(data), make_shape(rows, kColumns), make_stride(kColumns, Int<1>{}));
  auto load = make_tma_copy(
      SM90_TMA_LOAD{},
      tensor,  // expect: TD005
      SmemLayout{}(_, _, 0), make_shape(_128{}, _64{}), _1{});
  launch(load);
}
