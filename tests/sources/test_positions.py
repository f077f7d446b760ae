from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from ptxcheck.parser import parse_module
from ptxcheck.source import Source
from ptxcheck.sources.demangled_names import short_name, template_numbers
from ptxcheck.sources.positions import (
    MAX_FRAMES,
    Library,
    Locator,
    debug_strings,
)
from tests.fakes import HEADER, LOCATED


def locator(text: str, library: Library | None = None) -> Locator:
    return Locator(parse_module(Source("k.ptx", text)), library or Library())


def places(made: Locator, point: int) -> list[tuple[str, int]]:
    frames = made.frames(made.module.functions[0], point)
    return [(frame.position.file.rsplit("/", 1)[-1], frame.position.line) for frame in frames]


def kernel(lines: str) -> str:
    return f'{HEADER}.visible .entry k()\n{{\n{lines}\n  ret;\n}}\n.file 1 "a.cu"\n.file 2 "b.cu"\n'


def test_frame_outside_the_library_is_shown() -> None:
    made = locator(LOCATED.replace("{cu}", "a.cu"))
    location = made.location(made.module.functions[0], 0)
    assert location.ptx == ("k.ptx", 9, 3)
    assert location.shown == ("a.cu", 10, 3)
    inner, outer = location.frames
    assert (inner.function, outer.function) == ("_ZN2ns5twiceEj", "_Z4kernPj")
    assert made.location(made.module.functions[0], 1).shown == ("a.cu", 12, 3)


def test_all_frames_in_a_library_show_the_innermost() -> None:
    made = locator(LOCATED.replace("{cu}", "/opt/cutlass/include/cutlass/device_kernel.h"))
    location = made.location(made.module.functions[0], 0)
    assert location.shown == location.frames[0].position


def test_no_line_information() -> None:
    made = locator(kernel("  bar.sync 0;"))
    location = made.location(made.module.functions[0], 0)
    assert (location.shown, location.frames) == (None, ())
    assert location.primary == ("k.ptx", 6, 3)


def test_caller_is_the_latest_loc_at_the_call() -> None:
    text = """  .loc 1 1 1
  .loc 1 5 1, function_name f, inlined_at 1 1 1
  .loc 2 9 1, function_name g, inlined_at 1 5 1
  bar.sync 0;
  .loc 1 2 1
  .loc 1 5 1, function_name f, inlined_at 1 2 1
  .loc 2 9 1, function_name g, inlined_at 1 5 1
  bar.sync 0;"""
    made = locator(kernel(text))
    assert places(made, 0) == [("b.cu", 9), ("a.cu", 5), ("a.cu", 1)]
    assert places(made, 1) == [("b.cu", 9), ("a.cu", 5), ("a.cu", 2)]


def test_call_that_appears_only_later_or_never() -> None:
    text = """  .loc 2 9 1, function_name g, inlined_at 1 5 1
  bar.sync 0;
  .loc 2 7 1, function_name g, inlined_at 1 77 1
  bar.sync 0;
  .loc 1 5 1, function_name f, inlined_at 1 1 1
  bar.sync 0;"""
    made = locator(kernel(text))
    assert places(made, 0) == [("b.cu", 9), ("a.cu", 5), ("a.cu", 1)]
    assert places(made, 1) == [("b.cu", 7), ("a.cu", 77)]


def test_line_zero_keeps_the_line_before() -> None:
    made = locator(kernel("  .loc 1 4 1\n  bar.sync 0;\n  .loc 1 0 1\n  bar.sync 0;"))
    assert places(made, 1) == [("a.cu", 4)]


def test_chain_that_names_itself_is_cut() -> None:
    made = locator(kernel("  .loc 1 4 1, function_name f, inlined_at 1 4 1\n" * 200 + "  bar.sync 0;"))
    assert len(places(made, 0)) == MAX_FRAMES


def test_file_that_is_not_declared() -> None:
    made = locator(kernel("  .loc 7 4 1\n  bar.sync 0;"))
    assert places(made, 0) == [("<file 7>", 4)]


@pytest.mark.parametrize(
    ("path", "owned"),
    [
        ("/usr/local/cuda-13.0/include/cccl/cuda/barrier", True),
        ("/usr/local/cuda-13.0/bin/../targets/x86_64-linux/include/crt/sm_90_rt.hpp", True),
        ("/v/lib/python3.11/site-packages/nvidia/cu13/include/cuda_bf16.hpp", True),
        ("/src/cutlass/include/cute/arch/copy_sm90.hpp", True),
        ("/src/cutlass/examples/48_hopper/48.cu", False),
        ("/v/lib/python3.11/site-packages/triton/language/standard.py", True),
        ("/v/lib/site-packages/tilelang/3rdparty/../src/tl_templates/cuda/instruction/../common.h", True),
        ("/v/lib/site-packages/tilelang/3rdparty/cutlass/include/cute/arch/mma_sm90_gmma.hpp", True),
        ("/home/me/cuda/kernel.cu", False),
        ("include/cute_like/x.h", False),
        ("kernel.cu", False),
        ("third/libcudacxx/include/cuda/ptx", True),
    ],
)
def test_default_libraries(path: str, owned: bool) -> None:
    assert Library().owns(path) is owned


def test_configured_libraries() -> None:
    library = Library(("/opt/mine", "vendor/*/gen"))
    assert library.owns("/opt/mine/x.h")
    assert not library.owns("/a/opt/mine/x.h")
    assert library.owns("src/vendor/one/gen/k.h")
    assert not library.owns("src/vendor/one/two/gen/k.h")
    assert not Library(()).owns("include/cute/x.h")


def test_debug_strings() -> None:
    module = parse_module(Source("k.ptx", LOCATED))
    assert debug_strings(module) == {"$L__info_string0": "_ZN2ns5twiceEj"}


@pytest.mark.parametrize(
    ("mangled", "short"),
    [
        ("plain", "plain"),
        ("_Z4kernPj", "kern"),
        ("_ZN2ns7add_oneIjEET_S1_", "ns::add_one"),
        ("_ZN4cuda3__47barrierILNS_3std3__412thread_scopeE2ENS3_18__empty_completionEE15arrive_and_waitEv",
         "cuda::barrier::arrive_and_wait"),
        ("_ZNK4cuda3std3__413__duration_ltclERKS7_", "_ZNK4cuda3std3__413__duration_ltclERKS7_"),
        ("_Z", "_Z"),
        ("_ZN", "_ZN"),
        ("_ZN99xE", "_ZN99xE"),
        ("_ZN2nsI", "_ZN2nsI"),
    ],
)  # fmt: skip
def test_short_names(mangled: str, short: str) -> None:
    assert short_name(mangled) == short


@pytest.mark.parametrize(
    ("mangled", "numbers"),
    [
        ("_Z4ringILi2ELb1EfLj7EEvi", (2, 1, None, 7)),
        ("_ZN2ns4loadILi4EEEvi14CUtensorMap_st", (4,)),
        ("_Z1kIN2ns1TILi3EEEPK6__halfLin3EEvv", (None, None, -3)),
        ("_Z1ki", None),
        ("k", None),
    ],
)
def test_numbers_among_template_arguments(mangled: str, numbers: object) -> None:
    assert template_numbers(mangled) == numbers


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc")
def test_real_inline_chain(tmp_path: Path) -> None:
    cu = tmp_path / "t.cu"
    cu.write_text(
        "__device__ __forceinline__ void leaf(int *p) {\n  atomicAdd(p, 1);\n}\n"
        "__device__ __forceinline__ void middle(int *p) {\n  leaf(p);\n}\n"
        "__global__ void kern(int *p) {\n  middle(p);\n  middle(p + 1);\n}\n"
    )
    subprocess.run(
        ["nvcc", "-ptx", "-lineinfo", "-arch=sm_90a", "-o", str(tmp_path / "t.ptx"), str(cu)], check=True
    )
    made = locator((tmp_path / "t.ptx").read_text())
    (function,) = made.module.entries
    assert function.body is not None
    atomics = [p for p, i in enumerate(function.body.instructions) if i.operation.text.startswith("atom")]
    locations = [made.location(function, point) for point in atomics]
    assert [location.shown and location.shown.line for location in locations] == [2, 2]
    assert [[frame.position.line for frame in x.frames][-3:] for x in locations] == [[2, 5, 8], [2, 5, 9]]
