"""A `tcgen05.st` with no `tcgen05.wait::st` before the data is used or the thread is done.

Checks: feasible paths from the store to a load of the same address, to a multiplication of the same thread into the
same columns, to a deallocation, or to the end of the thread, with no wait between.
Why: the store runs on after the instruction; only the wait lets the thread, or one that it signals, rely on it.
Source: PTX ISA §9.7.17.6.4 and 9.7.17.8.5.
Not checked: signals to other threads between the store and a later wait.
"""

from ..protocols.typestate.tensor_memory import TensorMemory
from ..protocols.typestate.tensor_memory_use import TensorMemoryUse
from .rule import Hit, Hits, KernelView, Rule, Severity
from .tensor_memory_kernels import ALLOCATION


def check(view: KernelView) -> Hits:
    seen: set[int] = set()
    early = view.get(TensorMemoryUse).stored_before_multiplication()
    for pair in (*view.get(TensorMemory).unawaited_stores(), *early):
        if pair.first not in seen:
            seen.add(pair.first)
            related = ((pair.then, "until here"),)
            yield Hit(pair.first, "no tcgen05.wait::st comes after this store", related=related)


RULE = Rule(
    id="TM009",
    name="tmem-store-not-awaited",
    severity=Severity.WRONG_RESULT,
    section="PTX ISA §9.7.17.8.5",
    summary="A tcgen05.st is not waited for.",
    consequence="A load or multiplication may read the old contents.",
    advice="Execute tcgen05.wait::st.sync.aligned before the data is read or others are told.",
    example=ALLOCATION.variant("""
=     ld.shared.b32 %r3, [slot];
      ld.shared.b32 %r3, [slot];
      tcgen05.st.sync.aligned.32x32b.x1.b32 [%r3], {%r1}; // expect: TM009
+     tcgen05.wait::st.sync.aligned;
      bar.sync 0;
      tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%r3];
      tcgen05.wait::ld.sync.aligned;
      add.u32 %r6, %r4, 1;
"""),
    check=check,
)
