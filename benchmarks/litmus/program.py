"""The PTX of a variant: roles and steps of its row, with a prologue that all rows share."""

from __future__ import annotations

import hashlib
import re
from itertools import count

from .fragments import FRAGMENTS
from .litmus_test import HOPPER, Litmus, Role, Variant

PATTERNS = 64
"""Rounds after which the values repeat."""
PATTERN_BYTES = 8192
OPERANDS = PATTERNS * PATTERN_BYTES
"""Where, behind the patterns, the tiles of ones and of twos (f16) begin."""
LOADED_FROM = OPERANDS + 2 * PATTERN_BYTES
"""Bytes of the source."""

_REGISTERS = """
    .reg .pred p, leads, first_lane, first_warp, second_warp, multiplies, other_warp, upper, odd, wrong, ready, busy;
    .reg .pred first_cta, origin, even_cta, odd_cta, even_leads, not_first, later, even, at_end;
    .reg .b32 thread, lane, warp, cta, rank, peer, round, rounds, launch, parity, parity_before, value, garbage, half, \
one;
    .reg .b32 late_a, late_b, salt, lane_salt, own, other, landing, other_landing, word, previous, b_tile, tile, full, \
empty, a_own, wrongs, i, at;
    .reg .b32 t<3>, w<4>, peer_own, peer_other, peer_landing, peer_full, peer_empty;
    .reg .b16 both;
    .reg .b64 out, source, data, region, mine, theirs, peer_theirs, from, operands, pattern, half_pattern, addr, \
a_desc, b_desc, total;
    .reg .f32 c<32>, sum, product;
"""
_TENSOR_REGISTERS = """
    .reg .b32 column, quarter;
"""
_PROLOGUE = """
    ld.param.u64 out, [p_out];
    ld.param.u64 source, [p_source];
    ld.param.u64 data, [p_data];
    ld.param.u32 rounds, [p_rounds];
    ld.param.u32 launch, [p_launch];
    ld.param.u32 late_a, [p_late_a];
    ld.param.u32 late_b, [p_late_b];
    mov.u32 thread, %tid.x;
    mov.u32 cta, %ctaid.x;
    mov.u32 rank, %cluster_ctarank;
    and.b32 lane, thread, 31;
    shr.u32 warp, thread, 5;
    setp.eq.u32 leads, thread, 0;
    setp.eq.u32 other_warp, thread, 32;
    setp.eq.u32 first_lane, lane, 0;
    setp.eq.u32 first_warp, warp, 0;
    setp.eq.u32 second_warp, warp, 1;
    setp.lt.u32 multiplies, warp, 4;
    setp.ge.u32 upper, lane, 16;
    and.b32 i, thread, 1;
    setp.ne.u32 odd, i, 0;
    and.b32 i, cta, 1;
    setp.ne.u32 odd_cta, i, 0;
    setp.eq.u32 even_cta, i, 0;
    setp.eq.and.u32 even_leads, i, 0, leads;
    setp.eq.u32 first_cta, rank, 0;
    setp.eq.and.u32 origin, rank, 0, leads;
    setp.ne.u32 later, launch, 0;
    mov.u32 round, launch;
    mad.lo.u32 salt, cta, 31, warp;
    mul.lo.u32 salt, salt, 0x85EBCA6B;
    mad.lo.u32 lane_salt, thread, 0xC2B2AE35, salt;
    mov.u32 one, 0x3c003c00;
    mov.u16 both, 3;
    mov.u32 tile, tiles;
    shl.b32 at, thread, 4;
    add.u32 own, tile, at;
    xor.b32 i, at, $P;
    add.u32 other, tile, i;
    add.u32 landing, tile, $L;
    add.u32 other_landing, other, $L;
    shl.b32 word, lane, 2;
    add.u32 word, word, tile;
    mov.u32 b_tile, tile;
    add.u32 a_own, own, 2048;
    mov.u32 full, full_barrier;
    mov.u32 empty, empty_barrier;
    mul.wide.u32 region, cta, $R;
    add.u64 region, region, data;
    cvt.u64.u32 addr, at;
    add.u64 mine, region, addr;
    cvt.u64.u32 addr, i;
    add.u64 theirs, region, addr;
    xor.b32 peer, cta, 1;
    mul.wide.u32 peer_theirs, peer, $R;
    add.u64 peer_theirs, peer_theirs, data;
    add.u64 peer_theirs, peer_theirs, addr;
    shr.u32 i, tile, 4;
    and.b32 i, i, 16383;
    cvt.u64.u32 b_desc, i;
    or.b64 b_desc, b_desc, 0x0000001000080000;
    add.u64 a_desc, b_desc, 128;
    xor.b32 peer, rank, 1;
    mov.u32 wrongs, 0;
"""
_PEERS = """
    mapa.shared::cluster.u32 peer_own, own, peer;
    mapa.shared::cluster.u32 peer_other, other, peer;
    mapa.shared::cluster.u32 peer_landing, landing, peer;
    mapa.shared::cluster.u32 peer_full, full, peer;
    mapa.shared::cluster.u32 peer_empty, empty, peer;
"""
_ROUND = """
    and.b32 parity, round, 1;
    xor.b32 parity_before, parity, 1;
    and.b32 value, round, 63;
    setp.ne.u32 not_first, round, 0;
    xor.b32 garbage, value, 0x5500;
    setp.eq.u32 even, parity, 0;
    selp.b32 half, 0x3c003c00, 0x40004000, even;
    selp.f32 product, 0f44000000, 0f44800000, even;
    mul.wide.u32 from, value, 8192;
    add.u64 from, from, source;
    cvt.u64.u32 addr, at;
    add.u64 pattern, from, addr;
    mul.wide.u32 operands, parity, 8192;
    add.u64 operands, operands, source;
    add.u64 operands, operands, 524288;
    add.u64 half_pattern, operands, addr;
"""
_LAUNCH = """
    shr.u32 i, cta, 1;
    shl.b32 value, launch, 16;
    or.b32 value, value, i;
    sub.u32 previous, value, 65536;
"""


def kernel_name(litmus: Litmus, variant: Variant) -> str:
    """Return the name of a variant's entry."""
    return f"{litmus.name}__{variant.name}"


def region_bytes(litmus: Litmus) -> int:
    """Return how many bytes of global memory a CTA has."""
    return litmus.size if litmus.dynamic else 2 * litmus.size


def program(litmus: Litmus, variant: Variant) -> str:
    """Return the PTX of a variant."""
    labels = count()
    registers = _REGISTERS if litmus.target == HOPPER else _REGISTERS + _TENSOR_REGISTERS
    lines = _lines(registers) + _lines(_prologue(litmus))
    if litmus.cluster > 1:
        lines += _lines(_PEERS)
    lines += _steps(litmus, variant, litmus.setup, labels)
    lines += _steps(litmus, variant, "cluster barrier" if litmus.cluster > 1 else "barrier", labels)
    first = 0
    for number, role in enumerate(litmus.roles):
        last = number == len(litmus.roles) - 1
        if not last:
            lines += [f"setp.ge.u32 p, warp, {first + role.warps};", f"@p bra ROLE{number + 1};"]
        lines += _role(litmus, variant, role, number, labels)
        if not last:
            lines += ["bra END;", f"ROLE{number + 1}:"]
        first += role.warps
    end = "cluster barrier" if litmus.end is None and litmus.cluster > 1 else litmus.end or ""
    lines += ["END:", *_steps(litmus, variant, end, labels)]
    lines += [
        "setp.ne.u32 p, wrongs, 0;", "cvt.u64.u32 total, wrongs;", "@p red.global.add.u64 [out], total;", "ret;",
    ]  # fmt: skip
    return _framed(litmus, variant, lines)


def digest(text: str) -> str:
    """Return a short fingerprint of a text, which says whether results are of this text."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _framed(litmus: Litmus, variant: Variant, lines: list[str]) -> str:
    name = kernel_name(litmus, variant)
    cluster = f" .reqnctapercluster {litmus.cluster}, 1, 1" if litmus.cluster > 1 else ""
    registers = f" .maxnreg {litmus.registers}" if litmus.registers else ""
    static = not litmus.dynamic
    outside = "" if static else ".extern .shared .align 1024 .b8 tiles[];\n"
    inside = f"    .shared .align 1024 .b8 tiles[{2 * max(litmus.size, 2048)}];\n" if static else ""
    slot = "" if litmus.target == HOPPER else "    .shared .align 4 .b32 slot;\n"
    parameters = (
        ".param .u64 p_out, .param .u64 p_source, .param .u64 p_data, .param .u32 p_rounds, .param .u32 p_launch,\n"
        "    .param .u32 p_late_a, .param .u32 p_late_b"
    )
    body = "\n".join(line if line.endswith(":") else f"    {line}" for line in lines)
    return (
        f"// {litmus.asks}\n// {variant.kind.value}: {variant.about or 'as PTX asks for'}\n"
        f"// ptxcheck: launch block={litmus.threads} cluster={litmus.cluster}\n"
        f".version 8.6\n.target {litmus.target}\n.address_size 64\n{outside}\n"
        f".visible .entry {name}(\n    {parameters}\n) .reqntid {litmus.threads}{cluster}{registers}\n{{\n{inside}"
        f"    .shared .align 8 .b64 full_barrier;\n    .shared .align 8 .b64 empty_barrier;\n{slot}{body}\n}}\n"
    )


def _prologue(litmus: Litmus) -> str:
    partner = str(litmus.partner * 16)
    text = _PROLOGUE.replace("$P", partner).replace("$L", str(max(litmus.size, 2048)))
    return text.replace("$R", str(region_bytes(litmus)))


def _role(litmus: Litmus, variant: Variant, role: Role, number: int, labels: count[int]) -> list[str]:
    steps = _steps(litmus, variant, role.steps, labels, role.warps)
    if not litmus.rounds:
        return [*_lines(_ROUND), *_lines(_LAUNCH), *steps]
    return [
        "mov.u32 round, 0;", f"ROUND{number}:", "setp.ge.u32 at_end, round, rounds;", f"@at_end bra DONE{number};",
        *_lines(_ROUND), *steps, "add.u32 round, round, 1;", f"bra ROUND{number};", f"DONE{number}:",
    ]  # fmt: skip


def _steps(litmus: Litmus, variant: Variant, text: str, labels: count[int], warps: int = 0) -> list[str]:
    """Return the lines of steps; `leads: step & step` are those of one thread, `upper: …` of half of each warp."""
    lines: list[str] = []
    for step in (each.strip() for each in text.split("|")):
        if step.startswith("?"):
            lines += _steps(litmus, variant, variant.holes.get(step[1:], ""), labels, warps)
        elif guarded := re.fullmatch(r"(!?[a-z_]+): (.+)", step, re.DOTALL):
            condition, rest = guarded.groups()
            inner = [
                line for part in rest.split("&") for line in _steps(litmus, variant, part, labels, warps)
            ]
            if len(inner) == 1 and not inner[0].startswith("@"):
                lines.append(f"@{condition} {inner[0]}")
            elif inner:
                label = f"SKIP{next(labels)}"
                negated = condition[1:] if condition.startswith("!") else f"!{condition}"
                lines += [f"@{negated} bra {label};", *inner, f"{label}:"]
        elif step:
            lines += _expanded(litmus, step, labels)
    return lines


def _expanded(litmus: Litmus, step: str, labels: count[int]) -> list[str]:
    text, argument = step, ""
    if not step.endswith(";"):
        name, _, argument = step.partition(" = ")
        text = FRAGMENTS[name]
    values = {"$A": argument, "$T": str(litmus.threads), "$B": str(litmus.size), "$U": str(next(labels))}
    for key, value in values.items():
        text = text.replace(key, value)
    lines: list[str] = []
    repeated: list[str] = []
    for line in text.splitlines():
        if line.startswith("*"):
            repeated.append(line[1:].strip())
        elif line.strip():
            lines.append(line.strip())
    stride = 16 * litmus.threads
    for offset in range(0, litmus.size, stride) if repeated else ():
        lines += [
            line.replace("$S", str(litmus.size + offset)).replace("$O", str(offset)) for line in repeated
        ]
    return lines


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]
