"""Tensor maps that kernels make or change with `tensormap.replace`.

`flow` follows what each map is made of, `made` judges it on the constraints of the host's encode, `order` its
hand-over to the copies that use it, and `verdicts` sums up.
"""

from __future__ import annotations

from .flow import DeviceMaps
from .verdicts import PROPERTIES, descriptor_verdicts

__all__ = ["PROPERTIES", "DeviceMaps", "descriptor_verdicts"]
