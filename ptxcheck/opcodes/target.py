"""Targets (`sm_90a`) and PTX versions (`8.6`), and the requirements that instructions place on them.

Sources: PTX ISA, chapter "Compilation Unit Directives: .target" (architecture-specific `a` and
family-specific `f` targets) and `ptxas --help` of CUDA 13.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

_TARGET = re.compile(r"(?:sm|compute)_(\d+)([af]?)\Z")

_FAMILY_BASE = {100: 100, 103: 100, 107: 100, 101: 110, 110: 110, 120: 120, 121: 120}
"""Family of each architecture that has `f` targets; sm_101 is the old name of sm_110."""


@dataclass(frozen=True, slots=True, order=True)
class Version:
    """A PTX ISA version, ordered."""

    major: int
    minor: int

    @staticmethod
    def parse(text: str) -> Version:
        """Parse `8.6`. Raises ValueError on anything else."""
        major, _, minor = text.partition(".")
        return Version(int(major), int(minor))

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


@dataclass(frozen=True, slots=True)
class Target:
    """One `.target` architecture: number and variant ("" portable, "a" exact, "f" family)."""

    arch: int
    variant: str = ""

    @staticmethod
    @lru_cache(maxsize=256)
    def parse(text: str) -> Target:
        """Parse `sm_90a` or `compute_90a`. Raises ValueError on anything else."""
        match = _TARGET.match(text)
        if match is None:
            raise ValueError(f"not a target architecture: {text!r}")
        return Target(int(match[1]), match[2])

    @property
    def family(self) -> int:
        """Return the first architecture of the family, or the architecture itself."""
        return _FAMILY_BASE.get(self.arch, self.arch)

    def meets(self, needed: Target) -> bool:
        """Tell whether code for this target may use a feature that `needed` introduces.

        A portable feature needs an equal or higher number; an `f` feature an `a` or `f` target of the
        same family with an equal or higher number; an `a` feature that very architecture.
        """
        if needed.variant == "":
            return self.arch >= needed.arch
        if needed.variant == "a":
            return self.variant == "a" and _renamed(self.arch) == _renamed(needed.arch)
        return (
            self.variant in ("a", "f")
            and self.family == needed.family
            and _renamed(self.arch) >= _renamed(needed.arch)
        )

    def __str__(self) -> str:
        return f"sm_{self.arch}{self.variant}"


def _renamed(arch: int) -> int:
    return 110 if arch == 101 else arch


@dataclass(frozen=True, slots=True)
class Requirement:
    """What a row, form or modifier asks of a module: a first version, and any one of some targets."""

    version: Version = Version(1, 0)
    targets: tuple[Target, ...] = ()
    removed: tuple[Version, Target] | None = None
    """From this version on, the feature is gone on this target and higher ones."""

    @staticmethod
    @lru_cache(maxsize=1024)
    def parse(text: str) -> Requirement:
        """Parse `8.6`, `sm_90`, `sm_100a|sm_100f`, `8.6+sm_100a|sm_100f` or `3.0+sm_30+until6.4/sm_70`.

        Raises ValueError when a part is neither a version nor a list of targets.
        """
        version = Version(1, 0)
        targets: tuple[Target, ...] = ()
        removed: tuple[Version, Target] | None = None
        for part in filter(None, text.split("+")):
            if part[0].isdigit():
                version = Version.parse(part)
            elif part.startswith("until"):
                last, _, target = part.removeprefix("until").partition("/")
                removed = Version.parse(last), Target.parse(target)
            else:
                targets = tuple(Target.parse(one) for one in part.split("|"))
        return Requirement(version, targets, removed)

    def problem(self, version: Version, target: Target | None) -> str | None:
        """Return what is missing ("PTX ISA 8.6 or later", "target sm_90a"), or None when met."""
        if version < self.version:
            return f"PTX ISA {self.version} or later"
        if self.targets and target is not None and not any(target.meets(one) for one in self.targets):
            return "target " + " or ".join(
                str(one) + ("" if one.variant == "a" else " or higher") for one in self.targets
            )
        if self.removed is not None and version >= self.removed[0] and target is not None:
            gone, first = self.removed
            if target.arch >= first.arch:
                return f"PTX ISA before {gone} or a target before {first}"
        return None
