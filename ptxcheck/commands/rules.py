"""`ptxcheck rules`: the list of all rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from . import console
from .options import choice

if TYPE_CHECKING:
    from ..rules import Rule


@click.command("rules")
@choice("text", "json")
def rules_command(form: str) -> None:
    """List all rules."""
    from ..rules import info_of

    infos = tuple(info_of(rule) for rule in sorted_rules())
    if form == "json":
        from ..report.json import render_rules

        console.write(render_rules(infos))
        return
    from ..report.rule_page import rule_table

    console.write(rule_table(infos))


def sorted_rules() -> tuple[Rule, ...]:
    """Return all rules, those of other packages too, by their ids."""
    from ..rules import known_rules

    return tuple(sorted(known_rules(), key=lambda rule: rule.id))
