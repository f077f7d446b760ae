"""Kernels that the page is tried on."""

from __future__ import annotations

from pathlib import Path

from tests.fakes import HEADER

ROOT = Path(__file__).parent.parent.parent
HANGS = ROOT / "corpus/protocols/ring/three_stages.consumer_stops_early.ptx"
RACES = ROOT / "corpus/protocols/wgmma/operand_written_by_threads.no_proxy_fence.ptx"
TENSOR_MEMORY = ROOT / "corpus/protocols/tcgen05/commits_release_stages.ptx"
ONE_MISTAKE = ROOT / "tests/new_user/ptx/pipe.a_wrong_parity.ptx"
PAIR = ROOT / "corpus/protocols/cluster/multicast_pair.ptx"

ATTACKS = (
    "</script><script>window.hit = 1; alert(1)</script>",
    "<img src=x onerror='window.hit = 2; alert(2)'>",
    "--><svg onload=alert(3)>",
    "\"' onmouseover=alert(4) x='",
    "<!-- <script>",
    "{{scripts}}{{data}}",
    "\u2028window.hit = 5\u2029",
    "\u202etxt.exe",
    "&lt;b&gt;&#60;script&#62;",
    "javascript:alert(6)",
    "<iframe src=http://127.0.0.1:9/></iframe><link rel=stylesheet href=//127.0.0.1:9/x.css>",
)
"""What a checked file may hold in the hope that a page runs it, or fetches something."""


def hostile(attack: str) -> str:
    """Return kernels with findings and a hang, and a text in comments, names of files and functions, suppressions."""
    plain = attack.encode("ascii", "ignore").decode()
    quoted = plain.replace("\\", "").replace('"', "'")
    data = "".join(f".b8 {byte}\n" for byte in f"{attack}\0".encode())
    return (
        HEADER
        + f"""// {plain}
.file 1 "{quoted}.cu"
.file 2 "inner {quoted}.cu"
.visible .entry __proto__() .reqntid 1
{{
  .reg .pred ready;
  .shared .align 8 .b64 bar; // {plain}
  .loc 1 10 3
  .loc 2 5 7, function_name $L__info_string0, inlined_at 1 10 3
  mbarrier.init.shared.b64 [bar], 2; // {plain}
  mbarrier.arrive.shared.b64 _, [bar]; /* {plain} */
WAIT:
  mbarrier.try_wait.parity.shared.b64 ready, [bar], 0; // {plain}
  @!ready bra WAIT;
  ret;
}}
.visible .entry constructor()
{{
  .reg .b32 %r<4>;
  .loc 2 5 7, function_name $L__info_string0, inlined_at 1 10 3
  bar.sync 17; // {plain}
  bar.sync 18; // ptxcheck: ignore[NB001] {plain}
  no.such.instruction %r1; // {plain}
  ret;
}}
.section .debug_str {{
$L__info_string0:
{data}}}
"""
    )
