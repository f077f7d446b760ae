"""ptxcheck: a static verifier and linter for PTX and CUDA kernels.

>>> import ptxcheck
>>> report = ptxcheck.check("kernel.ptx")
>>> for finding in report.active:
...     print(finding.location.primary, finding.rule, finding.message)
"""

from .check import check
from .config import Config
from .finding import Finding
from .results import Report
from .source import Source
from .version import __version__

__all__ = ["Config", "Finding", "Report", "Source", "__version__", "check"]
