"""A pytest plugin: `pytest --ptxcheck=error` fails the tests whose Triton kernels have findings."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--ptxcheck`."""
    parser.getgroup("ptxcheck").addoption(
        "--ptxcheck",
        choices=["warn", "error"],
        help="Check each Triton kernel that a test compiles: warn, or fail the test.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Listen to Triton for the whole session."""
    level = config.getoption("--ptxcheck")
    if level is None:
        return
    from .listener import NotSupportedError, install

    try:
        remove = install(level)
    except NotSupportedError as error:
        raise pytest.UsageError(f"--ptxcheck: {error}") from error
    config.add_cleanup(remove)
