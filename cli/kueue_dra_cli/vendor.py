"""``kueue-dra vendor``: whether a driver is fit for quota, before a customer finds out."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import NamedTuple

import click

from kueue_dra_ref.api.suggest import nearest


class _Command(NamedTuple):
    """Where a command is, and its line in the menu, so that the menu needs no import."""

    module: str
    function: str
    help: str


COMMANDS: Mapping[str, _Command] = {
    "check": _Command(
        "vendor_check", "command", "Check a driver's classes, devices and demos."
    ),
    "checks": _Command(
        "vendor_checks", "command", "List every check, with effect and remedy."
    ),
    "schema": _Command(
        "vendor_checks", "schema_command", "Print a file's JSON Schema."
    ),
    "minors": _Command("vendor_minors", "command", "Say from when on a driver works."),
    "mapping": _Command(
        "vendor_mapping", "command", "Write a mapping and queues that fit."
    ),
    "charges": _Command(
        "vendor_charges", "command", "Show what Kueue charges each demo of a driver."
    ),
    "diff": _Command("vendor_diff", "command", "Say what a driver's upgrade changes."),
}
"""Each command in the order in which a vendor needs it."""


class _VendorGroup(click.Group):
    """The commands by name; a command is imported when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name not in COMMANDS:
            return None
        place = COMMANDS[cmd_name]
        module = importlib.import_module(f"kueue_dra_cli.{place.module}")
        found: click.Command = getattr(module, place.function)
        return found

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
