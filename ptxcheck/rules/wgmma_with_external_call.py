"""A call of an unknown function in a kernel that multiplies with wgmma.

Checks: calls of functions without a body in the module, `vprintf` and `__assertfail` among them, and indirect calls,
anywhere in a function with `wgmma.mma_async`.
Why: ptxas cannot know which registers such a function uses while results are on their way, so it waits after each
multiplication of the whole function, wherever the call is (C7509, C7510); it does not say which call it is. Source:
notes of ptxas 13.0 on kernels with such calls after the last wait.
Not checked: calls of functions in the module, which matter only with work in flight (WG007).
"""

from ..protocols.typestate.wgmma import Wgmma
from .matrix_kernels import WGMMA
from .rule import Hit, Hits, KernelView, Rule, Severity


def check(view: KernelView) -> Hits:
    if not view.get(Wgmma).multiplications:
        return
    for point, callee in sorted(view.cfg.calls.items()):
        if callee not in view.module.bodies:
            what = (
                "an indirect call" if callee is None else f"the call of '{callee}', whose body is not here,"
            )
            related = ((view.get(Wgmma).multiplications[0], "the first multiplication"),)
            yield Hit(point, f"{what} makes ptxas serialise every wgmma of this function", related=related)


RULE = Rule(
    id="WG021",
    name="wgmma-with-external-call",
    severity=Severity.SLOW,
    section="PTX ISA §9.7.16.7",
    summary="A function that multiplies with wgmma calls a function that ptxas cannot see.",
    consequence="All wgmma instructions of the function are serialised.",
    advice="Leave out the call (printf, assert), or move it into a kernel or branch that is compiled without it.",
    example=WGMMA.variant("""
= .address_size 64
  .address_size 64
  .extern .func helper();

      st.global.v4.f32 [%rd1], {%f1, %f2, %f3, %f4};
-     call helper; // expect: WG021
"""),
    check=check,
)
