"""The language server on standard input and output."""

from __future__ import annotations

import os
import sys

from . import features
from .server import Server


def make_server() -> Server:
    """Return the server with everything that it answers."""
    server = Server()
    features.add_documents(server)
    features.add_questions(server)
    features.add_names(server)
    features.add_actions(server)
    return server


def serve() -> None:
    """Serve one client on standard input and output. Whatever else is printed goes to standard error."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    make_server().start_io(stdout=answers)
