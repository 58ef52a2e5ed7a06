"""The command line ``kueue-dra``: a menu of commands, each in a file of its own that is read when it is called."""

from __future__ import annotations

import difflib
import importlib
import io
import os
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

COMMANDS: Mapping[str, str] = {
    "run": "Judge the reference or a real Kueue by the conformance suites.",
    "simulate": "Play manifests on the reference and print the objects with their status.",
    "explain": "Show step by step how the decision on each Job came about.",
    "config": "Check a Kueue Configuration.",
    "replay": "Replay recorded scenarios and compare what is observed.",
    "report": "Check, compare and print conformance reports.",
    "differential": "Hunt for worlds on which the reference and a real Kueue differ.",
    "record": "Play a story on a real Kueue and write down what it shows after each step.",
    "shrink": "Reduce a scenario to the smallest on which the reference and a real Kueue still differ.",
    "controls": "Misconfigure a judge on purpose and see that the suite notices.",
    "matrix": "Judge every release of Kueue and lay the verdicts beside each other.",
    "devices": "Show which class matches which device, and what keeps the others out.",
    "vendor": "Check a driver's classes, slices and demos: are they fit for quota?",
    "cluster": "Keep a kind cluster with a real Kueue to work on.",
    "images": "List every image that a cluster of released parts is made of.",
    "requirements": "List the requirements that everything is judged by.",
    "diff-texts": "Compare two texts or releases, requirement by requirement.",
}
"""Every command and its first sentence; here, so that the menu is printed without importing any of them."""

UNASKABLE, OWN_FAULT, INTERRUPTED, NOBODY_READS = 2, 3, 130, 141
"""The last two are what a shell says of a program that Ctrl-C ended, and of one whose output nobody reads any more."""
TRACEBACK = "KUEUE_DRA_TRACEBACK"

SHARED: Mapping[str, tuple[str, str]] = {
    "cluster": ("cluster", "group"),
    "vendor": ("vendor", "group"),
    "images": ("cluster", "images"),
    "record": ("record", "record"),
    "shrink": ("record", "shrink"),
}
"""Commands that share a module of this package, or that are not called `command` there."""

EPILOG = """\
\b
Begin with
  kueue-dra run                              the whole suite against the reference in memory
  kueue-dra simulate -f my-manifests/        what Kueue would decide about my Jobs
  kueue-dra explain -f my-manifests/ my-job  and why

\b
Exit codes
  0  all is well
  1  something was judged and found wanting: a case, a configuration, a replayed step, a report
  2  the question could not be asked as it stands: the input, a reference in it, or the command line is wrong
  3  kueue-dra itself is at fault; please report it
"""


class LazyGroup(click.Group):
    """The commands by name, imported one at a time."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Be the program: a fault of our own is told in one line, for a traceback answers nobody's question."""
        try:
            return self.main(*args, **kwargs)
        except Exception as fault:
            if os.environ.get(TRACEBACK):
                raise
            *_, (frame, line) = traceback.walk_tb(fault.__traceback__)
            place = f"{Path(frame.f_code.co_filename).name}:{line}"
            click.echo(
                f"kueue-dra: its own fault, not yours: {type(fault).__name__} at {place}: {fault}",
                err=True,
            )
            click.echo(
                f"kueue-dra: please report it, with what {TRACEBACK}=1 prints before it ends",
                err=True,
            )
            sys.exit(OWN_FAULT)

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run a command line; what cannot be read or written is named."""
        try:
            return super().main(*args, **kwargs)
        except OSError as fault:
            told = (fault.strerror or str(fault)).lower()
            click.echo(f"kueue-dra: {fault.filename or 'the output'}: {told}", err=True)
            sys.exit(UNASKABLE)

    def invoke(self, ctx: click.Context) -> Any:
        """Call the command; whoever interrupts it or stops reading is answered as by the shell's own tools."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("kueue-dra: interrupted", err=True)
            ctx.exit(INTERRUPTED)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(NOBODY_READS)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands in the order in which a newcomer needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name not in COMMANDS:
            return None
        module, name = SHARED.get(cmd_name, (cmd_name.replace("-", "_"), "command"))
        found: click.Command = getattr(
            importlib.import_module(f"{__name__}.{module}"), name
        )
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say which one may have been meant."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            near = difflib.get_close_matches(args[0], COMMANDS, n=1)
            hint = (
                f"did you mean {near[0]}?" if near else f"known: {', '.join(COMMANDS)}"
            )
            ctx.fail(f"no such command {args[0]!r}; {hint}")
        return super().resolve_command(ctx, args)

    def format_commands(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Print the menu from what is known here."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if not wanted or ctx.resilient_parsing:
        return
    from importlib.metadata import PackageNotFoundError, version

    try:
        click.echo(f"kueue-dra {version('kueue-dra-conformance')}")
    except PackageNotFoundError:
        click.echo("kueue-dra (a checkout that is not installed)")
    ctx.exit()


@click.command(
    cls=LazyGroup,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_print_version,
    help="Print the version.",
)
def main() -> None:
    """Judge Kueue's support for Dynamic Resource Allocation (KEP-2941).

    A runnable reference decides about plain Kubernetes manifests as the text asks, or as a release of Kueue does, and
    a suite of cases judges the reference and real Kueues alike.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(
            stream, io.TextIOWrapper
        ):  # a terminal may lack a sign that we print
            stream.reconfigure(errors="replace")
