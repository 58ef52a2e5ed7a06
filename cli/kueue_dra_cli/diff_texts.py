"""``kueue-dra diff-texts``: compare the requirements of two KEP texts or Kueue releases."""

from __future__ import annotations

from dataclasses import asdict

import click

from kueue_dra_cli.options import BehaviourChoice, output_option
from kueue_dra_cli.printing import as_json
from kueue_dra_ref.behaviours.releases import BY_NAME
from kueue_dra_ref.features.gate_changes import GateChanges, gate_changes
from kueue_dra_ref.requirements.catalogue import catalogue
from kueue_dra_ref.requirements.difference import difference
from kueue_dra_reports.changes_page import lines
from kueue_dra_reports.upgrade_page import gate_lines

EPILOG = """\
\b
Examples
  kueue-dra diff-texts kep-2025-07 kep-2025-09
  kueue-dra diff-texts kep-2025-09 kueue-0.19 -o json
  kueue-dra diff-texts kueue-0.18 kueue-0.19
"""


@click.command("diff-texts", epilog=EPILOG)
@click.argument("earlier", metavar="A", type=BehaviourChoice())
@click.argument("later", metavar="B", type=BehaviourChoice())
@output_option("text", "json")
def command(earlier: str, later: str, output: str) -> None:
    """Compare two texts or releases, requirement by requirement.

    The command prints the requirements that B adds, changes and drops, with the headings of their texts, and for two
    releases which of Kueue's feature gates differ.

    A and B are behaviours: texts of KEP-2941, or releases of Kueue; kueue-0.20 is provisional.
    """
    found = difference(catalogue(), earlier, later)
    gates = _gates(earlier, later)
    if output == "json":
        as_json({**asdict(found), **({"gates": asdict(gates)} if gates else {})})
        return
    text = [*lines(found)]
    listed = [*gate_lines(gates)] if gates else []
    if listed:
        text += ["### Feature gates\n", *listed]
    click.echo("\n".join(text).rstrip())


def _gates(earlier: str, later: str) -> GateChanges | None:
    """Compare the gates of two releases; None if one is a text."""
    before = BY_NAME[earlier]
    after = BY_NAME[later]
    if not (before.version and after.version):
        return None
    return gate_changes(before.behaviour().gates, after.behaviour().gates)
