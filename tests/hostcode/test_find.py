"""What is read from host code, and what must stay unknown: each row is a way to get a value wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

import ptxcheck
from ptxcheck.config import Config
from ptxcheck.frontends.discover import InputKind, discover
from ptxcheck.hostcode.encode import Broken
from ptxcheck.hostcode.find import encodes_in, issues_in
from ptxcheck.hostcode.values import Array, Integer
from ptxcheck.results import exit_code
from ptxcheck.source import Source

CALL = """cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, data, dims, strides, box, steps,
  CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);"""


def program(rows: str, *, before: str = "", top: str = "", parameters: str = "int n") -> Source:
    """Return a function whose box has `rows` rows."""
    text = f"""
{top}
void encode(void *data, {parameters}) {{
  cuuint64_t dims[2] = {{64, 4096}}, strides[1] = {{128}};
  cuuint32_t steps[2] = {{1, 1}};
  {before}
  cuuint32_t box[2] = {{64, (cuuint32_t)({rows})}};
  CUtensorMap map;
  {CALL}
}}
"""
    return Source("p.cpp", text)


def rows_of(source: Source) -> list[int | None]:
    """Return the rows of the box at each encode call, None where they are unknown."""
    found: list[int | None] = []
    for encode in encodes_in(source):
        box = encode.arguments[6]
        row = box.items[1] if isinstance(box, Array) and len(box.items) > 1 else None
        found.append(row.constant if isinstance(row, Integer) else None)
    return found


KNOWN = [
    ("constexpr", "kRows", "", "constexpr int kRows = 8 * 4;", 32),
    ("macro", "ROWS", "", "#define ROWS (4 << 3)  // rows", 32),
    ("enumeration", "kC", "", "enum Sizes { kA = 7, kB, kC };", 9),
    ("class constant", "Tile::kRows", "", "struct Tile { static constexpr int kRows = 24; };", 24),
    ("sizeof", "sizeof(T) * 3", "", "using T = __nv_bfloat16;", 6),
    ("function", "twice(11)", "", "static int twice(int x) { return x * 2; }", 22),
    ("early return", "pick(64)", "", "static int pick(int x) { if (x > 32) return 32; return x; }", 32),
    ("recursion of templates", "rows<5>()", "", "template <int N> int rows() { return N + 1; }", 6),
    ("loop", "sum", "int sum = 0; for (int i = 0; i < 4; ++i) sum += i;", "", 6),
    ("ternary", "kBig ? 4 : 5", "", "constexpr bool kBig = false;", 5),
    ("wrap", "(uint32_t)-1 / 65536 / 256", "", "", 255),
    ("minimum", "std::min(300, 256)", "", "", 256),
    ("vector", "v[1]", "std::vector<int> v{1, 2, 3};", "", 2),
    ("array", "v.size()", "std::array<int, 5> v{};", "", 5),
]


@pytest.mark.parametrize(
    ("rows", "before", "top", "value"), [row[1:] for row in KNOWN], ids=[r[0] for r in KNOWN]
)
def test_known(rows: str, before: str, top: str, value: int) -> None:
    assert rows_of(program(rows, before=before, top=top)) == [value]


UNKNOWN = [
    ("parameter", "n", "", ""),
    ("changed by a function", "x", "int x = 0; configure(&x);", ""),
    ("changed by reference", "x", "int x = 0; configure(x);", ""),
    ("changed by an alias", "x", "int x = 0; int &y = x; y = n;", ""),
    ("changed by a lambda", "x", "int x = 0; auto f = [&]() { x = 9; }; run(f);", ""),
    ("changed in a loop", "x", "int x = 0; while (n > x) x += 3;", ""),
    ("changed in a branch", "x", "int x = 0; if (n) x = n;", ""),
    ("macro that a build may set", "ROWS", "", "#ifndef ROWS\n#define ROWS 0\n#endif"),
    ("macro with two values", "ROWS", "", "#ifdef A\n#define ROWS 0\n#else\n#define ROWS 8\n#endif"),
    ("variable of the program", "rows", "", "int rows = 0;"),
    (
        "two of a name",
        "T::kRows",
        "",
        "struct A { static constexpr int kRows = 0; }; struct B { static constexpr int kRows = 8; };",
    ),
    ("streamed", "x", "int x = 0; std::cin >> x;", ""),
    ("array by pointer", "v[0]", "int v[1] = {0}; int *p = v; p[0] = n;", ""),
    ("member through a pointer", "p.rows", "P p; p.rows = 0; P *q = &p; q->rows = n;", ""),
    ("member by reference", "p.rows", "P p; p.rows = 0; set(p);", "static void set(P &p) { p.rows = 8; }"),
    ("member of a hidden variable", "p.rows", "P p; p.rows = n; { P p; p.rows = 0; }", ""),
    ("exception", "x", "int x = 0; try { x = f(); } catch (...) { x = 8; }", ""),
]


@pytest.mark.parametrize(("rows", "before", "top"), [row[1:] for row in UNKNOWN], ids=[r[0] for r in UNKNOWN])
def test_unknown_values_are_no_finding(rows: str, before: str, top: str) -> None:
    source = program(rows, before=before, top=top)
    assert rows_of(source) == [None]
    assert issues_in(source) == []


@pytest.mark.parametrize(
    ("before", "rows"),
    [
        ("if (n > 256) return;", "n + 300"),
        ("int x = n; { int x = 4; } ", "x"),
        ("int x = 8; { int x = 0; run(x); }", "x"),
        ("int x = 0; if (kSmall) x = 8; else x = 16;", "x"),
        ("switch (n) { case 1: return; default: break; }", "n"),
    ],
)
def test_correct_code_is_silent(before: str, rows: str) -> None:
    found = issues_in(program(rows, before=before))
    assert [one for one in found if "+ 300" not in rows] == []


def test_what_is_never_reached_is_not_judged() -> None:
    source = program("kRows", before="if (kRows > 256) return;", top="constexpr int kRows = 512;")
    assert issues_in(source) == []


def test_a_guard_makes_a_condition_hold() -> None:
    guarded = program("n", before="if (n < 1 || n > 256) return;")
    possible = issues_in(guarded, possible=True)
    assert "box-range" not in {one.fault.constraint.id for one in possible if isinstance(one.fault, Broken)}
    unguarded = issues_in(program("n"), possible=True)
    broken = [one.fault for one in unguarded if isinstance(one.fault, Broken)]
    assert [
        one.condition.replace(" % 4294967296", "")
        for one in broken
        if one.index == 1 and one.condition and one.constraint.id == "box-range"
    ] == ["1 <= n <= 256"]


def test_platforms_that_accept_make_no_finding() -> None:
    text = program("8").text.replace("SWIZZLE_128B,", "SWIZZLE_128B_ATOM_32B,")
    assert issues_in(Source("p.cpp", text)) == []
    report = ptxcheck.check(Source("p.cpp", "// ptxcheck: arch sm_90a\n" + text))
    assert [finding.rule for finding in report.findings] == ["TD001"]


@pytest.mark.parametrize(
    "callee",
    [
        "reinterpret_cast<PFN_cuTensorMapEncodeTiled>(address)",
        "get_cuTensorMapEncodeTiled()",
        "CUTLASS_CUDA_DRIVER_WRAPPER_CALL(cuTensorMapEncodeTiled)",
        "&cuTensorMapEncodeTiled",
        "(PFN_cuTensorMapEncodeTiled_v12000)dlsym(library, name)",
    ],
)
def test_entry_points(callee: str) -> None:
    text = program("0", before=f"auto entry = {callee};").text.replace(
        "cuTensorMapEncodeTiled(&map", "entry(&map"
    )
    assert [one.argument for one in issues_in(Source("p.cpp", text))] == ["boxDim"]


def test_suppression_and_possible(tmp_path: Path) -> None:
    text = program("0").text
    assert [f.rule for f in ptxcheck.check(Source("p.cpp", text)).findings] == ["TD008"]
    ignored = text.replace("data, dims", "data,  // ptxcheck: ignore[TD008] a test of the driver\n dims", 1)
    (position,) = [f.location.primary.line for f in ptxcheck.check(Source("p.cpp", ignored)).findings]
    silent = text.replace(
        "cuTensorMapEncodeTiled(&map",
        "// ptxcheck: ignore[TD008] a test of the driver\n  cuTensorMapEncodeTiled(&map",
    )
    report = ptxcheck.check(Source("p.cpp", silent))
    assert (report.active, len(report.suppressed), report.notes) == ((), 1, ())
    assert position > 1
    assert ptxcheck.check(Source("p.cpp", program("n").text)).findings == ()
    assert ptxcheck.check(Source("p.cpp", program("n").text), config=Config(possible=True)).findings


def test_folders_take_only_files_that_encode(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text(program("8").text)
    (tmp_path / "b.cpp").write_text("int main() { return 0; }\n")
    (tmp_path / "c.py").write_text("import os\n")
    found, problems = discover([str(tmp_path)])
    assert [(Path(one.path).name, one.kind) for one in found] == [("a.cpp", InputKind.HOST)]
    assert problems == ()
    _, problems = discover([str(tmp_path / "b.cpp")])
    assert "this one encodes none" in problems[0].message


def test_cuda_sources_are_checked_without_a_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "k.cu"
    path.write_text(program("0").text)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("ptxcheck.frontends.cuda._wheel_folders", list)
    report = ptxcheck.check(str(path))
    assert [finding.rule for finding in report.findings] == ["TD008"]
    assert [problem.kind.value for problem in report.problems] == ["compiler"]


@pytest.mark.parametrize(
    "text",
    [
        "cuTensorMapEncodeTiled(",
        "}}} cuTensorMapEncodeTiled (((",
        "\0cuTensorMapEncodeTiled",
        "const int x = " + "(" * 5000 + "1" + ")" * 5000 + "; void f() { cuTensorMapEncodeTiled(x); }",
        "void f() { int x = " + "1 + " * 5000 + "1; cuTensorMapEncodeTiled(x); }",
        "int é = 1; // cuTensorMapEncodeTiled ü",
    ],
)
def test_bad_text_is_no_crash(text: str) -> None:
    for name in ("p.cpp", "p.py"):
        assert ptxcheck.check(Source(name, text)).problems == ()


PYTHON = """
from cuda.bindings import driver
def encode(pointer, rows=300, swizzle=3):
    return driver.cuTensorMapEncodeTiled(driver.CUtensorMapDataType.CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, pointer,
        [64, 4096], {rest})
"""
BY_NAME = """elementStrides=[1, 1], boxDim=[64, rows], globalStrides=[128], swizzle=swizzle, l2Promotion=0, oobFill=0,
        interleave=driver.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE"""


@pytest.mark.parametrize(
    ("call", "rows"),
    [
        ("encode(0, 8)", 8),
        ("encode(0, swizzle=2, rows=16)", 16),
        ("encode(rows=32, pointer=0)", 32),
        ("encode(0, **options)", None),
        ("encode(0, *more)", None),
    ],
)
def test_arguments_by_name(call: str, rows: int | None) -> None:
    text = PYTHON.format(rest=BY_NAME) + f"def run(options, more):\n    return {call}\n"
    source = Source("p.py", text)
    found = [encode for encode in encodes_in(source) if len(encode.frames) > 1]
    (box,) = [encode.arguments[5] for encode in found]
    assert isinstance(box, Array)
    given = box.items[1]
    assert (given.constant if isinstance(given, Integer) else None) == rows


@pytest.mark.parametrize(
    "rest", [BY_NAME.replace("boxDim", "box"), BY_NAME + ", **options", BY_NAME + ", boxDim=0"]
)
def test_arguments_that_fit_no_parameter(rest: str) -> None:
    source = Source("p.py", PYTHON.format(rest=rest) + "encode(0, 300)\n")
    assert issues_in(source) == []


def test_what_is_given_up_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    source = program("0")
    assert ptxcheck.check(source).notes == ()
    monkeypatch.setattr("ptxcheck.hostcode.machine.MOST_WORK", 5)
    report = ptxcheck.check(source)
    assert [(note.kind.value, note.kernel) for note in report.notes] == [("host-code-given-up", "encode")]
    assert report.findings == ()
    assert (exit_code(report), exit_code(report, strict=True)) == (0, 3)


def test_functions_beyond_the_work_of_a_file_are_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    text = program("8").text
    monkeypatch.setattr("ptxcheck.hostcode.interpret.MOST_WORK_OF_A_FILE", 5)
    report = ptxcheck.check(Source("p.cpp", text + text.replace("encode(", "other(").replace("map;", "map;")))
    assert [note.kernel for note in report.notes] == ["other"]


def test_a_file_that_cannot_be_parsed_is_noted() -> None:
    report = ptxcheck.check(Source("p.py", "cuTensorMapEncodeTiled(("))
    assert [note.kind.value for note in report.notes] == ["host-code-given-up"]
