"""`ptxcheck explain`: the page of a rule."""

from __future__ import annotations

import click

from . import console
from .options import choice
from .rules import sorted_rules


@click.command("explain")
@click.argument("rule_id", metavar="ID")
@choice("text", "json", "markdown")
def explain_command(rule_id: str, form: str) -> None:
    """Say what a rule is about, by its id or name."""
    from ..report.json import render_rules
    from ..report.rule_page import markdown_page, text_page
    from ..rules import check_selectors, info_of

    for rule in sorted_rules():
        if rule_id.upper() == rule.id or rule_id.lower() == rule.name:
            info = info_of(rule)
            pages = {"text": text_page, "json": lambda info: render_rules((info,)), "markdown": markdown_page}
            console.write(pages[form](info))
            return
    check_selectors(sorted_rules(), [rule_id])
    console.fail(f"{rule_id} stands for several rules; `ptxcheck rules` lists them")
