"""PTX text → IR, and IR → PTX text."""

from .module import parse_module
from .show import show

__all__ = ["parse_module", "show"]
