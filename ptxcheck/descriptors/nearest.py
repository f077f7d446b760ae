"""The legal encode nearest to an illegal tiled map: same tensor and tile, other strides, box or swizzle."""

from __future__ import annotations

from ptxcheck.descriptors.constraints import Platform
from ptxcheck.descriptors.fields import Interleave, Swizzle
from ptxcheck.descriptors.legality import is_encoded
from ptxcheck.descriptors.request import Request, Solution
from ptxcheck.descriptors.solve import solve
from ptxcheck.descriptors.tensor_map import TensorMap, TiledMap


def nearest(tensor_map: TensorMap, platform: Platform) -> Solution | None:
    """Return the cheapest legal way to bring the box of `tensor_map`, its swizzle kept where that can be.

    Several copies may bring what one box cannot. None where there is no such encode, where the fault is not
    in strides, box or swizzle, or where the map uses what the solver does not (interleave, element strides).
    """
    if not isinstance(tensor_map, TiledMap) or is_encoded(tensor_map, platform):
        return None
    if tensor_map.interleave != Interleave.INTERLEAVE_NONE or any(step != 1 for step in tensor_map.steps):
        return None
    swizzles = {int(mode): mode for mode in Swizzle}
    for swizzle in dict.fromkeys((swizzles.get(tensor_map.swizzle), None)):
        try:
            request = Request(
                data_type=tensor_map.data_type,
                shape=tensor_map.global_dim,
                tile=tensor_map.box_dim,
                strides=tensor_map.global_strides,
                may_pad=True,
                swizzle=swizzle,
                platform=platform,
            )
        except ValueError:
            return None
        answer = solve(request)
        if isinstance(answer, Solution):
            return answer
    return None
