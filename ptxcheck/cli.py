"""The command line: its commands, and what becomes of errors. Heavy modules are imported where they are used."""

from __future__ import annotations

import os
from typing import Any

import click

from .commands import console
from .commands.baseline import baseline_group
from .commands.check import check_command
from .commands.diff import diff_command
from .commands.explain import explain_command
from .commands.fix import fix_command
from .commands.lsp import lsp_command
from .commands.parse import parse_command
from .commands.repair import repair_command
from .commands.rules import rules_command
from .commands.run import run_command
from .commands.show import show_group
from .commands.suppress import suppress_command
from .commands.tma import tma_group
from .commands.view import view_command
from .results import PluginError, UnknownSelectorError
from .version import __version__


class _Commands(click.Group):
    """Turns whatever goes wrong into one line and exit code 2; 1 means findings."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except KeyboardInterrupt:
            console.interrupted()
        except MemoryError:
            console.fail("out of memory")
        except (PluginError, UnknownSelectorError) as error:
            console.fail(str(error))
        except Exception as error:
            if os.environ.get("PTXCHECK_TRACEBACK"):
                raise
            console.fail(f"internal error, please report it: {type(error).__name__}: {error}")


def _version(context: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        from .isa.versions import known_versions

        first, last = known_versions()
        console.write(f"ptxcheck {__version__} (PTX ISA {first} to {last})\n")
        context.exit()


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=_version, help="Say which version."
)
def main() -> None:
    """Check PTX and CUDA kernels: mbarrier phases, copy groups, proxies and fences, wgmma, tcgen05.

    Exit codes: 0 clean, 1 findings, 2 bad input or usage, 3 not checked in full (with --strict).
    """


_COMMANDS: tuple[click.Command, ...] = (
    check_command, baseline_group, suppress_command, diff_command, explain_command, rules_command, parse_command,
    tma_group, show_group, run_command, fix_command, repair_command, view_command, lsp_command,
)  # fmt: skip

for _command in _COMMANDS:
    main.add_command(_command)

if __name__ == "__main__":
    main()
