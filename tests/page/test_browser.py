"""The page in a browser: what is drawn, how one steps through it, and that it is quiet and readable."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from ptxcheck.config import Config
from ptxcheck.page import build_page
from ptxcheck.source import Source

from .conftest import page_of
from .kernels import ATTACKS, HANGS, ONE_MISTAKE, PAIR, RACES, TENSOR_MEMORY, hostile

# ---- what is drawn


def test_lanes_of_threads_units_and_barriers(opened: Any) -> None:
    shown = opened(page_of(HANGS).text)
    assert shown.texts(".lane.role") == [
        "producer (warp 0, lane 0)",
        "worker (warp 0, 31 lanes)",
        "consumer (warp 1)",
    ]
    assert shown.texts(".lane.unit") == ["TMA"]
    assert shown.texts(".lane.barrier") == [
        *(f"{ring}[{stage}]" for ring in ("full", "empty") for stage in range(3)),
        "barrier 0",
    ]
    assert shown.page.locator(".bar.tma").count() == 6
    assert shown.page.locator(".bar.tma.open").count() == 3, "the last copies are never waited for"


def test_phases_alternate(opened: Any) -> None:
    shown = opened(page_of(HANGS).text)
    stripes = shown.page.locator(".stripes g").evaluate_all(
        "nodes => nodes.map(n => n.firstChild).map(r => [r.getAttribute('class'), +r.getAttribute('y')])"
    )
    by_row: dict[float, list[str]] = {}
    for tint, row in stripes:
        by_row.setdefault(row, []).append(tint)
    assert by_row[min(by_row)] == ["even", "odd", "even"]
    for tints in by_row.values():
        assert all(a != b for a, b in pairwise(tints))


def test_arrows_lead_from_what_completes_a_phase_to_the_wait(opened: Any) -> None:
    shown = opened(page_of(HANGS).text)
    assert shown.page.locator(".arrows path").count() == 6, "three copies and three releases are waited for"
    shown.control("First").click()
    assert shown.page.locator(".arrows path.active").count() == 0
    for _ in range(5):
        shown.press("ArrowRight")
    assert shown.counter == "Step 6 of 21"
    assert shown.page.locator(".arrows path.active").count() == 1
    assert shown.page.locator(".event.now.wait").count() == 2


def test_tensor_core_and_tensor_memory(opened: Any) -> None:
    shown = opened(page_of(TENSOR_MEMORY).text)
    assert shown.texts(".lane.unit") == ["TMA", "tensor core"]
    assert shown.page.locator(".bar.tensor-core").count() > 2
    shown.page.get_by_role("tab", name="Tensor memory").click()
    panel = shown.page.locator("#panel-tensor")
    assert "32" in panel.inner_text()
    assert "accumulator" in panel.inner_text()
    assert panel.locator(".strip.tensor .cell").inner_text() == "32"


def test_ctas_of_a_cluster_are_chosen(opened: Any) -> None:
    shown = opened(page_of(PAIR).text)
    every = len(shown.texts(".lane.role"))
    shown.page.locator(".controls select").select_option("1")
    assert 0 < len(shown.texts(".lane.role")) < every
    assert all("CTA 1" in text for text in shown.texts(".lane.role"))
    assert all("CTA 1" in text for text in shown.texts("#panel-step .events-here strong"))


def test_findings_show_their_line_with_a_caret(opened: Any) -> None:
    shown = opened(page_of(HANGS).text)
    card = shown.page.locator("#findings article").first
    assert "MB020" in card.inner_text()
    assert "never completes" in card.inner_text()
    line, caret = (node.text_content() for node in card.locator(".code code").all())
    assert line.index("mbarrier.try_wait") == caret.index("^")
    assert caret.strip() == "^" * len("mbarrier.try_wait.parity.shared::cta.b64 ready, [free], parity;")


def test_what_follows_from_a_finding_is_within_its_card(opened: Any) -> None:
    shown = opened(page_of(ONE_MISTAKE).text)
    cards = shown.page.locator("#findings > article.finding")
    assert cards.count() == 2, "one for each instance"
    assert shown.texts("#findings .count") == ["2"]
    rest = cards.first.locator("details")
    assert rest.locator("summary").inner_text() == "6 more that follow from it"
    rest.locator("summary").click()
    assert rest.locator("article.finding").count() == 6


def test_verdicts_by_property(opened: Any) -> None:
    shown = opened(page_of(HANGS).text)
    head = shown.texts("#verdicts thead th")
    row = shown.texts("#verdicts tbody td")
    said = dict(zip(head[1:], row, strict=True))
    assert said["deadlock-freedom"] == "✗ violated"
    assert said["phase-safety"] == "✓ proved-bounded", "as far as threads come"
    assert said["exit-safety"] == "? unknown"


def test_control_flow(opened: Any) -> None:
    shown = opened(page_of(HANGS).text)
    shown.page.get_by_role("tab", name="Control flow").click()
    blocks = shown.page.locator(".flow .block")
    assert blocks.count() == shown.page.locator(".blocks-table tbody tr").count() > 5
    boxes = [node.bounding_box() for node in blocks.all()]
    for number, one in enumerate(boxes):
        for other in boxes[number + 1 :]:
            apart = (
                one["x"] + one["width"] <= other["x"] or other["x"] + other["width"] <= one["x"]
                or one["y"] + one["height"] <= other["y"] or other["y"] + other["height"] <= one["y"]
            )  # fmt: skip
            assert apart
    assert shown.page.locator(".flow .edge.back").count() >= 2, "the loops"
    assert shown.page.locator(".flow .block.now").count() == 1, "where the producer hangs"
    blocks.first.focus()
    assert "Block 0" in shown.page.locator(".block-detail").inner_text()


def test_shared_memory_by_stage_follows_the_steps(opened: Any) -> None:
    shown = opened(page_of(HANGS).text)
    shown.page.get_by_role("tab", name="Shared memory").click()
    panel = shown.page.locator("#panel-memory")
    assert panel.locator(".stages thead th").all_inner_texts()[-3:] == ["Stage 0", "Stage 1", "Stage 2"]
    assert panel.locator("td.filled").count() == 3, "copies that nobody waits for"
    shown.control("First").click()
    assert panel.locator("td.filled").count() == 0
    for _ in range(4):
        shown.control("Next").click()
    assert panel.locator("td.filled").all_inner_texts() == ["1152\nbeing filled by TMA"]


# ---- stepping


def test_stepping_goes_to_the_hang(opened: Any) -> None:
    shown = opened(page_of(HANGS).text)
    assert shown.counter == "Step 21 of 21", "it opens where it hangs"
    assert "for ever" in shown.page.locator("#panel-step .events-here").inner_text()
    assert "one more arrival at empty[0]" in shown.page.locator("#panel-step").inner_text()
    shown.control("First").click()
    assert shown.counter == "Step 1 of 21"
    seen = []
    for _ in range(20):
        shown.control("Next").click()
        seen.append(shown.counter)
    assert seen[-1] == "Step 21 of 21"
    assert len(set(seen)) == 20
    shown.control("First").click()
    shown.control("To the hang").click()
    assert shown.counter == "Step 21 of 21"


def barrier_rows(shown: Any) -> dict[str, list[str]]:
    rows = shown.page.locator("#panel-step .barriers tbody tr").all()
    return {row.locator("th").inner_text(): row.locator("td").all_inner_texts() for row in rows}


def test_barriers_at_each_step(opened: Any) -> None:
    shown = opened(page_of(HANGS).text)
    at_the_hang = barrier_rows(shown)
    assert at_the_hang["empty[0]"] == ["1", "0 of 32", "", "producer (warp 0, lane 0), for ever"]
    shown.control("First").click()
    assert barrier_rows(shown)["full[0]"] == ["0", "0 of 1", "", ""]
    for _ in range(3):
        shown.press("ArrowRight")
    assert barrier_rows(shown)["full[0]"] == ["0", "1 of 1", "0 of 1024", "consumer (warp 1)"]
    shown.press("ArrowRight")
    assert barrier_rows(shown)["full[0]"][0] == "1"


def test_a_race_is_shown_at_the_step_that_must_not_happen(opened: Any) -> None:
    shown = opened(page_of(RACES).text)
    assert shown.control("To the problem").is_visible()
    assert shown.page.locator(".event.bad.now.selected").count() == 1
    assert shown.page.locator(".event.access").count() >= 1, "the write that is not fenced"
    assert "proxy fence" in shown.page.locator("#panel-step").inner_text()


def test_a_finding_opens_its_run(opened: Any) -> None:
    shown = opened(page_of(RACES).text)
    shown.page.locator(".run-chooser select").select_option("1")
    assert shown.control("To the problem").count() == 0
    shown.page.get_by_role("button", name="Step through this run").click()
    assert shown.control("To the problem").count() == 1
    assert shown.page.evaluate("document.activeElement.id") == "kernel"


# ---- keyboard, pointer, assistive technology


def test_keyboard(opened: Any) -> None:
    shown = opened(page_of(HANGS).text)
    shown.press("ArrowLeft", "ArrowLeft")
    assert shown.counter == "Step 19 of 21"
    shown.page.locator(".event.selected").focus()
    shown.press("Home")
    assert shown.counter == "Step 1 of 21"
    shown.press("ArrowRight")
    assert shown.counter == "Step 2 of 21"
    first = shown.page.evaluate("document.activeElement.getAttribute('aria-label')")
    shown.press("ArrowDown")
    second = shown.page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert first.startswith("Step 2") and second.startswith("Step 2") and first != second  # noqa: PT018
    assert shown.page.locator("#tooltip").is_visible()
    shown.press("Escape")
    assert not shown.page.locator("#tooltip").is_visible()
    shown.press("p")
    assert shown.counter == "Step 21 of 21"
    width = shown.page.locator(".plot").get_attribute("width")
    shown.press("+")
    assert float(shown.page.locator(".plot").get_attribute("width")) > float(width)


def test_letters_do_nothing_outside_the_run(opened: Any) -> None:
    shown = opened(page_of(HANGS).text)
    shown.control("First").click()
    shown.page.get_by_role("link", name="Findings").focus()
    shown.press("p")
    assert shown.counter == "Step 1 of 21"


def test_every_control_is_reached_by_tab(opened: Any) -> None:
    shown = opened(page_of(HANGS).text)
    seen = set()
    for _ in range(40):
        shown.press("Tab")
        seen.add(shown.page.evaluate("document.activeElement.textContent.trim().slice(0, 30)"))
    assert {
        "|◀ First",
        "◀ Back",
        "Next ▶",
        "Last ▶|",
        "To the hang",
        "This step",
        "Step through this run",
    } <= seen


def test_tabs_by_keyboard(opened: Any) -> None:
    shown = opened(page_of(HANGS).text)
    shown.page.get_by_role("tab", name="This step").focus()
    shown.press("ArrowRight")
    assert shown.page.evaluate("document.activeElement.id") == "tab-table"
    assert shown.page.locator("#panel-table").is_visible()
    assert not shown.page.locator("#panel-step").is_visible()
    assert shown.counter == "Step 21 of 21", "these arrows are the tabs' own"


def test_hover_shows_the_source_lines(opened: Any) -> None:
    shown = opened(page_of(HANGS).text)
    mark = shown.page.locator(".event.bad")
    mark.scroll_into_view_if_needed()
    mark.hover()
    text = shown.page.locator("#tooltip").inner_text()
    assert "waits on empty[0] with parity 1: for ever" in text
    assert "mbarrier.try_wait.parity.shared::cta.b64 ready, [free], parity;" in text
    shown.page.locator(".bar.tma").first.hover()
    assert "starts a copy of 1024 bytes onto full[0]" in shown.page.locator("#tooltip").inner_text()
    shown.page.locator("h1").hover()
    assert not shown.page.locator("#tooltip").is_visible()


def test_lines_of_the_source_that_was_compiled(opened: Any, tmp_path: Any) -> None:
    (tmp_path / "ring.cu").write_text(
        "\n" * 9 + "  full.wait(phase);  // author's line\n\n  next(ring);  // its caller\n"
    )
    text = HANGS.read_text().replace(".visible .entry", f'.file 1 "{tmp_path}/ring.cu"\n.visible .entry', 1)
    inlined = "    .loc 1 12 3\n    .loc 1 10 3, function_name wait, inlined_at 1 12 3\n    mbarrier.try_wait"
    text = text.replace("    mbarrier.try_wait", inlined, 1)
    config = Config(source_roots=(str(tmp_path),))
    shown = opened(build_page(Source("k.ptx", text), "k.ptx", config).text)
    shown.page.locator(".event.bad").hover()
    for part in ("#findings article", "#panel-step .source", "#tooltip"):
        told = shown.page.locator(part).first.inner_text()
        assert "full.wait(phase);" in told, part
        assert "next(ring);" in told, part


def test_the_table_says_the_same_as_the_picture(opened: Any) -> None:
    shown = opened(page_of(HANGS).text)
    shown.page.get_by_role("tab", name="Run as a table").click()
    assert (
        shown.page.locator(".steps tbody tr").count()
        == shown.page.locator(".event").count() - shown.page.locator(".legend .event").count()
    )
    labels = shown.page.locator(".plot .event").evaluate_all(
        "nodes => nodes.map(n => n.getAttribute('aria-label'))"
    )
    rows = [row.locator("th, td").all_inner_texts() for row in shown.page.locator(".steps tbody tr").all()]
    told = {f"{step}|{who} {what}" for step, _, who, what, *_ in rows}
    assert told == {f"{label.split(':')[0].split(',')[0][5:]}|{label.partition(': ')[2]}" for label in labels}
    work = shown.page.locator("#panel-table table").nth(1)
    assert work.locator("tbody tr").count() == shown.page.locator(".bar").count()
    assert "nobody waits for it" in work.inner_text()
    shown.page.get_by_role("button", name="Go to step 6", exact=True).first.click()
    assert shown.counter == "Step 6 of 21"


def test_steps_are_announced(opened: Any) -> None:
    shown = opened(page_of(HANGS).text)
    shown.press("ArrowLeft")
    assert "Step 20 of 21" in shown.page.locator("#said").inner_text()


def test_names_and_roles(opened: Any) -> None:
    shown = opened(page_of(HANGS).text)
    unnamed = shown.page.evaluate(
        """() => [...document.querySelectorAll('button, select, input, [role=button], [role=region], [role=tab]')]
             .filter(n => !(n.getAttribute('aria-label') || n.textContent.trim() || n.labels?.length)).length"""
    )
    assert unnamed == 0
    ids = shown.page.evaluate("[...document.querySelectorAll('[id]')].map(n => n.id)")
    assert len(ids) == len(set(ids))
    assert shown.page.locator("h1").count() == 1
    assert shown.page.evaluate("document.documentElement.lang") == "en"


_CONTRAST = (Path(__file__).parent / "contrast.js").read_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(opened: Any, scheme: str) -> None:
    """Text has a contrast of 4.5, marks one of 3 (WCAG 2.1, 1.4.3 and 1.4.11)."""
    shown = opened(page_of(HANGS).text, color_scheme=scheme)
    for tab in ("This step", "Run as a table", "Control flow", "Shared memory", "Verdict"):
        shown.page.get_by_role("tab", name=tab).click()
        assert shown.page.evaluate(_CONTRAST) == []


@pytest.mark.parametrize("path", [HANGS, RACES, TENSOR_MEMORY, PAIR], ids=lambda path: path.stem)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(opened: Any, path: Any, scheme: str) -> None:
    """The rules of axe-core, which is put into the page from outside: hence without the page's policy."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    shown = opened(page_of(path).text, color_scheme=scheme, bypass_csp=True)
    for tab in shown.page.get_by_role("tab").all():
        tab.click()
        found = axe.run(shown.page).response["violations"]
        assert [(each["id"], each["nodes"][0]["html"][:200]) for each in found] == []


@pytest.mark.parametrize("path", [HANGS, TENSOR_MEMORY, PAIR], ids=lambda path: path.stem)
@pytest.mark.parametrize("width", [390, 768, 1280])
def test_nothing_is_wider_than_the_screen(opened: Any, path: Any, width: int) -> None:
    shown = opened(page_of(path).text, viewport={"width": width, "height": 800})
    for tab in shown.page.get_by_role("tab").all():
        tab.click()
        assert shown.page.evaluate("document.documentElement.scrollWidth") <= width


# ---- hostile files


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_in_a_file_becomes_script_or_markup(opened: Any, attack: str) -> None:
    """Dialogs, requests and errors fail the test when the page is closed."""
    page = build_page(Source(f"{attack}.ptx", hostile(attack)), f"{attack}.ptx", Config())
    assert {"MB020", "NB001"} <= {finding.rule for finding in page.report.active}
    shown = opened(page.text)
    assert shown.counter.startswith("Step ")
    assert shown.page.evaluate("window.hit") is None
    for tab in shown.page.get_by_role("tab").all():
        tab.click()
    shown.press("ArrowLeft", "ArrowRight")
    for mark in shown.page.locator(".plot .event").all():
        mark.hover()
    counts = shown.page.evaluate(
        "['script', 'style', 'img', 'iframe', 'link', 'svg[onload]', 'b'].map(t => document.querySelectorAll(t).length)"
    )
    assert counts == [3, 1, 0, 0, 1, 0, 0], "data, library and script; one style; the empty icon"
    handlers = shown.page.evaluate(
        "[...document.querySelectorAll('*')].filter(n => [...n.attributes].some(a => a.name.startsWith('on'))).length"
    )
    assert handlers == 0


def test_attacks_are_shown_as_text(opened: Any) -> None:
    attack = ATTACKS[0]
    shown = opened(build_page(Source("k.ptx", hostile(attack)), "k.ptx", Config()).text)
    assert attack in shown.page.locator("#findings").inner_text()


def test_a_kernel_without_a_run(opened: Any) -> None:
    text = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry plain()\n{\n  ret;\n}\n"
    shown = opened(build_page(Source("k.ptx", text), "k.ptx", Config()).text)
    assert "No finding" in shown.page.locator("#findings").inner_text()
    assert "No timeline" in shown.page.locator("#kernel").inner_text()
    for tab in shown.page.get_by_role("tab").all():
        tab.click()


# ---- size


def test_kernels_are_chosen(opened: Any) -> None:
    shown = opened(build_page(Source("k.ptx", hostile("x")), "k.ptx", Config()).text)
    assert shown.page.locator("#kernel-title").inner_text() == "Kernel __proto__"
    shown.page.locator(".kernel-head select").select_option(label="constructor")
    assert shown.page.locator("#kernel-title").inner_text() == "Kernel constructor"
    shown.page.locator("#verdicts").get_by_role("button", name="__proto__").click()
    assert shown.page.locator("#kernel-title").inner_text() == "Kernel __proto__"
    assert shown.page.evaluate("document.activeElement.id") == "kernel"


def test_many_findings(opened: Any) -> None:
    many = "  bar.sync 17;\n" * 130
    text = f".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{{\n{many}  ret;\n}}\n"
    page = build_page(Source("k.ptx", text), "k.ptx", Config())
    assert len(page.report.active) > 130
    shown = opened(page.text)
    cards = shown.page.locator("#findings article")
    assert cards.count() == 100
    shown.page.locator("#findings summary").first.click()
    shown.page.locator("#findings article").nth(len(page.report.active) - 1).wait_for()
    assert cards.count() == len(page.report.active)


def long_ring(rounds: int) -> str:
    """Return a ring whose loop the compiler has unrolled."""
    steps = "\n".join(
        f"""WAIT{n}:
  mbarrier.try_wait.parity.shared.b64 ready, [bar], {n % 2};
  @!ready bra WAIT{n};
  mbarrier.arrive.shared.b64 _, [bar];"""
        for n in range(rounds)
    )
    return f""".version 8.0
.target sm_90
.address_size 64
.visible .entry long() .reqntid 32
{{
  .reg .pred ready;
  .reg .pred first;
  .reg .b32 tid;
  .shared .align 8 .b64 bar;
  mov.u32 tid, %tid.x;
  setp.ne.u32 first, tid, 0;
  @first bra READY;
  mbarrier.init.shared.b64 [bar], 32;
READY:
  bar.sync 0;
  mbarrier.arrive.shared.b64 _, [bar];
{steps}
  ret;
}}
"""


def test_a_big_kernel_is_a_page_of_bounded_size(opened: Any) -> None:
    page = build_page(Source("long.ptx", long_ring(600)), "long.ptx", Config())
    assert len(page.text) < 4_000_000
    shown = opened(page.text)
    shown.control("Last").click()
    last = shown.counter.rpartition(" ")[2]
    assert shown.counter == f"Step {last} of {last}"
    assert int(last) > 1000
    shown.page.get_by_role("tab", name="Control flow").click()
    assert "blocks" in shown.page.locator("#panel-flow").inner_text()
