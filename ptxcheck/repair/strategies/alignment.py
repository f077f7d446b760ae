"""Align a shared or parameter variable as its use demands."""

from __future__ import annotations

from collections.abc import Iterator

from ...ir import Variable
from ..edits import Edit
from ..patch import Patch, combined
from ..subject import Subject

_WANTED = {
    "MB002": (8,), "SM001": (16,), "SM003": (16,), "BG002": (16, 128), "BG011": (128, 256, 512, 1024),
    "CA001": (16,), "PT009": (64, 128), "CL009": (16,), "WG016": (1024,), "TM021": (1024,),
    "WG017": (1024,), "TM022": (1024,), "TD062": (256, 512, 1024), "SM004": (16, 32, 64, 128),
}  # fmt: skip


def raise_alignment(subject: Subject) -> Iterator[Patch]:
    """Yield a patch for each variable of the kernel and of the module whose alignment is below the wanted one."""
    wanted = _WANTED.get(subject.finding.rule, ())
    text = subject.view.module.source.text
    variables = [
        *subject.view.function.parameters,
        *(s for s in subject.view.body.statements if isinstance(s, Variable)),
        *(item for item in subject.view.module.items if isinstance(item, Variable)),
    ]
    for variable in variables:
        if variable.space not in (".shared", ".param", "shared", "param"):
            continue
        for number, align in enumerate(wanted):
            if (variable.align or 1) >= align:
                continue
            edit = _aligned(text, variable, align)
            if edit is not None:
                yield combined(
                    "alignment", f"align {variable.name} to {align} bytes", 1 + number, [edit], local=True
                )


def _aligned(text: str, variable: Variable, align: int) -> Edit | None:
    declared = text[variable.span.start : variable.span.end]
    if variable.align is not None:
        old = f".align {variable.align}"
        at = declared.find(old)
        if at < 0:
            return None
        return Edit(variable.span.start + at, variable.span.start + at + len(old), f".align {align}")
    space = variable.space if variable.space.startswith(".") else f".{variable.space}"
    at = declared.find(space)
    if at < 0:
        return None
    place = variable.span.start + at + len(space)
    return Edit(place, place, f" .align {align}")
