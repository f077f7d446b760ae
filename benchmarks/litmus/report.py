"""The table `benchmarks/litmus.md`, from the raw counts and verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from string import ascii_uppercase

from .coverage import EXPLAINED, FOUND_AND_REQUIRED, REQUIRED, RULES_WITHOUT_ROW
from .litmus_test import HOPPER, Kind, Litmus
from .program import kernel_name
from .results import Campaign, Count, Judgement, counts_of, is_weak, read_campaigns, read_judgements
from .table import SUITE

PATH = Path(__file__).parent.with_suffix(".md")
_RIGHT = ("proved", "proved-bounded", "assumes", "")
_HEAD = """# Litmus tests of axioms and ordering rules

Does hardware keep an order that PTX does not promise, and does it break one that the checker asks for? Each row is a
small kernel, generated from `benchmarks/litmus/table.py`, in variants: a *control* that does what PTX asks for, what is
*asked*, and one that is *broken* deliberately, which shows that the harness can see weak outcomes. This page is written
by `python -m benchmarks.litmus table`; a test holds it to the raw counts in `benchmarks/litmus/results/`.

```
python -m benchmarks.litmus run --out benchmarks/litmus/results/counts-NAME.json      # needs a GPU; goes on
python -m benchmarks.litmus judge                                # what the checker says of each kernel
python -m benchmarks.litmus table
```

CTAs hand data over round after round. Each variant runs under twelve settings: delays before the two sides, drawn for
each warp and round below 0, 255, 2,047 or 8,191 cycles, and all of that again beside a kernel whose loads, stores and
atomics miss L1 and L2. A *hand-over* is a round of one CTA, or its launch. *Weak* counts the words that threads found
wrong, many in one hand-over perhaps; a hang or a fault is a weak outcome, too, and ends the variant. The driver
assembles the PTX. Rows for another GPU than the one at hand are assembled by `ptxas` and judged, and not run.

**0 weak is "not seen in so many hand-overs on this GPU", and not "cannot happen".**
"""
_SASS = """## Lanes in step: what is executed

`ptxas` 13.0 `-O3` for sm_90a, read with `nvdisasm`. In `lanes_in_step__no_meeting`, STS.128 and LDS.128 follow each
other, with no WARPSYNC between. Behind a loop that lanes leave one by one (`late_lanes`) there are BSSY and BSYNC: the
lanes meet again, and then store and load. So the row tells of warps that the compiler keeps together. In
`one_lane_hands_back__no_meeting` and `lanes_pass_a_wait_together__all_lanes`, nothing is around the loop of
`mbarrier.try_wait`: lanes that got different answers would part there.
"""


def write_table() -> str:
    """Write the page; return a line about it."""
    text = page(read_campaigns(), read_judgements())
    PATH.write_text(text, encoding="utf-8")
    return f"{PATH.name}: {len(text.splitlines())} lines"


def page(campaigns: tuple[Campaign, ...], judgements: tuple[Judgement, ...]) -> str:
    """Return the page."""
    judged = {judgement.kernel: judgement for judgement in judgements}
    parts = [_HEAD, "## Where", "", *_places(campaigns), "", "## Rows", ""]
    for litmus in SUITE:
        parts += [*_row(litmus, campaigns, judged), ""]
    parts += [
        _SASS,
        *_explained(campaigns, judged),
        "",
        *_found_and_not_weak(campaigns, judged),
        "",
        *_without(),
    ]
    return "\n".join(parts) + "\n"


def contradicted(campaigns: tuple[Campaign, ...], judged: dict[str, Judgement]) -> Iterator[str]:
    """Yield kernels in which the checker finds nothing and the GPU shows weak outcomes."""
    for litmus in SUITE:
        for variant in litmus.variants:
            name = kernel_name(litmus, variant)
            judgement = judged.get(name)
            if judgement is None or judgement.verdict not in _RIGHT or judgement.findings:
                continue
            if is_weak(counts_of(campaigns, litmus, variant)):
                yield name


def found_and_not_weak(campaigns: tuple[Campaign, ...], judged: dict[str, Judgement]) -> Iterator[str]:
    """Yield kernels that ask something, in which the checker finds something and the GPU shows nothing weak."""
    for litmus in SUITE:
        for variant in litmus.variants:
            counts, name = counts_of(campaigns, litmus, variant), kernel_name(litmus, variant)
            if variant.kind is not Kind.ASKED or not counts or is_weak(counts) or name not in judged:
                continue
            if judged[name].findings or judged[name].verdict not in (*_RIGHT, "unknown"):
                yield name


def _places(campaigns: tuple[Campaign, ...]) -> Iterator[str]:
    yield "| counts | GPU | driver | clocks before | date | variants |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for letter, campaign in zip(ascii_uppercase, campaigns, strict=False):
        yield (
            f"| {letter} | {campaign.gpu} | {campaign.driver} | {campaign.clocks} | {campaign.date} |"
            f" {len(campaign.measured)} |"
        )


def _row(litmus: Litmus, campaigns: tuple[Campaign, ...], judged: dict[str, Judgement]) -> Iterator[str]:
    yield f"### {litmus.name}"
    yield ""
    where = "" if litmus.target == HOPPER else f" For {litmus.target}."
    yield f"{litmus.asks} Axioms and rules: {', '.join(f'`{claim}`' for claim in litmus.claims)}.{where}"
    yield ""
    yield "| variant | | the checker says | launches | hand-overs | weak | seen in | counts |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for variant in litmus.variants:
        counts = counts_of(campaigns, litmus, variant)
        name = kernel_name(litmus, variant)
        about = variant.about or "as PTX asks for"
        said = _said(judged.get(name))
        kind = f"**{variant.kind.value}**" if variant.kind is Kind.ASKED else variant.kind.value
        cells = f"| `{variant.name}`: {about} | {kind} | {said} "
        if not counts:
            yield cells + f"| | | {'not run' if litmus.target == HOPPER else 'assembled, not run'} | | |"
            continue
        shown = [count for count in counts if is_weak([count])]
        letters = "".join(
            letter
            for letter, campaign in zip(ascii_uppercase, campaigns, strict=False)
            if counts_of([campaign], litmus, variant)
        )
        launches, hand_overs = sum(c.launches for c in counts), sum(c.hand_overs for c in counts)
        settings = f"{len(shown)} of {len(counts)}" if shown else ""
        yield f"{cells}| {launches:,} | {hand_overs:,} | {_weak(counts)} | {settings} | {letters} |"


def _weak(counts: list[Count]) -> str:
    words = sum(count.weak for count in counts)
    ends = sorted({count.outcome for count in counts if count.outcome != "ended"})
    return ", ".join([*([f"{words:,}"] if words or not ends else []), *ends])


def _said(judgement: Judgement | None) -> str:
    if judgement is None:
        return "not judged"
    said = judgement.verdict or "nothing to verify"
    if judgement.axioms:
        said += " " + ", ".join(f"`{axiom}`" for axiom in judgement.axioms)
    if judgement.findings:
        said += ": " + ", ".join(judgement.findings)
    return said


def _explained(campaigns: tuple[Campaign, ...], judged: dict[str, Judgement]) -> Iterator[str]:
    yield "## Weak, and not found"
    yield ""
    yield "Kernels in which the checker finds nothing by default, and the GPU shows weak outcomes:"
    yield ""
    yield "| kernel | why |"
    yield "| --- | --- |"
    for name in contradicted(campaigns, judged):
        yield f"| `{name}` | {EXPLAINED.get(name, 'not explained')} |"


def _found_and_not_weak(campaigns: tuple[Campaign, ...], judged: dict[str, Judgement]) -> Iterator[str]:
    yield "## Not weak, and found"
    yield ""
    yield "What is asked and has shown no weak outcome is an axiom of the hardware, told by pedantic rules alone,"
    yield "unless the code or documents of vendors require otherwise. Default findings in such kernels:"
    yield ""
    yield "| kernel | findings | who requires it |"
    yield "| --- | --- | --- |"
    for name in found_and_not_weak(campaigns, judged):
        reason = FOUND_AND_REQUIRED.get(name, "nobody")
        yield f"| `{name}` | {', '.join(judged[name].findings) or 'violated'} | {reason} |"


def _without() -> Iterator[str]:
    yield "## Rules about tensor memory: what NVIDIA requires"
    yield ""
    yield "Default rules about order that no row here can show, as no GPU at hand has tensor memory."
    yield ""
    yield from _reasons(REQUIRED)
    yield ""
    yield "## Rules with no row"
    yield ""
    yield from _reasons(RULES_WITHOUT_ROW)


def _reasons(reasons: Mapping[str, str]) -> Iterator[str]:
    yield "| rule | why |"
    yield "| --- | --- |"
    for name, reason in reasons.items():
        yield f"| `{name}` | {reason} |"
