"""`ptxcheck lsp`: the language server for editors."""

from __future__ import annotations

import click

from . import console


@click.command("lsp")
@click.option("--stdio", is_flag=True, help="Standard input and output, which is the default.")
def lsp_command(stdio: bool) -> None:
    """Serve an editor by the Language Server Protocol, on standard input and output.

    Editors start this themselves; the documentation has their settings.
    """
    try:
        from ..lsp.serve import serve
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] not in ("pygls", "lsprotocol", "cattrs"):
            raise
        console.fail("the language server needs pygls: pip install 'ptxcheck[lsp]'")
    serve()
