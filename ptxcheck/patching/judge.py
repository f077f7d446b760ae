"""The checker as the judge of patches: findings, verdicts and views of a PTX text, unchanged kernels judged once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from ..cfg.calls import called_from
from ..cfg.inlining import with_calls_inlined
from ..config import Config
from ..finding import Finding
from ..ir import Function, Module
from ..launch import Launch
from ..launches.hints import LaunchHint, tensor_maps_of
from ..launches.host_launches import HostHint, launches_of
from ..launches.launch_comments import comment_hints
from ..parser import parse_module
from ..pipeline.rules_on_kernels import Evaluation, evaluate
from ..pipeline.several_launches import evaluate_launches
from ..repair.gate import Judgement
from ..rules import Rule
from ..source import Source
from ..sources.positions import Library, Locator
from ..verdict import Property, VerdictKind
from ..view import KernelView

_BRIEF_SECONDS = 0.5


@dataclass
class TextJudge:
    """Judges texts by rules and a configuration; keeps what it found of kernels that do not change."""

    name: str
    rules: Sequence[Rule]
    config: Config
    hints: Sequence[LaunchHint] = ()
    """Launches that the text's own comments do not give, such as those of the CUDA source."""
    by_host: Sequence[HostHint] = ()
    """Launches by the host code of the CUDA source."""
    shown: Callable[[str], str] = str
    """Turns a path of `.file` into the name to show."""
    _known: dict[object, tuple[KernelView, Evaluation]] = field(default_factory=dict)
    _plain: TextJudge | None = None
    _brief: TextJudge | None = None
    _bare: TextJudge | None = None

    def plain(self, text: str) -> Judgement:
        """Return what is read of a text, by no rule and without whole-kernel verification."""
        if self._bare is None:
            config = replace(self.config, verify=False)
            self._bare = TextJudge(self.name, (), config, self.hints, self.by_host, self.shown)
        return self._bare(text)

    def rules_only(self, text: str) -> Judgement:
        """Return what the rules say of a text, without whole-kernel verification."""
        if self._plain is None:
            config = replace(self.config, verify=False)
            self._plain = TextJudge(self.name, self.rules, config, self.hints, self.by_host, self.shown)
        return self._plain(text)

    def brief(self, text: str) -> Judgement:
        """Return what the checker says of a text when whole-kernel verification has little time."""
        if self._brief is None:
            config = replace(self.config, verify_seconds=min(self.config.verify_seconds, _BRIEF_SECONDS))
            self._brief = TextJudge(self.name, self.rules, config, self.hints, self.by_host, self.shown)
        return self._brief(text)

    def __call__(self, text: str) -> Judgement:
        """Return what the checker says of a text."""
        source = Source(self.name, text)
        module = parse_module(source)
        problems = [p.message for p in module.problems]
        problems += [p.message for f in module.functions if f.body is not None for p in f.body.problems]
        locator = Locator(module, Library(self.config.library_prefixes), self.shown)
        hints = (*self.config.launch, *self.hints, *comment_hints(module, locator, [source]))
        findings: list[Finding] = []
        verdicts: dict[tuple[str, Property], VerdictKind] = {}
        views: dict[str, KernelView] = {}
        outside = _outside(module)
        for function in module.functions:
            if function.body is None:
                continue
            view, result = self._judged(module, function, locator, hints, outside)
            views[function.name] = view
            findings += result.findings
            problems += [problem.message for problem in result.problems]
            if result.kernel.verification is not None:
                for verdict in result.kernel.verification.verdicts:
                    verdicts[function.name, verdict.property] = verdict.kind
        return Judgement(tuple(findings), verdicts, tuple(problems), views)

    def _judged(
        self, module: Module, function: Function, locator: Locator, hints: Sequence[LaunchHint], outside: str
    ) -> tuple[KernelView, Evaluation]:
        key = (_texts_of(function, module), outside)
        if key not in self._known:
            function = with_calls_inlined(function, module)
            launches, _ = launches_of(function, hints, self.by_host)
            seconds = self.config.verify_seconds if self.config.verify else None
            maps, _ = tensor_maps_of(function, hints)

            def evaluated(launch: Launch, is_verified: bool) -> tuple[KernelView, Evaluation]:
                view = KernelView(
                    module, function, launch, seconds if is_verified else None, tensor_maps=maps
                )
                return view, evaluate(view, self.rules, locator, {}, possible=self.config.possible)

            self._known[key] = evaluate_launches(launches, evaluated)
        return self._known[key]


def _texts_of(function: Function, module: Module) -> tuple[tuple[int, str], ...]:
    """Return the texts of a function and of those that it calls, each with its start: points are at places in them."""
    called = called_from(function.name, module)
    spans = (each.span for each in module.functions if each.name in called)
    return tuple((span.start, module.source.text[span.start : span.end]) for span in spans)


def _outside(module: Module) -> str:
    """Return the text of a module without its functions."""
    text = module.source.text
    parts, done = [], 0
    for function in module.functions:
        parts.append(text[done : function.span.start])
        done = function.span.end
    return "".join([*parts, text[done:]])
