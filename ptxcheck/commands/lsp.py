"""`ptxcheck lsp`: the language server for editors; what fails is handed in."""

from __future__ import annotations

import click

from .command_output import Fail

_HELP = """Serve an editor by the Language Server Protocol, on standard input and output.

Editors start this themselves; the documentation has their settings.
"""


def lsp_command(fail: Fail) -> click.Command:
    """Return the command."""

    @click.command("lsp", help=_HELP)
    @click.option("--stdio", is_flag=True, help="Standard input and output, which is the default.")
    def lsp(stdio: bool) -> None:
        try:
            from ..lsp.server import serve
        except ModuleNotFoundError as error:
            if error.name is None or error.name.split(".")[0] not in ("pygls", "lsprotocol", "cattrs"):
                raise
            fail("the language server needs pygls: pip install 'ptxcheck[lsp]'")
        serve()

    return lsp
