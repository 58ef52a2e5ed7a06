"""``kueue-dra vendor diff``: what an upgrade of a driver changes for quota."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click

from kueue_dra_cli.errors import CliError
from kueue_dra_cli.options import cel_option, kubernetes_option, output_option
from kueue_dra_cli.printing import as_json
from kueue_dra_cli.vendor_files import context_of
from kueue_dra_ref.target import Manifest
from kueue_dra_vendor.check import VendorContext
from kueue_dra_vendor.mapping import documents, mapped
from kueue_dra_vendor.reading import VendorInput, configuration_with
from kueue_dra_vendor.upgrade import Change, Effect, Upgrade, changes

EPILOG = """\
\b
Examples
  kueue-dra vendor diff driver-1.0/ driver-1.1/                         under the mapping among the old files
  kueue-dra vendor diff driver-1.0/ driver-1.1/ --config mapping.yaml   under a customer's mapping

\b
Exit codes
  0  nothing that a user of quota depends on breaks
  1  something breaks
  2  a file cannot be read, or holds nothing to compare
"""


@click.command("diff", epilog=EPILOG, short_help="Say what a driver's upgrade changes.")
@click.argument("old", type=click.Path(path_type=Path), metavar="OLD")
@click.argument("new", type=click.Path(path_type=Path), metavar="NEW")
@click.option(
    "--config",
    "configuration",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The mapping. Default: the one among the old files, else the one that vendor mapping would write.",
)
@kubernetes_option
@cel_option
@output_option("text", "json")
def command(
    old: Path, new: Path, configuration: Path | None, kubernetes: str, output: str
) -> None:
    """Print what a driver's upgrade from OLD to NEW, files or folders, changes for quota.

    Compares classes, the devices that each class and each old template matches, attributes (those that selectors read
    break them), counters, names of devices, and what Kueue 0.19 charges one pod of each class and template. The
    mapping does not change, as a customer keeps it. What was published is compared; other nodes may publish more.
    """
    before = context_of(_given(old, configuration, kubernetes))
    after = context_of(_given(new, configuration, kubernetes))
    upgrade = Upgrade(
        old=before.inventory,
        new=after.inventory,
        configuration=_mapping(before),
        kubernetes=before.api_server,
    )
    try:
        found = changes(upgrade)
    except ValueError as fault:
        raise CliError([f"{old}: the mapping is refused: {fault}"]) from None
    if output == "json":
        as_json({"changes": [_as_json(each) for each in found]})
    else:
        for each in found:
            click.echo(str(each))
        click.echo(_summary(found))
    raise SystemExit(1 if any(each.effect is Effect.BREAKS for each in found) else 0)


def _given(path: Path, configuration: Path | None, kubernetes: str) -> VendorInput:
    return VendorInput(paths=[path], configuration=configuration, kubernetes=kubernetes)


def _mapping(before: VendorContext) -> Manifest:
    if before.configuration_document:
        manifest = before.configuration_document.manifest
        return configuration_with(manifest, before.kueue_gates)
    chosen, _ = mapped(before.inventory)
    return documents(before.inventory, chosen)[0]


def _summary(found: Sequence[Change]) -> str:
    counted = Counter(each.effect for each in found)
    if not found:
        return "nothing changes for quota"
    return ", ".join(f"{counted[each]} {each}" for each in Effect if counted[each])


def _as_json(each: Change) -> dict[str, str]:
    return {"effect": each.effect.value, "object": each.object, "text": each.text}
