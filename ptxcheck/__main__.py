"""The program `ptxcheck`, also as `python -m ptxcheck`: Ctrl-C is taken care of before anything is imported.

What comes while the program that takes care of it is imported is an ordinary KeyboardInterrupt.
"""

from __future__ import annotations

import os


def _end() -> None:
    os.write(2, b"ptxcheck: interrupted\n")
    os._exit(130)


try:
    from .runtime.interrupts import Interrupts
except KeyboardInterrupt:
    _end()


def main() -> None:
    """Run the command line."""
    try:
        interrupts = Interrupts()
        interrupts.watch()
    except KeyboardInterrupt:
        _end()
    from .cli import main as command

    try:
        command(prog_name="ptxcheck", obj=interrupts)
    finally:
        interrupts.give_way()


if __name__ == "__main__":
    main()
