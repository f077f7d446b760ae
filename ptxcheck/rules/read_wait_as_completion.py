"""A `.read` wait where the written bytes are needed.

Checks: paths from a bulk copy to global memory to a load of bytes that it writes, with no wait without `.read`. A
release at GPU scope or wider on such a path is reported as possible: it may publish something else.
Why: `.read` says that the source has been read; the destination may still be unwritten.
Not checked: destinations of tensor copies, of which only the release is seen.
"""

from ..protocols.typestate.async_bytes import AsyncBytes
from ..protocols.typestate.copy_groups import bulk_groups, full_bulk_groups
from .copy_kernels import BULK_STORE
from .rule import Confidence, Hit, Hits, KernelView, Rule, Severity


def check(view: KernelView) -> Hits:
    groups = view.get(full_bulk_groups)
    if not groups.copies:
        return
    waits = view.get(bulk_groups).waits
    written = {one.point: one for one in view.get(AsyncBytes).copied_to_global}
    for slip in groups.touched(written, view.get(AsyncBytes).global_reads):
        related = ((slip.copy, "the copy that writes them"),)
        yield Hit(
            slip.point, "these bytes may not be written yet: no full wait for their copy", related=related
        )
    flag = groups.released()
    if flag is not None and any(
        view.cfg.reaches(flag.copy, wait) and view.cfg.reaches(wait, flag.point) for wait in waits
    ):
        message = "this may publish a copy of which only the source is known to have been read"
        yield Hit(flag.point, message, ((flag.copy, "the copy"),), Confidence.POSSIBLE)


RULE = Rule(
    id="BG006",
    name="read-wait-as-completion",
    severity=Severity.WRONG_RESULT,
    section="PTX ISA §9.7.9.26.6.2",
    summary="A wait for the source of a bulk copy is used as if the copy were complete.",
    consequence="What is read, here or by those who see the flag, may be old.",
    advice="Wait with cp.async.bulk.wait_group, without .read, before the result is read or published.",
    example=BULK_STORE.variant("""
=     cp.async.bulk.wait_group.read 0;
-     cp.async.bulk.wait_group.read 0;
+     cp.async.bulk.wait_group 0;
      ld.global.u32 %r1, [%rd0+16]; // expect: BG006
      st.global.u32 [%rd0+1024], %r1;
"""),
    check=check,
)
