"""Pages of the documentation site that are made from the package: one for each rule, and their index."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

from ptxcheck.report.rule_page import markdown_page
from ptxcheck.results import RuleInfo
from ptxcheck.rules import RULES, info_of

ROOT = Path(__file__).parent.parent
_COPIED = {"contributing.md": "CONTRIBUTING.md", "changelog.md": "CHANGELOG.md"}


def on_files(files: Files, config: Any) -> Files:
    """Add the generated pages to what mkdocs has found."""
    infos = sorted((info_of(rule) for rule in RULES), key=lambda info: info.id)
    pages = {f"rules/{info.id}.md": markdown_page(info) for info in infos}
    pages["rules/index.md"] = index_page(infos)
    pages |= {page: (ROOT / source).read_text(encoding="utf-8") for page, source in _COPIED.items()}
    for page, text in pages.items():
        files.append(File.generated(config, page, content=text))
    return files


def index_page(infos: Iterable[RuleInfo]) -> str:
    """Return a table of the rules for each family, which is the letters of the id."""
    families: dict[str, list[RuleInfo]] = defaultdict(list)
    for info in infos:
        families[info.id.rstrip("0123456789")].append(info)
    parts = ["# The rules\n"]
    for family, members in families.items():
        parts.append(f"## {family}\n\n| id | name | severity | what is wrong |\n| --- | --- | --- | --- |")
        parts += [
            f"| [{info.id}]({info.id}.md) | {info.name} | {info.severity.value} | {_cell(info.summary)} |"
            for info in members
        ]
        parts.append("")
    return "\n".join(parts)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
