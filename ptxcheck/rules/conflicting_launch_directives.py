"""Launch directives of a kernel that exclude or need one another, or that say zero threads.

Checks: `.maxntid` with `.reqntid`; `.maxclusterrank` with `.reqnctapercluster`; `.blocksareclusters` without
`.reqntid` and `.reqnctapercluster`; zero in `.maxntid` or `.reqntid`.
Why: ptxas rejects the module. Source: PTX ISA §11.4, 11.7, 11.8.1; checked against ptxas 13.0.
Not checked: limits of a device.
"""

from collections.abc import Iterator, Mapping

from ..protocols.typestate.names import directive_span
from .rule import Example, Hit, Hits, KernelView, Rule, Severity

_EXCLUSIVE = ((".maxntid", ".reqntid"), (".maxclusterrank", ".reqnctapercluster"))


_CLUSTERS = ".blocksareclusters"


def _complaints(given: Mapping[str, tuple[int, ...]]) -> Iterator[tuple[str, str]]:
    for first, second in _EXCLUSIVE:
        if first in given and second in given:
            yield second, f"{first} and {second} exclude one another"
    missing = [word for word in (".reqntid", ".reqnctapercluster") if word not in given]
    if _CLUSTERS in given and missing:
        yield _CLUSTERS, f"{_CLUSTERS} needs {' and '.join(missing)}"
    for keyword in (".maxntid", ".reqntid"):
        if 0 in given.get(keyword, ()):
            yield keyword, f"{keyword} must be positive in each dimension"


def check(view: KernelView) -> Hits:
    for keyword, message in _complaints(view.function.attributes):
        yield Hit(0, message, span=directive_span(view.module, view.function, keyword))


RULE = Rule(
    id="PT010",
    name="conflicting-launch-directives",
    severity=Severity.ERROR,
    section="PTX ISA §11.4, 11.7",
    summary="The kernel's launch directives contradict one another, or lack one that another needs.",
    consequence="ptxas rejects the module.",
    advice="Keep the directive that says what the host does, and drop the other.",
    example=Example("""
  .version 9.0
  .target sm_90a
  .address_size 64

- .visible .entry k(.param .u64 out) .maxntid 128 .reqntid 128 // expect: PT010
+ .visible .entry k(.param .u64 out) .reqntid 128 .reqnctapercluster 2
  {
      ret;
  }
"""),
    check=check,
)
