"""`ptxcheck explain`: the page of a rule."""

from __future__ import annotations

import json
from dataclasses import asdict
from textwrap import fill
from typing import TYPE_CHECKING

import click

from . import console
from .options import choice
from .rules import sorted_rules

if TYPE_CHECKING:
    from ..explain.topics import Topic


def _word_page(word: Topic, form: str) -> str:
    """Return the page of a word of reports."""
    if form == "json":
        return json.dumps(asdict(word), indent=2) + "\n"
    if form == "markdown":
        return f"# {word.name}\n\n{word.meaning}\n\n**What to do**: {word.advice}\n"
    return f"{word.name}\n\n{fill(word.meaning, 88)}\n\n{fill(f'What to do: {word.advice}', 88)}\n"


@click.command("explain")
@click.argument("rule_id", metavar="ID")
@choice("text", "json", "markdown")
def explain_command(rule_id: str, form: str) -> None:
    """Say what a rule is about, by its id or name, or a verdict, a property or a condition of a report."""
    from ..explain.topics import topic
    from ..report.json import render_rules
    from ..report.rule_page import markdown_page, text_page
    from ..rules import check_selectors, info_of

    for rule in sorted_rules():
        if rule_id.upper() == rule.id or rule_id.lower() == rule.name:
            info = info_of(rule)
            pages = {"text": text_page, "json": lambda info: render_rules((info,)), "markdown": markdown_page}
            console.write(pages[form](info))
            return
    word = topic(rule_id)
    if word is not None:
        console.write(_word_page(word, form))
        return
    check_selectors(sorted_rules(), [rule_id])
    console.fail(f"{rule_id} stands for several rules; `ptxcheck rules` lists them")
