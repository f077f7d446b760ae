"""The program `ptxcheck`, also as `python -m ptxcheck`: Ctrl-C is taken care of before anything is imported."""

from __future__ import annotations

from .runtime.interrupts import Interrupts


def main() -> None:
    """Run the command line."""
    interrupts = Interrupts()
    interrupts.watch()
    from .cli import main as command

    try:
        command(prog_name="ptxcheck", obj=interrupts)
    finally:
        interrupts.give_way()


if __name__ == "__main__":
    main()
