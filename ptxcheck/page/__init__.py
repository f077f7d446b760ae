"""The page of `ptxcheck view`: everything that is known of the kernels of one file, to look at in a browser.

`build` checks a file and gathers what the page shows; `document` packs it, with the style, the scripts and the library
that draws, into one HTML file that loads nothing else.
"""

from __future__ import annotations

from .build import NoKernelError, Page, build_page

__all__ = ["NoKernelError", "Page", "build_page"]
