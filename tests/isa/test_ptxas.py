"""The table and the operand checks against verdicts that ptxas gave (`record.py`), and against single probes.

Where they differ on purpose the statement is listed here, with the layer that has it or the reason.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxcheck.ir import Instruction
from ptxcheck.isa import requirement_problems
from ptxcheck.isa.operands import operand_problems
from ptxcheck.opcodes.target import Target, Version
from ptxcheck.parser import parse_module
from ptxcheck.protocols.typestate.names import DeclaredNames
from ptxcheck.source import Source

from .record import DATA, FIRST_LINE, Column, load, module
from .verdicts import problems

_FILES = sorted(DATA.glob("*.txt"))
_WIDEST = Column("13.5", Version(9, 5), Target(107, "a"))

_RELEASE = "ptxas releases differ: 13.1 or 13.4 changed the verdict, and the table follows the manual"
_TARGET = "the legal literals depend on the target, and the table has them for all targets"
_OTHER = "what is legal depends on the type or value of another operand"
_SHAPE = "ptxas wants a vector in braces although it has one element, or no literal inside"
_FLOOR = "the version of a detail that no released compiler writes"
_PROTOCOL = "a rule over several instructions has it"
_MODULE = "checked for the module or for variables, not for the instruction"
_ADDRESS = "the width and form of an address"

LEFT = {
    "cp.async.ca.shared::cta.global [%r1], [%rd1], 8, %r2": _FLOOR,
    "cp.async.cg.shared.global [%r1], [%rd1], 16, p": _FLOOR,
    "mbarrier.arrive.shared.b64 _, [%r3]": _FLOOR,
    "mbarrier.arrive.b64 _, [%rd3]": _FLOOR,
    "mbarrier.arrive.noComplete.shared.b64 _, [%r3], 1": _FLOOR,
    "tensormap.replace.tile.elemtype.b1024.b32 [%rd1], 13": _TARGET,
    "tensormap.replace.tile.swizzle_mode.b1024.b32 [%rd1], 4": _TARGET,
    "red.async.mmio.release.gpu.global.add.u32 [%rd1], %r2": _RELEASE,
    "st.async.mmio.release.gpu.global.b32 [%rd1], %r2": _RELEASE,
    "fence.acquire.gpu": _RELEASE,
    "fence.release.cluster": _RELEASE,
    "membar.proxy.async": _RELEASE,
    "spdecompress.b8.b2.sp::1:2.x1 {%r10}, {%r150}, {%r200}": _OTHER,
    "spdecompress.b8.b4.sp::1:2.x1 {%r10}, {%r150}, {%r200}": _OTHER,
    "cp.async.ca.shared.global [%r1], [%rd1], 4, 8": _OTHER,
    "cp.async.ca.shared.global [%r1], [%rd1], 4, %rd2": _OTHER,
    "ldmatrix.sync.aligned.m8n8.x1.b16 {_}, [%rd1]": _SHAPE,
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 %r5, [%r1]": _SHAPE,
    "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], %r5": _SHAPE,
    "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {5}": _SHAPE,
    "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd1,%r3], [%r2]": _SHAPE,
    "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r1],"
    " [%rd1,{%r1,%r2,%r3}], [%r2], %h1": _SHAPE,
    "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1..%f4}, {%f1,%f2}, {%r3}, {%f1..%f4}": _SHAPE,
    "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1..%f4}, {%r1,%r2}, %r3, {%f1..%f4}": _SHAPE,
    "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1..%f4}, {%r1,%r2}, {0}, {%f1..%f4}": _SHAPE,
    "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r1,%r2}, %r3, %r4, {%r1,%r2}": _SHAPE,
    "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {_,%f2,%f3,%f4}, %rd1, %rd2, p, 1, 1": _SHAPE,
    "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%f1,%f2}, %rd1, %rd2, p, 1, 1, 0, 0": _SHAPE,
}
"""Recorded statements on which ptxas and the table differ, and why."""

PROBES_LEFT = {
    "cp.async.cg.shared.global [%r2],[%rd2],16,32": _OTHER,
    "cp.async.cg.shared.global [%r2],[%rd2],16, %rd7": _OTHER,
    "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [smem],[smem,{0,16}],"
    "[%r3]": _ADDRESS,
    "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [smem],[%rd6+32,{0,16}],"
    "[%r3]": _ADDRESS,
    "tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%r2], 13": _TARGET,
    "tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%r2], 4": _TARGET,
    "st.param.u64 [tm],%rd7": _MODULE,
    "membar.proxy.async": _RELEASE,
    "fence.acquire.gpu": _RELEASE,
    "st.async.mmio.release.gpu.global.u32 [%rd2],%r6": _RELEASE,
    "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [smem],32; "
    "tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r5,32": _PROTOCOL,
    "tcgen05.mma.cta_group::1.kind::f16 [%r5],%rd7,%rd8,%r6,p; "
    "tcgen05.commit.cta_group::2.mbarrier::arrive::one.b64 [%rd4]": _PROTOCOL,
    "setmaxnreg.dec.sync.aligned.u32 200": _PROTOCOL,
    "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r2],32": _MODULE,
    "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r10},[16]": _ADDRESS,
    "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r10},[%rd5]": _ADDRESS,
    "mov.u32 %r5,%cluster_ctarank": _MODULE,
    "mov.u64 %rd7,%perctamemoryoffset": _MODULE,
}
"""Probes on which they differ, and why."""


def _instructions(statements: list[str]) -> tuple[list[Instruction | None], DeclaredNames]:
    """Parse statements, one a line; None where the parser rejects one."""
    source = Source("recorded.ptx", module(statements, _WIDEST))
    parsed = parse_module(source)
    function = parsed.entries[0]
    assert function.body is not None
    broken = {source.position(problem.span.start).line for problem in function.body.problems}
    by_line = {source.position(one.start).line: one for one in function.body.instructions}
    lines = range(FIRST_LINE, FIRST_LINE + len(statements))
    return [None if line in broken else by_line.get(line) for line in lines], DeclaredNames(parsed, function)


@pytest.mark.parametrize("path", _FILES, ids=lambda path: path.stem)
def test_recorded(path: Path) -> None:
    recording = load(path)
    statements = list(recording.verdicts)
    instructions, names = _instructions(statements)
    differ = []
    for statement, instruction in zip(statements, instructions, strict=True):
        always = instruction is None or instruction.operation.problem is not None
        if instruction is not None and not always:
            found = operand_problems(
                instruction.operation, instruction.operands, names.type_of, names.space_of
            )
            always = next(found, None) is not None
        if statement in LEFT:
            continue
        for column, verdict in zip(recording.columns, recording.verdicts[statement], strict=True):
            accepted = not always and instruction is not None and not _missing(instruction, column)
            if verdict != "?" and accepted != (verdict == "y"):
                differ.append(f"{column} {verdict} {statement}")
    assert not differ, "\n".join([str(len(differ)), *differ[:40]])


def _missing(instruction: Instruction, column: Column) -> bool:
    return any(requirement_problems(instruction.operation, column.version, column.target))


def _probes() -> list[tuple[str, str, str, bool]]:
    rows = []
    for line in (DATA / "probes.tsv").read_text().splitlines():
        if not line.startswith("#"):
            _area, _release, target, version, accepted, statements = line.split("\t")
            rows.append((statements, target, version, accepted == "yes"))
    return rows


def test_probes() -> None:
    differ = [
        f"{target} {version} {'accepted' if accepted else 'rejected'}: {statements}"
        for statements, target, version, accepted in _probes()
        if statements not in PROBES_LEFT and any(problems(statements, target, version)) == accepted
    ]
    assert not differ, "\n".join(differ)
