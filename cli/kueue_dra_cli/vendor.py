"""``kueue-dra vendor``: whether a driver is fit for quota, before a customer finds out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import click

from kueue_dra_ref.api.suggest import nearest


class _Command(NamedTuple):
    """How a command is imported, and its line in the menu, so that the menu needs no import."""

    load: Callable[[], click.Command]
    help: str


def _check() -> click.Command:
    from kueue_dra_cli.vendor_check import command

    return command


def _checks() -> click.Command:
    from kueue_dra_cli.vendor_checks import command

    return command


def _schema() -> click.Command:
    from kueue_dra_cli.vendor_checks import schema_command

    return schema_command


def _minors() -> click.Command:
    from kueue_dra_cli.vendor_minors import command

    return command


def _mapping() -> click.Command:
    from kueue_dra_cli.vendor_mapping import command

    return command


def _charges() -> click.Command:
    from kueue_dra_cli.vendor_charges import command

    return command


def _diff() -> click.Command:
    from kueue_dra_cli.vendor_diff import command

    return command


COMMANDS: Mapping[str, _Command] = {
    "check": _Command(_check, "Check a driver's classes, devices and demos."),
    "checks": _Command(_checks, "List every check, with effect and remedy."),
    "schema": _Command(_schema, "Print a file's JSON Schema."),
    "minors": _Command(_minors, "Say from when on a driver works."),
    "mapping": _Command(_mapping, "Write a mapping and queues that fit."),
    "charges": _Command(_charges, "Show what Kueue charges each demo of a driver."),
    "diff": _Command(_diff, "Say what a driver's upgrade changes."),
}
"""Each command in the order in which a vendor needs it."""


class _VendorGroup(click.Group):
    """The commands by name; a command is imported when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        found = COMMANDS.get(cmd_name)
        return found.load() if found else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or suggest the nearest name."""
        name = args[0] if args else ""
        if name and name not in COMMANDS and not name.startswith("-"):
            ctx.fail(f"no such command {name!r}; {nearest(name, COMMANDS)}")
        return super().resolve_command(ctx, args)

    def format_commands(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Print the menu without importing a command."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, each.help) for name, each in COMMANDS.items()])


@click.group("vendor", cls=_VendorGroup)
def group() -> None:
    """Check whether a driver's classes and devices are fit for quota."""
