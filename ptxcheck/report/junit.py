"""JUnit XML: a test suite for each file, a test case for each kernel."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from ..finding import Finding
from ..results import Problem, Report
from ..sources.demangled_names import kernel_name
from .grouping import Mistake, mistakes
from .plain import follows, place, visible


def render_junit(report: Report) -> str:
    """Return findings as failures, problems as errors, suppressed findings as output."""
    root = Element("testsuites", name="ptxcheck")
    for file in _files(report):
        _suite(root, report, file)
    for count in ("tests", "failures", "errors"):
        root.set(count, str(sum(int(suite.get(count, "0")) for suite in root)))
    indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _files(report: Report) -> Iterable[str]:
    """Return the inputs in order, then other files that something is said of; PTX of a source is the source."""
    owners = [_owner(item.location.ptx.file, report) for item in report.active]
    owners += [_owner(item.position.file, report) for item in report.problems]
    return dict.fromkeys([*report.inputs, *owners])


def _owner(file: str, report: Report) -> str:
    source = file.removesuffix(".ptx")
    return source if source in report.inputs and file not in report.inputs else file


def _suite(root: Element, report: Report, file: str) -> None:
    suite = SubElement(root, "testsuite", name=visible(file))
    kernels = [kernel for kernel in report.kernels if _owner(kernel.position.file, report) == file]
    findings = [finding for finding in report.findings if _owner(finding.location.ptx.file, report) == file]
    problems = [problem for problem in report.problems if _owner(problem.position.file, report) == file]
    said = [finding.kernel for finding in findings] + [problem.kernel for problem in problems]
    names = [kernel.name for kernel in kernels] + [name for name in said if name is not None]
    cases: list[str | None] = [None, *names] if not names or None in said else [*names]
    for name in dict.fromkeys(cases):
        _case(suite, file, name, findings, problems)
    suite.set("tests", str(len(suite)))
    suite.set("failures", str(len(suite.findall("testcase/failure"))))
    suite.set("errors", str(len(suite.findall("testcase/error"))))


def _case(
    suite: Element, file: str, kernel: str | None, findings: list[Finding], problems: list[Problem]
) -> None:
    """Add a case for a kernel, or for the file itself."""
    name = "file" if kernel is None else kernel_name(kernel)
    case = SubElement(suite, "testcase", name=visible(name), classname=visible(file))
    for problem in problems:
        if problem.kernel == kernel:
            error = SubElement(case, "error", type=problem.kind.value, message=visible(problem.message))
            error.text = visible(f"{place(problem.position)}\n{problem.detail}".rstrip())
    told = mistakes(each for each in findings if each.kernel == kernel and _is_told(each))
    for mistake in told:
        _failure(case, mistake)
    hidden = []
    for finding in findings:
        if finding.kernel == kernel and not _is_told(finding):
            reason = "in the baseline" if finding.suppressed is None else f"suppressed: {finding.suppressed}"
            hidden.append(f"{place(finding.location.primary)}: {_title(finding)} ({reason})")
    if hidden:
        SubElement(case, "system-out").text = visible("\n".join(hidden))


def _is_told(finding: Finding) -> bool:
    return finding.suppressed is None and not finding.baselined


def _failure(case: Element, mistake: Mistake) -> None:
    finding = mistake.finding
    failure = SubElement(case, "failure", type=finding.severity.value, message=visible(_title(finding)))
    lines = (place(finding.location.primary), *follows(mistake), finding.help)
    failure.text = visible("\n".join(lines).rstrip())


def _title(finding: Finding) -> str:
    return f"{finding.rule} {finding.name}: {finding.message}"
