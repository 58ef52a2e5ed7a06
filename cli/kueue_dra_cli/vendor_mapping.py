"""``kueue-dra vendor mapping``: a mapping of a driver's classes, and queues that fit its devices."""

from __future__ import annotations

import click

from kueue_dra_cli.errors import CliError
from kueue_dra_cli.options import cel_option
from kueue_dra_cli.vendor_files import context_of, input_options
from kueue_dra_ref.api.documents import written
from kueue_dra_vendor.mapping import documents, mapped
from kueue_dra_vendor.reading import VendorInput

EPILOG = """\
\b
Examples
  kueue-dra vendor mapping driver/ > quota.yaml
  kueue-dra simulate -f driver/ -f quota.yaml -o table    what the demos would be charged

\b
Exit codes
  0  written
  2  a file cannot be read, or no class matches a device
"""


@click.command(
    "mapping", epilog=EPILOG, short_help="Write a mapping and queues that fit."
)
@input_options(has_mapping=False)
@cel_option
def command(given: VendorInput) -> None:
    """Write a mapping of a driver's classes, and queues that fit its devices, ready to apply.

    Classes whose devices give out shares are charged by a capacity, those whose devices consume different amounts of
    a counter by that counter, all others by the number of devices. A descriptor decides first. The reasons are printed
    on the error stream.
    """
    context = context_of(given)
    inventory = context.inventory
    declared = context.descriptor.quotas if context.descriptor else None
    chosen, left = mapped(inventory, declared)
    if not chosen:
        raise CliError(
            [f"{each.title}: {why}" for each, why in left] or ["found no DeviceClass"]
        )
    click.echo(written(documents(inventory, chosen)), nl=False)
    for found in chosen:
        click.echo(
            f"{found.device_class.title} -> {found.resource} {found.nominal}: {found.why}",
            err=True,
        )
    for each, why in left:
        click.echo(f"{each.title} is not mapped: {why}", err=True)
