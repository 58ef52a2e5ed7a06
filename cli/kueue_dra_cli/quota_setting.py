"""Read ``--set clusterqueue/NAME:RESOURCE@FLAVOR=N``: a nominal quota that changes."""

from __future__ import annotations

import re
from collections.abc import Iterable

from kueue_dra_cli.errors import CliError
from kueue_dra_ref.api.quantities import BadQuantity, parse
from kueue_dra_ref.api.suggest import nearest
from kueue_dra_ref.controlplane.store import Store
from kueue_dra_ref.simulation.quota_fields import QuotaField, flavor_resources
from kueue_dra_ref.target import Manifest

FORM = (
    "clusterqueue/NAME:RESOURCE[@FLAVOR]=AMOUNT or cohort/NAME:RESOURCE[@FLAVOR]=AMOUNT"
)
_WRITTEN = re.compile(
    r"(?P<kind>[A-Za-z]+)(\.[a-z0-9.-]+)?/(?P<name>[^:/@=]+)"
    r":(?P<resource>[^:@=]+)(@(?P<flavor>[^@=]+))?=(?P<amount>.*)"
)
_KINDS = {
    "clusterqueue": "ClusterQueue",
    "clusterqueues": "ClusterQueue",
    "cq": "ClusterQueue",
    "cohort": "Cohort",
    "cohorts": "Cohort",
}


def quota_changes(settings: Iterable[str], store: Store) -> dict[QuotaField, str]:
    """Read the settings of a command line.

    Raises:
        CliError: one is malformed, or names what does not exist.

    """
    changes = {}
    for written in settings:
        field, amount = _change(written, store)
        changes[field] = amount
    return changes


def _change(written: str, store: Store) -> tuple[QuotaField, str]:
    found = _WRITTEN.fullmatch(written)
    if found is None:
        raise _fault(written, f"expected {FORM}")
    kind = _KINDS.get(found["kind"].lower())
    if kind is None:
        raise _fault(written, f"expected {FORM}")
    name = found["name"]
    resource = found["resource"]
    owner = _owner(written, store, kind, name)
    flavor = _flavor(written, owner, resource, found["flavor"])
    field = QuotaField(
        kind=kind,
        name=name,
        flavor=flavor,
        resource=resource,
    )
    return field, _amount(written, found["amount"])


def _owner(written: str, store: Store, kind: str, name: str) -> Manifest:
    owner = store.find(kind, name)
    if owner is None:
        known = [each["metadata"]["name"] for each in store.every(kind)]
        raise _fault(written, f"found no {kind} {name}; {nearest(name, known)}")
    return owner


def _flavor(written: str, owner: Manifest, resource: str, flavor: str | None) -> str:
    """Give the flavor of a resource; the only one unless it is named."""
    flavors = _flavors(written, owner, resource)
    has = f"{_title(owner)} has"
    if flavor is None:
        if len(flavors) == 1:
            return flavors[0]
        shown = ", @".join(flavors)
        raise _fault(
            written, f"{has} {resource} in several flavors: add one of @{shown}"
        )
    if flavor in flavors:
        return flavor
    near = nearest(flavor, flavors)
    raise _fault(written, f"{has} no quota for {resource} in flavor {flavor}; {near}")


def _flavors(written: str, owner: Manifest, resource: str) -> list[str]:
    """Give the flavors in which a ClusterQueue or Cohort has quota for a resource."""
    flavors = []
    known: dict[str, None] = {}
    for (flavor, name), _ in flavor_resources(owner):
        known[name] = None
        if name == resource:
            flavors.append(flavor)
    if not flavors:
        near = nearest(resource, known)
        raise _fault(written, f"{_title(owner)} has no quota for {resource}; {near}")
    return flavors


def _title(owner: Manifest) -> str:
    return f"{owner['kind']} {owner['metadata']['name']}"


def _amount(written: str, amount: str) -> str:
    try:
        parse(amount)
    except BadQuantity as bad:
        raise _fault(written, str(bad)) from None
    return amount


def _fault(written: str, what: str) -> CliError:
    return CliError([f"--set {written}: {what}"])
