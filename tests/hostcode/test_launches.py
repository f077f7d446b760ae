"""Launches in C++ host code: which kernel, block, cluster and known arguments, and when nothing is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxcheck.hostcode.includes import Includes
from ptxcheck.hostcode.launches import Constant, HostLaunch, launches_in
from ptxcheck.launch import Dim
from ptxcheck.source import Source

KERNELS = """
constexpr int THREADS = 128;
template <int S> __global__ void ring(const float *a, int n, bool b, float f);
__global__ void plain(int *p, unsigned n) {}
"""
ATTRIBUTES = """
cudaLaunchAttribute attrs[2];
attrs[0].id = cudaLaunchAttributeClusterDimension;
attrs[0].val.clusterDim.x = 2;
attrs[0].val.clusterDim.y = 1;
attrs[0].val.clusterDim.z = 1;
attrs[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
attrs[1].val.programmaticStreamSerializationAllowed = 1;
cudaLaunchConfig_t config = {0};
config.blockDim = dim3(8, 8);
config.attrs = attrs;
config.numAttrs = 2;
"""


def found(body: str, before: str = "") -> tuple[HostLaunch, ...]:
    text = f"#include <cuda.h>\n{KERNELS}\n{before}\nvoid run(int n, int *p, void **args) {{\n{body}\n}}\n"
    return launches_in(Source("run.cu", text)).launches


def blocks(body: str, before: str = "") -> list[Dim | None]:
    return [launch.block for launch in found(body, before)]


@pytest.mark.parametrize(
    ("body", "block"),
    [
        ("plain<<<n, 96>>>(p, 1);", (96, 1, 1)),
        ("plain<<<1, THREADS + 32, 0, stream>>>(p, 1);", (160, 1, 1)),
        ("dim3 block(32, 4); plain<<<dim3(n), block>>>(p, 1);", (32, 4, 1)),
        ("dim3 block{32, 4, 2}; plain<<<1, block>>>(p, 1);", (32, 4, 2)),
        ("dim3 block = 64; plain<<<1, block>>>(p, 1);", (64, 1, 1)),
        ("dim3 block; block.x = 32; plain<<<1, block>>>(p, 1);", (32, 1, 1)),
        ("dim3 block(32, 4); block.x = 64; plain<<<1, block>>>(p, 1);", (64, 4, 1)),
        ("auto block = dim3{16, 16}; plain<<<1, block>>>(p, 1);", (16, 16, 1)),
        ("dim3 a(16, 8); dim3 b = a; a.x = 1; plain<<<1, b>>>(p, 1);", (16, 8, 1)),
        ("dim3 a(16, 8); plain<<<1, a.x * a.y>>>(p, 1);", (128, 1, 1)),
        ("plain<<<1, dim3(4, n)>>>(p, 1);", None),
        ("dim3 block(32, 4); change(&block); plain<<<1, block>>>(p, 1);", None),
        ("dim3 block(32, 4); change(block); plain<<<1, block>>>(p, 1);", None),
        ("dim3 block(32, 4); dim3 &same = block; same.x = 1; plain<<<1, block>>>(p, 1);", None),
        ("dim3 block(32, 4); if (n) block.x = n; plain<<<1, block>>>(p, 1);", None),
        ("for (dim3 b(32); n < 9; n++) { plain<<<1, b>>>(p, 1); b.x = n; }", None),
        ("plain<<<1, n>>>(p, 1);", None),
        ("plain<<<1, 4096>>>(p, 1);", None),
        ("cudaLaunchKernel((void *)plain, 1, 64, args, 0, 0);", (64, 1, 1)),
        ("CHECK(cudaLaunchKernel((const void *)&ring<2>, dim3(1), dim3(64, 2), args));", (64, 2, 1)),
        ("cudaLaunchCooperativeKernel((void *)plain, 1, 64, args, 0, 0);", (64, 1, 1)),
        ("CUfunction f; cuModuleGetFunction(&f, m, \"plain\");"
         "cuLaunchKernel(f, n, 1, 1, 320, 1, 1, 0, 0, args, 0);", (320, 1, 1)),
        ("cudaLaunchConfig_t c = {.gridDim = 4, .blockDim = {96, 2}}; cudaLaunchKernelEx(&c, plain, p, 1);",
         (96, 2, 1)),
        ("cudaLaunchConfig_t c{1, 64}; cudaLaunchKernelEx(&c, plain, p, 1);", (64, 1, 1)),
        ("cudaLaunchConfig_t c; c.blockDim.x = 64; c.blockDim.y = 1; c.blockDim.z = 1;"
         "cudaLaunchKernelExC(&c, (void *)plain, args);", (64, 1, 1)),
        ("CUlaunchConfig c = {}; c.blockDimX = 64; c.blockDimY = 2; c.blockDimZ = 1; CUfunction f;"
         "cuModuleGetFunction(&f, m, \"plain\"); cuLaunchKernelEx(&c, f, args, 0);", (64, 2, 1)),
        ("cudaLaunchConfig_t c{1, 64}; change(&c); cudaLaunchKernelEx(&c, plain, p, 1);", None),
        ("cudaLaunchConfig_t c{1, 64}; change(&c.blockDim); cudaLaunchKernelEx(&c, plain, p, 1);", None),
        ("cudaLaunchConfig_t c = made(n); cudaLaunchKernelEx(&c, plain, p, 1);", None),
    ],
)  # fmt: skip
def test_blocks(body: str, block: Dim | None) -> None:
    assert blocks(body) == [block]


def test_a_kernel_by_a_variable_and_its_template_arguments() -> None:
    (launch,) = found(
        "auto kernel = ring<2>; cudaFuncSetAttribute(kernel, attribute, 9); kernel<<<1, 32>>>(0, n, 1, 1);"
    )
    assert (launch.kernel.name, launch.kernel.template_arguments) == ("ring", (2,))
    (launch,) = found("ns::inner::ring<THREADS><<<1, 32>>>(0, n, 1, 1);")
    assert (launch.kernel.scope, launch.kernel.template_arguments) == ("ns::inner", (128,))
    (launch,) = found('CUfunction f; CHECK(cuModuleGetFunction(&f, m, "_Z1kv")); '
                      "cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, 0, args, 0);")  # fmt: skip
    assert (launch.kernel.name, launch.kernel.is_symbol) == ("_Z1kv", True)
    assert found("pick(n)<<<1, 32>>>(p);") == ()
    assert found("void *kernel = pick(n); cudaLaunchKernel(kernel, 1, 32, args);") == ()


def test_callers_say_what_a_function_leaves_open() -> None:
    before = "template <int T> static void launch(dim3 block) { ring<T><<<1, block>>>(0, 8, 1, 1.f); }"
    launches = found("launch<2>(64); launch<3>({16, 2});", before)
    assert [(one.kernel.template_arguments, one.block) for one in launches] == [
        ((2,), (64, 1, 1)),
        ((3,), (16, 2, 1)),
    ]
    assert blocks("", before) == [None]


def test_a_condition_chooses() -> None:
    assert blocks("int t = n > 1 ? 96 : 192; plain<<<1, t>>>(p, 1);") == [(96, 1, 1), (192, 1, 1)]
    assert blocks("int t = 96; if (n > 1) t = 192; plain<<<1, t>>>(p, 1);") == [(192, 1, 1), (96, 1, 1)]
    assert blocks("if (n > 1) plain<<<1, 96>>>(p, 1); else plain<<<1, 192>>>(p, 1);") == [
        (96, 1, 1),
        (192, 1, 1),
    ]
    assert blocks("int t = n > 1 ? 96 : n; plain<<<1, t>>>(p, 1);") == [None]
    assert blocks("int x = n ? 8 : 4, y = n ? 2 : 3; plain<<<1, dim3(x, y)>>>(p, 1);") == [None]


def test_a_loop_is_followed_turn_by_turn() -> None:
    assert blocks("for (int t = 32; t <= 64; t *= 2) plain<<<1, t>>>(p, 9);") == [(32, 1, 1), (64, 1, 1)]
    assert blocks("for (int t = 32; t <= n; t *= 2) plain<<<1, t>>>(p, 9);") == [None]


def test_the_preprocessor_is_not_second_guessed() -> None:
    assert found("#ifdef SMALL\nplain<<<1, 32>>>(p, 1);\n#else\nplain<<<1, 64>>>(p, 1);\n#endif") == ()
    assert blocks("#ifdef SMALL\nint t = 32;\n#else\nint t = 64;\n#endif\nplain<<<1, t>>>(p, 1);") == [None]
    assert found("", "#if SMALL\nvoid other(int *p) { plain<<<1, 32>>>(p, 1); }\n#endif") == ()
    assert blocks("try { plain<<<1, 32>>>(p, 1); } catch (...) {}") == [(32, 1, 1)]


def test_a_guard_of_a_header_decides_nothing() -> None:
    text = (
        f"#ifndef RUN_H\n#define RUN_H\n{KERNELS}\nvoid run(int *p) {{ plain<<<1, 32>>>(p, 1); }}\n#endif\n"
    )
    (launch,) = launches_in(Source("run.cuh", text)).launches
    assert launch.block == (32, 1, 1)


def test_clusters_and_attributes() -> None:
    (launch,) = found(f"{ATTRIBUTES} cudaLaunchKernelEx(&config, ring<3>, p, 7, true, 2.0f);")
    assert (launch.block, launch.cluster, launch.states_cluster) == ((8, 8, 1), (2, 1, 1), True)
    assert launch.is_programmatic
    assert not launch.is_cooperative
    assert launch.origin.startswith("cudaLaunchKernelEx at run.cu:")
    assert launch.origin.endswith("programmatic stream serialization")
    (launch,) = found(f"{ATTRIBUTES} config.numAttrs = 0; cudaLaunchKernelEx(&config, ring<3>, p, 7, 1, 1);")
    assert (launch.cluster, launch.states_cluster) == ((1, 1, 1), False)
    for change in ("config.numAttrs = n;", "attrs[0].val.clusterDim.x = n;", "fill(&attrs[1]);", "fill(attrs);",
                   "attrs[n].id = cudaLaunchAttributeCooperative;", "config.attrs = others;"):  # fmt: skip
        (launch,) = found(f"{ATTRIBUTES} {change} cudaLaunchKernelEx(&config, ring<3>, p, 7, 1, 1);")
        assert (launch.block, launch.cluster) == ((8, 8, 1), None), change


def test_attributes_by_a_pointer_and_by_an_initializer() -> None:
    (launch,) = found(
        "cudaLaunchAttribute a{}; auto *one = &a; one->id = cudaLaunchAttributeCooperative;"
        "one->val.cooperative = 1; cudaLaunchConfig_t c{.blockDim = 32, .attrs = &a, .numAttrs = 1};"
        "cudaLaunchKernelEx(&c, plain, p, 1);"
    )
    assert (launch.is_cooperative, launch.cluster) == (True, (1, 1, 1))
    (launch,) = found(
        "cudaLaunchAttribute a[] = {{.id = cudaLaunchAttributeClusterDimension,"
        ".val = {.clusterDim = {4, 1, 1}}}}; cudaLaunchConfig_t c{1, 32, 0, 0, a, 1};"
        "cudaLaunchKernelEx(&c, plain, p, 1);"
    )
    assert (launch.block, launch.cluster) == ((32, 1, 1), (4, 1, 1))


def test_known_arguments_are_those_that_the_kernel_takes() -> None:
    (launch,) = found("plain<<<1, 32>>>(nullptr, -1);")
    assert launch.constants == (Constant(0, 0, is_pointer=True), Constant(1, 0xFFFFFFFF))
    (launch,) = found("plain<<<1, 32>>>(p, n);")
    assert launch.constants == ()
    before = "__global__ void other(bool b, float f, T t, short s, int &r) {}"
    (launch,) = found("other<<<1, 32>>>(5, 1, 2, 70000, 3);", before)
    assert launch.constants == (Constant(0, 1), Constant(3, 70000 & 0xFFFF))
    overloads = "__global__ void plain(int *p, int n, int m) {}"
    (launch,) = found("plain<<<1, 32>>>(p, 3);", overloads)
    assert launch.constants == ()


def test_a_kernel_is_not_run_as_a_function() -> None:
    before = "__global__ void big(int n) { for (int i = 0; i < n; ++i) plain<<<1, 64>>>(0, 1); }"
    assert blocks("int t = 32; big<<<1, t>>>(n);", before) == [(64, 1, 1), (32, 1, 1)]


def test_a_header_beside_the_source(tmp_path: Path) -> None:
    (tmp_path / "sizes.h").write_text("constexpr int WIDE = 96;\n")
    text = f'#include "sizes.h"\n{KERNELS}\nvoid run(int *p) {{ plain<<<1, WIDE>>>(p, 1); }}\n'
    path = tmp_path / "run.cu"
    path.write_text(text)
    reading = launches_in(Source(str(path), text), Includes(str(path)))
    assert [launch.block for launch in reading.launches] == [(96, 1, 1)]
    assert reading.opened == (str((tmp_path / "sizes.h").resolve()),)


def test_no_launch_is_no_work() -> None:
    assert found("") == ()
    assert launches_in(Source("run.py", "x = 1\n")).launches == ()
