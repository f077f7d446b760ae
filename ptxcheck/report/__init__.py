"""Renderers: a report to text in one of several formats. They decide nothing and do no input or output."""

from __future__ import annotations

from enum import Enum

from ..results import Report
from .verbosity import Verbosity


class Format(Enum):
    """Output formats of `ptxcheck check`."""

    TEXT = "text"
    CONCISE = "concise"
    JSON = "json"
    SARIF = "sarif"
    GITHUB = "github"
    GITLAB = "gitlab"
    JUNIT = "junit"
    JSON_LINES = "json-lines"
    AZURE = "azure"
    RDJSON = "rdjson"


REVIEWED = frozenset((Format.SARIF, Format.GITHUB, Format.GITLAB, Format.AZURE, Format.RDJSON))
"""Formats whose readers know files by their paths from the root of the repository."""


def render(
    report: Report, form: Format, *, color: bool = False, verbosity: Verbosity = Verbosity.NORMAL
) -> str:
    """Return the report in a format; equal reports give equal text.

    Only text for people has colours, and more or less of what is in order.
    """
    match form:
        case Format.TEXT:
            from .text import render_text

            return render_text(report, color=color, verbosity=verbosity)
        case Format.CONCISE:
            from .concise import render_concise

            return render_concise(report, color=color, verbosity=verbosity)
        case Format.JSON:
            from .json import render_json

            return render_json(report)
        case Format.SARIF:
            from .sarif import render_sarif

            return render_sarif(report)
        case Format.GITHUB:
            from .github import render_github

            return render_github(report)
        case Format.GITLAB:
            from .gitlab import render_gitlab

            return render_gitlab(report)
        case Format.JUNIT:
            from .junit import render_junit

            return render_junit(report)
        case Format.JSON_LINES:
            from .json import render_json_lines

            return render_json_lines(report)
        case Format.AZURE:
            from .azure import render_azure

            return render_azure(report)
        case Format.RDJSON:
            from .rdjson import render_rdjson

            return render_rdjson(report)


__all__ = ["REVIEWED", "Format", "Verbosity", "render"]
