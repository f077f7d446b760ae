"""What the table, the parser and the operand checks together say of a few statements."""

from __future__ import annotations

from collections.abc import Iterator

from ptxcheck.ir import Module
from ptxcheck.isa import requirement_problems
from ptxcheck.isa.operands import operand_problems
from ptxcheck.parser import parse_module
from ptxcheck.protocols.typestate.names import DeclaredNames
from ptxcheck.source import Source

_MODULE = """.version {version}
.target {target}
.address_size 64
.const .align 64 .b8 cmap[128];
.global .align 64 .b8 gmap[128];
.global .align 16 .b8 g1[256];
.visible .entry probe(.param .u64 out, .param .align 64 .b8 tm[128])
{{
.reg .pred p; .reg .pred q; .reg .pred r;
.reg .b16 %h<64>; .reg .b32 %r<320>; .reg .b64 %rd<64>; .reg .f32 %f<320>; .reg .f64 %fd<32>;
.reg .b128 %q<8>; .reg .b128 %bq<8>;
.shared .align 1024 .b8 smem[4096];
.shared .align 8 .b64 bar;
.shared .align 4 .b64 b4;
.shared .b8 b1[16];
{{
{statements}
}}
ret;
}}
"""


def problems(statements: str, target: str, version: str) -> Iterator[str]:
    """Yield every complaint about statements in a kernel of the given target and version."""
    body = statements if statements.endswith(":") else statements + ";"
    text = _MODULE.format(version=version, target=target, statements=body)
    module = parse_module(Source("probe.ptx", text))
    for problem in module.problems:
        yield problem.message
    yield from _in_bodies(module)


def _in_bodies(module: Module) -> Iterator[str]:
    for function in module.functions:
        if function.body is None:
            continue
        for problem in function.body.problems:
            yield problem.message
        names = DeclaredNames(module, function)
        for instruction in function.body.instructions:
            operation = instruction.operation
            if operation.problem is not None:
                yield operation.problem
                continue
            yield from requirement_problems(operation, module.version, module.target)
            yield from operand_problems(operation, instruction.operands, names.type_of, names.space_of)
