"""The vendors' data sets, and what each is expected to give; ``python -m tests.vendor_examples`` shows what changed.

With ``--write`` it rewrites the files: a finding that is new gets the reason ``NOT REVIEWED``, which a test refuses.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.simulation.explanation import outcome
from kueue_dra_ref.target import Manifest, Target
from kueue_dra_vendor.admissions import DemoAnswer, VendorAnswer, answer
from kueue_dra_vendor.files import VendorFiles, load
from kueue_dra_vendor.inventory import Inventory
from kueue_dra_vendor.mapping import documents, mapped
from tests.commands import ROOT, kueue_dra

VENDORS = ROOT / "examples" / "vendors"
DATA_SETS = sorted(each for each in VENDORS.iterdir() if each.is_dir())
NOT_REVIEWED = "NOT REVIEWED"
KUBERNETES = "1.36"


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """The file ``expected-findings.yaml`` of a data set."""

    findings: Sequence[tuple[str, str]]
    """Check and object of each finding, sorted."""
    reasons: Sequence[str]
    errors_with_mapping: dict[str, str]
    """Further checks of level error that find something in the generated mapping, each with the reason."""
    demos: dict[str, Any]
    """By namespace and name of the Job: what it is charged, or why it is not admitted."""


def path_of(data_set: Path) -> Path:
    """Give the file of a data set."""
    return data_set / "expected-findings.yaml"


def expected(data_set: Path) -> Expected:
    """Read the file of a data set."""
    document = yaml.safe_load(path_of(data_set).read_text("utf-8"))
    entries = document["findings"]
    return Expected(
        findings=sorted((each["check"], one) for each in entries for one in each["objects"]),
        reasons=[each["reason"] for each in entries],
        errors_with_mapping=document.get("errorsWithMapping", {}),
        demos=document["demos"],
    )


def findings(data_set: Path) -> Sequence[tuple[str, str]]:
    """Run the checks as a user does."""
    done = kueue_dra("vendor", "check", data_set, "--kubernetes", KUBERNETES, "-o", "json")
    return sorted((each["check"], each["object"]) for each in json.loads(done.stdout)["findings"])


def generated(data_set: Path) -> tuple[VendorFiles, Manifest, Sequence[Manifest]]:
    """Give the files, the Configuration and the queues that ``vendor mapping`` writes for them."""
    files = load([data_set], KUBERNETES)
    inventory = Inventory.of(files)
    chosen, _ = mapped(inventory)
    configuration, *queues = documents(inventory, chosen)
    return files, configuration, queues


def answered(data_set: Path, target: Target) -> VendorAnswer:
    """Let a target decide about the demos."""
    files, configuration, queues = generated(data_set)
    return answer(target, files, configuration, queues)


def in_words(demo: DemoAnswer) -> Any:
    """Give what a demo is charged, or the verdict with its reason."""
    if demo.amounts:
        return demo.amounts
    if demo.verdict is None:
        return f"rejected: {demo.message}"
    return ": ".join(outcome(demo.verdict))


def _written(data_set: Path) -> str:
    """Give the file as it would be, with the reasons that it has."""
    known = yaml.safe_load(path_of(data_set).read_text("utf-8")) if path_of(data_set).exists() else {}
    reasons = {(each["check"], one): each["reason"] for each in known.get("findings", ()) for one in each["objects"]}
    grouped: dict[tuple[str, str], list[str]] = defaultdict(list)
    for check, one in findings(data_set):
        grouped[check, reasons.get((check, one), NOT_REVIEWED)].append(one)
    entries = [{"check": check, "objects": some, "reason": why} for (check, why), some in grouped.items()]
    demos = {each.demo: in_words(each) for each in answered(data_set, ReferenceTarget(behaviour())).demos}
    with_mapping = known.get("errorsWithMapping")
    head = {
        "apiVersion": "kueue-dra.dev/v1alpha1",
        "kind": "ExpectedFindings",
        "metadata": {"name": data_set.name},
        "findings": entries,
        **({"errorsWithMapping": with_mapping} if with_mapping else {}),
        "demos": demos,
    }
    return yaml.safe_dump(head, sort_keys=False, width=116)


def _changes(data_set: Path) -> Iterator[str]:
    found, wanted = list(findings(data_set)), list(expected(data_set).findings)
    for each in list(found):
        if each in wanted:
            wanted.remove(each)
            found.remove(each)
    yield from (f"{data_set.name}: new: {' '.join(each)}" for each in found)
    yield from (f"{data_set.name}: gone: {' '.join(each)}" for each in wanted)


def main(arguments: Sequence[str]) -> None:
    """Print what changed, or write the files."""
    for each in DATA_SETS:
        if "--write" in arguments:
            path_of(each).write_text(_written(each), "utf-8")
        else:
            print("\n".join(_changes(each)) or f"{each.name}: as expected")


if __name__ == "__main__":
    main(sys.argv[1:])
