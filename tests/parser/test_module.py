"""Modules: directives, declarations, functions, recovery, printing."""

from __future__ import annotations

import pytest

from ptxcheck.ir import (
    Directive,
    FileEntry,
    FunctionKind,
    Label,
    Loc,
    Module,
    Section,
    SourceLine,
    Variable,
)
from ptxcheck.opcodes.target import Target, Version
from ptxcheck.parser import parse_module, show
from ptxcheck.source import Source

HEAD = ".version 9.0\n.target sm_90a\n.address_size 64\n"


def parse(text: str) -> Module:
    return parse_module(Source("test.ptx", text))


def clean(text: str) -> Module:
    """Parse text that has no errors, and hold that printing and parsing again changes nothing."""
    module = parse(HEAD + text)
    assert module.problems == ()
    assert all(not f.body or not f.body.problems for f in module.functions)
    again = parse(show(module))
    assert again.problems == ()
    assert again == module
    return module


def test_header_directives() -> None:
    module = parse("// c\n.version 8.6\n.target sm_100f, debug\n.address_size 64\n")
    assert module.version == Version(8, 6)
    assert module.target == Target(100, "f")
    assert module.targets == ("sm_100f", "debug")
    assert module.address_size == 64


@pytest.mark.parametrize(
    "text",
    [
        ".global .align 4 .b8 tab[8] = {1, 2, 3};",
        ".visible .global .align 16 .v4 .f32 v;",
        ".extern .shared .align 1024 .b8 smem[];",
        ".weak .const .f32 pi = 0f40490FDB;",
        ".common .global .u32 shared_word;",
        ".global .u8 lo = 0xFF(tab);",
        ".global .u8 hi[2] = {0xFF00(generic(tab)+4), 0xFF(tab)};",
        ".global .u64 p[2] = {generic(tab), tab+8};",
        ".global .s32 m[2][3] = {{1, 2}, {-3, 4, 5}};",
        ".global .f32 e = 1.5e3;",
        ".global .attribute(.managed) .align 8 .u64 q[2];",
        ".global .attribute(.unified(19, 95)) .f32 u;",
        ".global .texref t;",
        ".shared .align 8 .b64 a, b[4];",
    ],
)
def test_variables(text: str) -> None:
    module = clean(text)
    assert all(isinstance(item, Variable) for item in module.items)


def test_parameters_and_launch_directives() -> None:
    module = clean(
        ".visible .entry k(.param .u64 .ptr .global .align 16 a, .param .align 64 .b8 map[128])\n"
        ".maxntid 384, 1, 1\n.minnctapersm 1\n.explicitcluster\n.reqnctapercluster 2, 1, 1\n"
        '.pragma "nounroll";\n{ ret; }'
    )
    (kernel,) = module.entries
    assert kernel.attributes[".maxntid"] == (384, 1, 1)
    assert kernel.attributes[".explicitcluster"] == ()
    pointer, descriptor = kernel.parameters
    assert pointer.attributes == (".ptr", ".global", ".align 16")
    assert (descriptor.size, descriptor.align) == (128, 64)


def test_functions_prototypes_aliases_and_calls() -> None:
    module = clean(
        """
        .func (.param .b32 r) f (.param .b32 a, .param .align 8 .b8 v[]) .noreturn;
        .visible .func (.reg .b32 out) g (.reg .b32 in) { mov.b32 out, in; ret; }
        .alias h, g;
        .entry k()
        {
            .reg .b64 %rd<2>; .reg .b32 %r<2>;
            { .param .b32 p0; st.param.b32 [p0], 1; call.uni (p0), f, (p0); }
            proto: .callprototype (.param .b32 _) _ (.param .b64 _) .noreturn;
            targets: .calltargets g, h;
            call (%r1), %rd1, (%r1), proto;
            table: .branchtargets A, B;
            brx.idx %r1, table;
            A: B: ret;
        }
        """
    )
    assert [f.kind for f in module.functions] == [
        FunctionKind.DEVICE,
        FunctionKind.DEVICE,
        FunctionKind.ENTRY,
    ]
    assert module.functions[0].body is None
    body = module.functions[2].body
    assert body is not None
    listed = {d.label: d.names for d in body.directives}
    assert listed["table"] == ("A", "B")
    assert listed["targets"] == ("g", "h")
    assert any(isinstance(item, Directive) and item.names == ("h", "g") for item in module.items)


@pytest.mark.parametrize("space", ["", " ", "\n    "])
def test_labels_with_space_in_front_of_the_colon(space: str) -> None:
    module = clean(
        f"""
        .entry k()
        {{
            .reg .b64 %rd<2>; .reg .b32 %r<2>;
            prototype_0{space}: .callprototype ()_ (.param .b32 _);
            call %rd1, (%r1), prototype_0;
            again{space}: bra again;
        }}
        """
    )
    body = module.functions[0].body
    assert body is not None
    assert not body.problems
    assert [directive.label for directive in body.directives if directive.label] == ["prototype_0"]
    assert [each.name for each in body.statements if isinstance(each, Label)] == ["again"]


def test_locations_files_and_sections() -> None:
    module = clean(
        """
        .file 1 "a b.cu"
        .file 2 "c.h", 1234, 567
        .entry k() {
            .loc 1 3 5
            .loc 2 7 9, function_name $L__info_string0, inlined_at 1 3 5
            .loc 2 8 1, function_name $L__info_string0+4, inlined_at 1 3 5
            ret;
        }
        .section .debug_str
        {
        $L__info_string0:
        .b8 95, 90 , 0
        .b32 .debug_abbrev
        }
        """
    )
    body = module.functions[0].body
    assert body is not None
    locs = [s for s in body.statements if isinstance(s, Loc)]
    assert locs[1].place == SourceLine(2, 7, 9)
    assert locs[1].inlined_at == SourceLine(1, 3, 5)
    assert locs[2].function_offset == 4
    assert body.locs == (locs[2],)
    assert module.files == {1: "a b.cu", 2: "c.h"}
    assert any(isinstance(item, FileEntry) and item.extra == (1234, 567) for item in module.items)
    assert any(isinstance(item, Section) and item.name == ".debug_str" for item in module.items)


def test_loc_may_carry_comments_and_line_breaks() -> None:
    module = clean(
        '.file 1 "x"\n.entry k() {\n.loc 1 2 3 // x.py:2\n.loc\t1\n 4 5\n/* c */ .loc 1 6 7 /* d */\nret;}'
    )
    body = module.functions[0].body
    assert body is not None
    assert [s.place.line for s in body.statements if isinstance(s, Loc)] == [2, 4, 6]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 1),
        ("hello", 1),
        ("\x7fELF\x02", 1),
        (".version 8.0\n.target sm_90\nwhat is this\n.entry k() { ret; }", 3),
        (".version 8.0\n.target sm_90\n.global .b8 x[;\n.entry k() { ret; }", 3),
        (".version 8.0\n.target sm_90\n.entry k(.param x) { ret; }\n.entry j() { ret; }", 3),
        (".version 8.0\n.target sm_90\n.entry k() { ret;", 3),
        (".version 8.0\n.target sm_90\n.global .b32 x = 08;\n", 3),
    ],
)
def test_errors_are_located_and_the_rest_is_read(text: str, line: int) -> None:
    module = parse(text)
    assert module.problems
    assert module.source.position(module.problems[0].span.start).line == line
    if text.count(".entry") and "{ ret; }" in text:
        assert module.entries


def test_non_ascii_is_one_clear_error() -> None:
    module = parse(HEAD + "// größe\n.entry k() { ret; }")
    assert len(module.problems) == 1
    assert "ASCII" in module.problems[0].message


def test_a_character_that_is_no_space_of_ptx_is_a_located_error() -> None:
    module = parse(
        ".version 9.0\n.target sm_90a\n.address_size 64\n" + "\x1c" * 30 + "\n.visible .entry k() { ret; }\n"
    )
    assert module.problems
    assert "x1c" in module.problems[0].message
