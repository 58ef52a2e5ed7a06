"""The command line ``kueue-dra``: a menu of commands, each in a module that is imported when it is called."""

from __future__ import annotations

import difflib
import importlib
import io
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import click

COMMANDS: Mapping[str, str] = {
    "run": "Run the conformance suites against the reference or a real Kueue.",
    "simulate": "Apply manifests to the reference and print the objects with their status.",
    "explain": "Explain the decision on each Job, step by step.",
    "show": "Draw the cohort tree of a cluster, its quotas, and what each workload waits for.",
    "what-if": "Print which workloads a change of a cluster affects.",
    "config": "Check a Kueue Configuration.",
    "replay": "Replay recorded scenarios and compare what is observed.",
    "report": "Check, compare and print conformance reports.",
    "evidence": "Write evidence for CNCF's Kubernetes AI Conformance 1.37 from the report of a run on a real Kueue.",
    "differential": "Generate scenarios and report where the reference and a real Kueue disagree.",
    "record": "Run a scenario on a real Kueue and record what it shows after each step.",
    "shrink": "Reduce a scenario to the smallest on which the reference and a real Kueue still differ.",
    "controls": "Misconfigure the target on purpose and check that the listed cases fail.",
    "matrix": "Run the suites against each release of Kueue and print one table.",
    "manifests": "Print the manifests that run the suites in pods of a cluster, one part of the cases in each.",
    "dump": "Read from a cluster everything that decides about quota for devices, and change nothing.",
    "audit": "Check whether a cluster keeps what Kueue promises, right now, and change nothing.",
    "devices": "Print which DeviceClass matches which device of the ResourceSlices.",
    "vendor": "Check whether a driver's classes and devices are fit for quota.",
    "cluster": "Create a kind cluster with a real Kueue, and delete it.",
    "images": "List every image that a kind cluster needs.",
    "behaviour": "Print the rules in force in a text or a release.",
    "requirements": "List the requirements that the cases check.",
    "diff-texts": "Compare two texts or releases, requirement by requirement.",
}
"""Each command with the first sentence of its help, so that the menu needs no import."""

INVALID_INPUT, INTERNAL_ERROR, INTERRUPTED, OUTPUT_CLOSED, TERMINATED = (
    2,
    3,
    130,
    141,
    143,
)
"""Exit codes; the last three are those of a shell: Ctrl-C, a reader that closed the output, and SIGTERM."""
TRACEBACK = "KUEUE_DRA_TRACEBACK"
MOMENT = 0.01
"""Seconds after which a signal comes again."""
LONGEST_REASON = 200
"""Characters of the text of an internal error."""

SHARED: Mapping[str, tuple[str, str]] = {
    "cluster": ("cluster", "group"),
    "vendor": ("vendor", "group"),
    "images": ("cluster", "images"),
    "record": ("record", "record"),
    "shrink": ("record", "shrink"),
}
"""Module and function of each command that is not `command` in a module of its own name."""

EPILOG = """\
\b
Start with
  kueue-dra run                              the whole suite against the reference in memory
  kueue-dra simulate -f my-manifests/        what Kueue would decide about your Jobs
  kueue-dra explain -f my-manifests/ my-job  and why

\b
Exit codes
  0  success
  1  a check failed: a case, a Configuration, a replayed step, a report
  2  invalid input: a file, an object, a reference in it, or the command line
  3  internal error; please report it
"""


class Terminated(KeyboardInterrupt):
    """SIGTERM, which ends a command as Ctrl-C does, with an exit code of its own."""

    exit_code = TERMINATED


def _comes_again(number: int, frame: FrameType | None) -> bool:
    """Send a signal again in a moment if it came between two lines, where pytest cannot report an interruption.

    On a busy machine it may come again before this returns, which is still between the two lines.
    """
    if frame is None or not (frame.f_lineno is None or _is_sent_again(frame)):
        return False
    threading.Timer(MOMENT, os.kill, [os.getpid(), number]).start()
    return True


def _is_sent_again(frame: FrameType) -> bool:
    """Whether a frame runs while another signal is handled, which is sent again."""
    handlers = {each.__code__ for each in (_terminate, _interrupt)}
    caller: FrameType | None = frame
    while caller is not None and caller.f_code not in handlers:
        caller = caller.f_back
    return caller is not None


def _terminate(number: int, frame: FrameType | None) -> None:
    if _comes_again(number, frame):
        return
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise Terminated


def _interrupt(number: int, frame: FrameType | None) -> None:
    """End the command; a SIGTERM that follows does not disturb the clean-up, a second Ctrl-C ends it."""
    if _comes_again(number, frame):
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise KeyboardInterrupt


def _leave(_: int, __: object) -> NoReturn:
    """End the program before or after the command, where there is nothing to clean up."""
    sys.exit(INTERRUPTED)


def _set_interrupt(handler: Any) -> None:
    """Handle Ctrl-C outside the command, unless it is ignored."""
    if threading.current_thread() is not threading.main_thread():
        return
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, handler)


@contextmanager
def _signals() -> Iterator[None]:
    """Let SIGTERM end the command as Ctrl-C does, with its clean-up; an ignored signal stays ignored."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = {signal.SIGTERM: _terminate, signal.SIGINT: _interrupt}
    before = {number: signal.getsignal(number) for number in handlers}
    for number, handler in handlers.items():
        if before[number] is not signal.SIG_IGN:
            signal.signal(number, handler)
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


class LazyGroup(click.Group):
    """The commands by name; a command is imported when it is called."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the program, and report an internal error in one line."""
        _set_interrupt(_leave)
        try:
            return self.main(*args, **kwargs)
        except Exception as fault:
            if os.environ.get(TRACEBACK):
                raise
            *_, (frame, line) = traceback.walk_tb(fault.__traceback__)
            place = f"{Path(frame.f_code.co_filename).name}:{line}"
            text = " ".join(str(fault).split())[:LONGEST_REASON]
            click.echo(
                f"kueue-dra: internal error (please report): {type(fault).__name__} at {place}: {text}; "
                f"{TRACEBACK}=1 prints the traceback",
                err=True,
            )
            sys.exit(INTERNAL_ERROR)
        finally:
            _set_interrupt(signal.SIG_IGN)  # the work is complete

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run a command line, and name a file that cannot be read or written."""
        if sys.stdout is None:
            click.echo("kueue-dra: standard output is closed", err=True)
            sys.exit(INVALID_INPUT)
        try:
            return super().main(*args, **kwargs)
        except OSError as fault:
            reason = (fault.strerror or str(fault)).lower()
            file = fault.filename or "the output"
            click.echo(f"kueue-dra: {file}: {reason}", err=True)
            sys.exit(INVALID_INPUT)

    def invoke(self, ctx: click.Context) -> Any:
        """Call the command; Ctrl-C, SIGTERM and a closed output end it as they end other programs of a shell."""
        try:
            with _signals():
                return super().invoke(ctx)
        except click.ClickException as fault:
            from kueue_dra_cli.errors import shortened

            lines = fault.message.splitlines()
            vars(fault)["message"] = "\n".join(map(shortened, lines))
            raise
        except Terminated:
            click.echo("kueue-dra: terminated", err=True)
            ctx.exit(TERMINATED)
        except KeyboardInterrupt:
            click.echo("kueue-dra: interrupted", err=True)
            ctx.exit(INTERRUPTED)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(OUTPUT_CLOSED)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List the commands in the order in which a new user needs them."""
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
        """Find the command, or suggest the nearest name."""
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
        """Print the menu without importing a command."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if not wanted or ctx.resilient_parsing:
        return
    from importlib.metadata import PackageNotFoundError, version

    try:
        click.echo(f"kueue-dra {version('kueue-dra-conformance')}")
    except PackageNotFoundError:
        click.echo("kueue-dra (from a checkout that is not installed)")
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
    """Check Kueue's support for Dynamic Resource Allocation (KEP-2941).

    A reference in memory decides about plain Kubernetes manifests as a text of the KEP or a release of Kueue does. A
    suite of cases runs unchanged against the reference and against a real Kueue.
    """
    # The menu imports nothing of the reference.
    from kueue_dra_ref.api.garbage import collect_rarely

    collect_rarely()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal may lack a character that we print.
            stream.reconfigure(errors="replace")
