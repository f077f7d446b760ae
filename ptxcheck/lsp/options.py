"""What the client asks for when it starts the server (`initializationOptions`)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any


class Verify(Enum):
    """When whole kernels of PTX documents are verified."""

    ON_TYPE = "onType"
    """When typing pauses, with little time for each kernel, and on saving, with all of it."""
    ON_SAVE = "onSave"
    """On opening and saving."""
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class Options:
    """Settings of the editor; those of the project are in its configuration file."""

    verify: Verify = Verify.ON_TYPE
    launch: tuple[str, ...] = ()
    """How kernels are launched, as `--launch`; before what the project's configuration says."""
    assume: tuple[str, ...] = ()
    tensor_map: tuple[str, ...] = ()
    rule_pages: str | None = None
    """Address of the documentation's folder of rules; by default pages are written to the cache folder."""

    @staticmethod
    def read(value: Any) -> Options:
        """Return the options; what is not understood counts as not said."""
        table = value if isinstance(value, dict) else {}
        chosen = table.get("verify")
        pages = table.get("rulePages")
        return Options(
            verify=next((each for each in Verify if each.value == chosen), Verify.ON_TYPE),
            launch=_texts(table.get("launch")),
            assume=_texts(table.get("assume")),
            tensor_map=_texts(table.get("tensorMap")),
            rule_pages=pages if isinstance(pages, str) and pages else None,
        )


DEFAULT = Options()


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()
