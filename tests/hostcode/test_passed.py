"""Maps that host code encodes and passes to kernels: which parameter gets which map, and when nothing is said."""

from __future__ import annotations

from ptxcheck.descriptors.tensor_map import TiledMap
from ptxcheck.hostcode.passed import PassedMap, passed_maps
from ptxcheck.launches.host_maps import passed_hints
from ptxcheck.parser import parse_module
from ptxcheck.source import Source

ENCODE = """
  cuuint64_t sizes[2] = {1024, rows};
  cuuint64_t strides[1] = {2048};
  cuuint32_t box[2] = {64, 32};
  cuuint32_t steps[2] = {1, 1};
  cuTensorMapEncodeTiled(&%s, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, source, sizes, strides, box, steps,
      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
"""


def found(body: str, before: str = "") -> tuple[PassedMap, ...]:
    text = f"#include <cuda.h>\n{before}\nvoid run(void *source, unsigned rows, int n) {{\n{body}\n}}\n"
    return passed_maps(Source("run.cu", text))


def test_a_launch() -> None:
    (passed,) = found(f"CUtensorMap map;\n{ENCODE % 'map'}\nload<<<n, 128>>>(n, map);")
    assert (passed.kernel, passed.position, passed.variable) == ("load", 1, "map")
    assert isinstance(passed.tensor_map, TiledMap)
    assert passed.tensor_map.box_dim == (64, 32)


def test_a_launch_by_function() -> None:
    (passed,) = found(f"CUtensorMap map;\n{ENCODE % 'map'}\ncudaLaunchKernelEx(&config, load, n, map);")
    assert (passed.kernel, passed.position) == ("load", 1)


def test_a_map_that_others_may_change() -> None:
    assert found(f"CUtensorMap map;\n{ENCODE % 'map'}\nadjust(&map);\nload<<<n, 128>>>(map);") == ()
    assert found(f"CUtensorMap map;\n{ENCODE % 'map'}\nmap = other;\nload<<<n, 128>>>(map);") == ()


def test_a_box_that_is_not_known() -> None:
    unknown = (ENCODE % "map").replace("{64, 32}", "{64, rows}")
    assert found(f"CUtensorMap map;\n{unknown}\nload<<<n, 128>>>(map);") == ()


def test_two_launches_with_different_maps() -> None:
    one = f"{{ CUtensorMap a; {ENCODE % 'a'} load<<<n, 128>>>(a); }}"
    two = (
        one.replace("{64, 32}", "{64, 16}")
        .replace("&a", "&b")
        .replace("map a;", "map b;")
        .replace("(a)", "(b)")
    )
    assert len(found(one)) == 1
    assert found(one + two) == ()


def test_hints_name_the_kernel_and_its_parameter() -> None:
    header = ".version 8.6\n.target sm_90a\n.address_size 64\n"
    entry = ".visible .entry {}(.param .u32 a, .param .align 64 .b8 b[128]) {{ ret; }}\n"
    body = f"CUtensorMap m; {ENCODE % 'm'} load<<<n, 1>>>(n, m);"
    text = f"#include <cuda.h>\nvoid run(void *source, unsigned rows, int n) {{ {body} }}"
    host = Source("run.cu", text)

    def names(*entries: str) -> list[tuple[str, str]]:
        module = parse_module(Source("run.ptx", header + "".join(entry.format(name) for name in entries)))
        return [(hint.kernel, hint.tensor_maps[0][0]) for hint in passed_hints(module, host)]

    assert names("_Z4loadi14CUtensorMap_st") == [("_Z4loadi14CUtensorMap_st", "param_1")]
    assert names("load", "_Z7preloadi") == [("load", "param_1")]
    assert names("_ZN2ns4loadILi4EEEvi14CUtensorMap_st", "_ZN2ns4loadILi8EEEvi14CUtensorMap_st") == []
    assert passed_hints(parse_module(Source("run.ptx", header)), None) == ()
