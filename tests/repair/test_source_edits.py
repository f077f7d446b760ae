"""Patches of PTX as changes of a source: which lines are changed, and how."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ptxcheck.config import Config
from ptxcheck.patching.judge import TextJudge
from ptxcheck.repair.patch import PARITY, Patch, Writer, combined
from ptxcheck.repair.source_edits import cuda_statement, source_changes
from ptxcheck.view import KernelView

_PTX = """.version 8.0
.target sm_90a
.address_size 64
.visible .entry k() .reqntid 64 {
    .reg .b32 %r<4>;
    .shared .align 8 .b64 bar;
    mov.u32 %r1, bar;
    mov.u32 %r2, 129;
    mbarrier.init.shared::cta.b64 [%r1], %r2;
    bar.sync 0;
    cp.async.wait_group 2;
    ret;
}
"""
_SOURCE = """constexpr int kCount = 129;
__global__ void k() {
  init(&bar, 129);
  init(&bar, kCount, first(1, 2));
  __syncthreads();
  wait<2>();
}
"""
_INIT, _BARRIER, _WAIT = 2, 3, 4


@pytest.fixture(scope="module")
def view() -> KernelView:
    return TextJudge("k.ptx", (), Config(verify=False))(_PTX).views["k"]


def _texts(view: KernelView, patch: Patch, *lines: int) -> list[str]:
    def lines_of(point: int) -> Sequence[int]:
        return lines

    return [change.text for change in source_changes(_SOURCE, view, patch, lines_of)]


def _patch(*edits: object) -> Patch:
    return combined("test", "test", 1, edits)  # type: ignore[arg-type]


def test_a_literal_is_changed_where_it_stands(view: KernelView) -> None:
    edit = Writer(view).rewritten(_INIT, "mbarrier.init.shared::cta.b64 [%r1], 128;")
    assert _texts(view, _patch(edit), 3)[0] == _SOURCE.replace("init(&bar, 129)", "init(&bar, 128)")


def test_a_constant_is_changed_where_it_is_defined_and_an_argument_as_a_whole(view: KernelView) -> None:
    edit = Writer(view).rewritten(_INIT, "mbarrier.init.shared::cta.b64 [%r1], 128;")
    texts = _texts(view, _patch(edit), 4)
    assert texts[0] == _SOURCE.replace("kCount = 129", "kCount = 128")
    assert _SOURCE.replace("(&bar, kCount,", "(&bar, 128,") in texts
    assert _SOURCE.replace("kCount, first(1, 2))", "kCount, 128)") in texts


def test_the_other_parity_is_written_at_the_call_in_the_kernel_first(view: KernelView) -> None:
    source = 'void wait(bar *b, int p) {\n  asm("" :: "r"(p));\n}\n  wait(&full, phase);\n  wait(&full, (n & 1) ^ 1);\n'

    def texts(*lines: int) -> list[str]:
        edit = Writer(view).rewritten(
            _INIT, "{ xor.b32 %r3, %r2, 1; mbarrier.init.shared::cta.b64 [%r1], %r3; }"
        )
        patch = combined(PARITY, "wait for the other parity", 1, [edit])
        return [change.text for change in source_changes(source, view, patch, lambda _: lines)]

    assert texts(2, 4)[0] == source.replace("(&full, phase)", "(&full, phase ^ 1)")
    assert texts(2, 5)[0] == source.replace("(n & 1) ^ 1", "(n & 1)")
    assert source.replace("(n & 1) ^ 1", "((n & 1) ^ 1) ^ 1") in texts(5)


def test_a_number_that_the_line_does_not_have_changes_no_literal(view: KernelView) -> None:
    edit = Writer(view).rewritten(_WAIT, "cp.async.wait_group 1;")
    assert _texts(view, _patch(edit), 6)[0] == _SOURCE.replace("wait<2>", "wait<1>")
    assert all("129" in text for text in _texts(view, _patch(edit), 3))


def test_a_statement_is_inserted_on_either_side(view: KernelView) -> None:
    patch = _patch(Writer(view).before(_WAIT, "fence.proxy.async;"))
    line = '  asm volatile("fence.proxy.async;" ::: "memory");\n'
    wait = "  wait<2>();\n"
    assert _texts(view, patch, 6) == [
        _SOURCE.replace(wait, line + wait),
        _SOURCE.replace(wait, wait + line),
    ]


def test_a_line_is_left_out_or_moved(view: KernelView) -> None:
    writer, sync = Writer(view), "  __syncthreads();\n"
    assert _texts(view, _patch(writer.delete(_BARRIER)), 5) == [_SOURCE.replace(sync, "")]
    moved = _patch(writer.delete(_BARRIER), writer.before(_INIT, "bar.sync 0;"))
    changes = source_changes(_SOURCE, view, moved, lambda point: [5] if point == _BARRIER else [3])
    first = next(iter(changes))
    assert first.text == _SOURCE.replace(sync, "").replace(
        "  init(&bar, 129);\n", f"{sync}  init(&bar, 129);\n"
    )


def test_what_is_no_statement_is_not_left_out(view: KernelView) -> None:
    assert _texts(view, _patch(Writer(view).delete(_BARRIER)), 2) == []


@pytest.mark.parametrize(
    ("ptx", "cuda"),
    [
        ("bar.sync 0;", "__syncthreads();"),
        ("bar.warp.sync -1;", "__syncwarp();"),
        ("a.b;\nc.d;", 'asm volatile("a.b;\\nc.d;" ::: "memory");'),
        ("mov.u32 %tmp, %laneid;", 'asm volatile("mov.u32 %%tmp, %%laneid;" ::: "memory");'),
        ("mbarrier.arrive.shared.b64 _, [%r1];", None),
        ("mbarrier.arrive.shared.b64 _, [bar];", None),
    ],
)
def test_only_statements_without_names_of_the_kernel_are_written(
    view: KernelView, ptx: str, cuda: str | None
) -> None:
    assert cuda_statement(view, ptx) == cuda
