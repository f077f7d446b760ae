"""What is done in the process that checks, with the settings of the editor."""

from __future__ import annotations

from ptxcheck.lsp.options import Options
from ptxcheck.lsp.work import Check, Failed, FindRepairs
from ptxcheck.results import Report
from ptxcheck.rules.protocol_kernels import RING, changed

FREE = changed(RING, (".reqntid 64", ""))


def checked(**given: object) -> Report | Failed:
    return Check("k.ptx", FREE, 5.0, Options.read(given))()


def test_an_editor_says_how_kernels_are_launched() -> None:
    report = checked(launch=["kernel: block=64"], assume=["tiles=3"], verify="onSave")
    assert isinstance(report, Report)
    (kernel,) = report.kernels
    assert (kernel.launch.block, kernel.launch.block_from) == ((64, 1, 1), "--launch")
    assert [value.name for value in kernel.launch.given] == ["tiles"]


def test_a_launch_that_is_none_is_told() -> None:
    failed = checked(launch=["block=many"])
    assert isinstance(failed, Failed)
    assert "is not a launch" in failed.message
    options = Options.read({"launch": ["block=many"]})
    assert isinstance(FindRepairs("k.ptx", FREE, (), False, options)(), Failed)


def test_what_is_no_list_of_texts_says_nothing() -> None:
    assert Options.read({"launch": "block=64", "assume": [3, "n=4"]}) == Options(assume=("n=4",))
