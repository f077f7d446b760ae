// Eight halves are the 16 bytes that the inner side of a box needs at least.
#include <cute/tensor.hpp>

using namespace cute;

void make_store(half_t *data) {
  auto tensor = make_tensor(make_gmem_ptr(data), make_shape(4096, 64), make_stride(64, Int<1>{}));
  auto store = make_tma_copy(
      SM90_TMA_STORE{}, tensor,
      make_layout(Shape<_128, _8>{}, Stride<_8, _1>{}));
  launch(store);
}
