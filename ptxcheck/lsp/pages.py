"""Pages of rules that diagnostics link to: of a site, or as files in the user's cache folder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..report.rule_page import markdown_page
from ..results import RuleInfo
from ..runtime.cache import default_folder
from ..runtime.output import OutputError, write_atomically
from ..version import __version__


@dataclass(frozen=True)
class RulePages:
    """`site` is the address of the generated documentation's folder of rules, such as `https://host/rules/`."""

    site: str | None = None

    def of(self, rules: Iterable[RuleInfo]) -> Mapping[str, str]:
        """Return the address of the page of each rule; of none that cannot be written."""
        if self.site is not None:
            return {rule.id: f"{self.site.rstrip('/')}/{rule.id}/" for rule in rules}
        folder = default_folder()
        if folder is None:
            return {}
        found = {}
        for rule in rules:
            path = folder.parent / "rules" / __version__ / f"{rule.id}.md"
            if _written(path, markdown_page(rule)):
                found[rule.id] = path.absolute().as_uri()
        return found


def _written(path: Path, text: str) -> bool:
    try:
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            return True
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(str(path), text)
    except (OSError, OutputError):
        return False
    return True
