"""Random C++ programs that encode tensor maps, for the differential test; a header stands in for the driver."""

from __future__ import annotations

import random

PRELUDE = r"""
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <vector>
typedef uint64_t cuuint64_t; typedef uint32_t cuuint32_t;
struct CUtensorMap { int x; };
typedef int CUresult;
enum CUtensorMapDataType { CU_TENSOR_MAP_DATA_TYPE_UINT8 = 0, CU_TENSOR_MAP_DATA_TYPE_FLOAT16 = 6,
  CU_TENSOR_MAP_DATA_TYPE_FLOAT32 = 7 };
enum CUtensorMapSwizzle { CU_TENSOR_MAP_SWIZZLE_NONE = 0, CU_TENSOR_MAP_SWIZZLE_32B, CU_TENSOR_MAP_SWIZZLE_64B,
  CU_TENSOR_MAP_SWIZZLE_128B };
enum CUtensorMapInterleave { CU_TENSOR_MAP_INTERLEAVE_NONE = 0 };
enum CUtensorMapL2promotion { CU_TENSOR_MAP_L2_PROMOTION_NONE = 0 };
enum CUtensorMapFloatOOBfill { CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE = 0 };
inline CUresult cuTensorMapEncodeTiled(CUtensorMap *, CUtensorMapDataType type, cuuint32_t rank, void *address,
    const cuuint64_t *dims, const cuuint64_t *strides, const cuuint32_t *box, const cuuint32_t *steps,
    CUtensorMapInterleave, CUtensorMapSwizzle swizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
  printf("%llu %d %d %llu %llu %llu %u %u %u %u\n", (unsigned long long)address / 16, (int)type, (int)swizzle,
    (unsigned long long)dims[0], (unsigned long long)dims[1], (unsigned long long)strides[0], box[0], box[1],
    steps[0], steps[1]);
  return (int)rank;
}
inline void outside(int *x) { *x += 7; }
inline void outside_by_reference(int &x) { x ^= 5; }
inline int outside_value(int x) { return x % 5; }
"""

_TYPES = ("int", "int64_t", "uint32_t", "uint64_t", "unsigned", "const int", "auto")


class Writer:
    """Writes one function with parameters (int id, int a, int b, int c)."""

    def __init__(self, rng: random.Random, number: int) -> None:
        self._rng = rng
        self._number = number
        self._fresh = 0
        self._places = 0

    def function(self) -> str:
        """Return its text."""
        names = ["a", "b", "c"]
        body = self._block(names, 3)
        return (
            f"static int f{self._number}(int id, int a, int b, int c) {{\n"
            "  cuuint64_t dims[2] = {64, 64}; cuuint64_t strides[1] = {128};\n"
            "  uint32_t box[2] = {64, 8}; uint32_t steps[2] = {1, 1}; int hits = 0;\n"
            f"{body}  return hits;\n}}\n"
        )

    def _expr(self, names: list[str], depth: int = 2) -> str:
        rng = self._rng
        if depth == 0 or rng.random() < 0.3:
            return rng.choice([*names, *names, str(rng.randrange(0, 40)), "16", "kWidth", "kRows", "LIMIT"])
        x, y = self._expr(names, depth - 1), self._expr(names, depth - 1)
        constant = rng.choice((2, 3, 4, 8, 16, 64))
        return rng.choice(
            (
                f"({x} + {y})",
                f"({x} - {y})",
                f"({x} * {constant})",
                f"({x} / {constant})",
                f"({x} % {constant})",
                f"(({x} & 1023) >> {rng.randrange(4)})",
                f"(({x} & 255) << {rng.randrange(4)})",
                f"({x} & {constant - 1})",
                f"({x} & ~{rng.choice((7, 15))})",
                f"({x} > {y} ? {x} : {constant})",
                f"static_cast<{rng.choice(('uint32_t', 'int64_t', 'uint8_t', 'int'))}>({x})",
                f"std::min<int64_t>({x}, {constant})",
                f"std::max<int64_t>({x}, {constant})",
                f"helper({x}, {constant})",
                f"outside_value((int)({x} % 1000))",
                f"(int)sizeof({rng.choice(('float', 'uint16_t', 'int64_t'))})",
                f"round_up((int)({x} % 1000))",
            )
        )

    def _test(self, names: list[str]) -> str:
        rng = self._rng
        left = rng.choice(names)
        simple = f"{left} {rng.choice(('<', '<=', '>', '>=', '==', '!='))} {rng.randrange(0, 40)}"
        other = f"{rng.choice(names)} % {rng.choice((2, 4, 8))} {rng.choice(('==', '!='))} 0"
        return rng.choice(
            (simple, simple, other, f"{simple} && {other}", f"{simple} || {other}", f"!({simple})")
        )

    def _block(self, names: list[str], depth: int) -> str:
        own = list(names)
        lines = [self._statement(own, depth) for _ in range(self._rng.randrange(2, 6))]
        return "".join(lines)

    def _name(self) -> str:
        self._fresh += 1
        return f"v{self._fresh}"

    def _statement(self, names: list[str], depth: int) -> str:
        rng = self._rng
        kinds = ["declare", "assign", "array", "encode", "encode", "outside", "step", "lambda", "container"]
        kinds += ["if", "guard", "loop", "while", "switch", "shadow", "reference"] if depth else []
        kind = rng.choice(kinds)
        variable = rng.choice(("a", "b", "c"))
        if kind == "declare":
            name = self._name()
            text = f"{rng.choice(_TYPES)} {name} = {self._expr(names)};\n"
            names.append(name)
            return text
        if kind == "assign":
            return f"{variable} {rng.choice(('=', '=', '+='))} (int)(({self._expr(names)}) % 4096);\n"
        if kind == "array":
            target = rng.choice(("dims[0]", "dims[1]", "strides[0]", "box[0]", "box[1]", "steps[1]"))
            value = rng.choice((self._expr(names), "0", "300", "20", f"{rng.choice(names)} * 3"))
            return f"{target} = {value};\n"
        if kind == "encode":
            return self._encode(names)
        if kind == "outside":
            return rng.choice((f"outside(&{variable});\n", f"outside_by_reference({variable});\n"))
        if kind == "step":
            return f"{variable}{rng.choice(('++', '--'))};\n"
        if kind == "lambda":
            name = self._name()
            call = rng.choice((f"{name}();\n", ""))
            return f"auto {name} = [&]() {{ {variable} += 3; return 1; }};\n{call}"
        if kind == "container":
            name = self._name()
            grown = rng.choice(("", f"{name}.push_back({self._expr(names, 1)});\n"))
            made = f"std::vector<uint32_t> {name}{{64, (uint32_t)({self._expr(names, 1)})}};\n"
            return f"{made}{grown}box[1] = {name}[1];\n"
        return self._nested(kind, names, depth, variable)

    def _nested(self, kind: str, names: list[str], depth: int, variable: str) -> str:
        rng = self._rng
        inner = self._block(names, depth - 1)
        if kind == "if":
            other = f" else {{\n{self._block(names, depth - 1)}}}" if rng.random() < 0.5 else ""
            return f"if ({self._test(names)}) {{\n{inner}}}{other}\n"
        if kind == "guard":
            return f"if ({self._test(names)}) return hits;\n"
        if kind == "loop":
            index, turns = self._name(), rng.choice(("3", "2", variable + " % 4"))
            extra = rng.choice(
                ("", "", f"if ({self._test(names)}) break;\n", f"if ({self._test(names)}) continue;\n")
            )
            return f"for (int {index} = 0; {index} < {turns}; ++{index}) {{\n{extra}{inner}}}\n"
        if kind == "while":
            index = self._name()
            return f"int {index} = {variable} & 3;\nwhile ({index} > 0) {{\n{inner}--{index};\n}}\n"
        if kind == "switch":
            cases = "".join(
                f"case {label}: {{\n{self._block(names, depth - 1)}}}\n{rng.choice(('break;', ''))}\n"
                for label in rng.sample(range(6), 2)
            )
            return f"switch ({variable}) {{\n{cases}default: {{\n{inner}}}\n}}\n"
        if kind == "shadow":
            return f"{{\nint {variable} = {rng.randrange(30)};\n{inner}}}\n"
        return f"{{\nint &r = {variable};\nr += 2;\n{inner}}}\n"

    def _encode(self, names: list[str]) -> str:
        rng = self._rng
        self._places += 1
        place = (self._number * 256 + self._places) * 65536
        kind = rng.choice(("CU_TENSOR_MAP_DATA_TYPE_FLOAT16", "CU_TENSOR_MAP_DATA_TYPE_UINT8"))
        swizzle = rng.choice(
            (
                "CU_TENSOR_MAP_SWIZZLE_128B",
                "CU_TENSOR_MAP_SWIZZLE_NONE",
                f"({self._test(names)}) ? CU_TENSOR_MAP_SWIZZLE_64B : CU_TENSOR_MAP_SWIZZLE_32B",
            )
        )
        return (
            "{ CUtensorMap map; ++hits; cuTensorMapEncodeTiled(&map, "
            f"{kind}, 2, reinterpret_cast<void *>(static_cast<uint64_t>(id + {place}) * 16), "
            "dims, strides, box, steps, "
            f"CU_TENSOR_MAP_INTERLEAVE_NONE, {swizzle}, CU_TENSOR_MAP_L2_PROMOTION_NONE, "
            "CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE); }\n"
        )


def program(seed: int, functions: int, calls: int) -> str:
    """Return a program that calls each function several times, each time with a number of its own."""
    rng = random.Random(seed)
    parts = [
        '#include "prelude.h"',
        "#define LIMIT 24",
        "constexpr int kWidth = 64;",
        "enum Rows { kFew = 3, kRows };",
        "static int helper(int64_t x, int y) { if (x > 100) return y; return (int)(x % 7) + y; }",
        "static int round_up(int x) { for (int i = 0; i < 2; ++i) x += 3; return (x + 15) / 16 * 16; }",
        *(Writer(rng, number).function() for number in range(functions)),
    ]
    number = 1
    for function in range(functions):
        for _ in range(calls):
            given = ", ".join(
                str(rng.choice((0, 1, 2, 3, 7, 8, 16, 33, 64, rng.randrange(300)))) for _ in "abc"
            )
            parts.append(f"void call{number}() {{ f{function}({number}, {given}); }}")
            number += 1
    calls_of_all = "".join(f" call{one}();" for one in range(1, number))
    return "\n".join([*parts, f"int main() {{{calls_of_all} return 0; }}", ""])
