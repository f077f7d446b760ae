"""PTX ISA 9.3, 9.7.9.16, 9.7.9.27, 9.7.14.17: instructions on tensor-map objects.

Operands that analyses ask for: `addr` the tensor map; `ordinal` and `value` of a replaced field; `dst`, `src`
and `size` of the fused copy and fence.
"""

from __future__ import annotations

from ...opcodes.op import Op
from ...opcodes.spec import Trait
from ..row import Row

_TARGETS = "sm_90a|sm_100f|sm_110f|sm_120f|sm_100a|sm_110a|sm_120a"
_REPLACE = frozenset({Trait.STORE})


def _replace(fields: str, width: str, operands: str, value: str, since: str, limits: str = "") -> Row:
    return Row(
        "tensormap.replace",
        Op.TENSORMAP_REPLACE,
        "9.7.9.27",
        (f"tensormap.replace.mode.field({fields}){{.space}}.b1024.type({width}) {operands}",),
        since=since,
        slots={"mode": ".tile", "space": ".global .shared::cta"},
        operands={"ordinal": "imm", "value": value},
        traits=_REPLACE,
        limits={"ordinal": "0..4"} | ({"value": limits} if limits else {}),
    )


ROWS = (
    _replace(".global_address", ".b64", "[addr], value", ".b64", f"8.3+{_TARGETS}"),
    _replace(".rank", ".b32", "[addr], value", ".b32", f"8.3+{_TARGETS}"),
    _replace(
        ".box_dim,.global_dim,.element_stride",
        ".b32",
        "[addr], ordinal, value",
        ".b32",
        f"8.3+{_TARGETS}",
    ),
    _replace(".global_stride", ".b64", "[addr], ordinal, value", ".b64", f"8.3+{_TARGETS}"),
    _replace(".elemtype", ".b32", "[addr], value", "imm", f"8.3+{_TARGETS}", "0..15"),
    _replace(".interleave_layout", ".b32", "[addr], value", "imm", f"8.3+{_TARGETS}", "0..2"),
    _replace(".swizzle_mode", ".b32", "[addr], value", "imm", f"8.3+{_TARGETS}", "0..4"),
    _replace(
        ".swizzle_atomicity",
        ".b32",
        "[addr], value",
        "imm",
        "8.6+sm_100a|sm_110a|sm_120a|sm_100f|sm_110f|sm_120f",
        "0..3",
    ),
    _replace(".fill_mode", ".b32", "[addr], value", "imm", f"8.3+{_TARGETS}", "0..1"),
    Row(
        "tensormap.cp_fenceproxy",
        Op.TENSORMAP_CP_FENCEPROXY,
        "9.7.14.17",
        (
            "tensormap.cp_fenceproxy.dst_space(.global).src_space(.shared::cta).kind.sem.scope.sync.aligned"
            " [dst], [src], size",
        ),
        since="8.3+sm_90",
        slots={"kind": ".tensormap::generic", "sem": ".release", "scope": ".cta .cluster .gpu .sys"},
        operands={"dst": "addr in dst_space", "src": "addr in src_space", "size": "imm"},
        traits=frozenset({Trait.FENCE, Trait.COLLECTIVE, Trait.LOAD, Trait.STORE}),
        limits={"size": "128"},
    ),
    Row(
        "prefetch",
        Op.PREFETCH_TENSORMAP,
        "9.7.9.16",
        ("prefetch{.space}.tensormap [addr]",),
        since="8.0+sm_90",
        slots={"space": ".param .const"},
        traits=frozenset({Trait.TENSORMAP_PROXY_READ}),
    ),
)
