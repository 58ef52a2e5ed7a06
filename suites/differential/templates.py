"""The claim templates of generated worlds: what fits, what waits, and what Kueue refuses."""

from __future__ import annotations

from collections.abc import Mapping

from fixtures.builders import ClaimOf, DirectClaim, NamedTemplate, Template, a_request, a_template, first_available, gpu

LATE = "late.example.com"
"""A mapped class that is not there at first."""
MISSING = "missing"
"""A template that nobody makes."""

TEMPLATES: Mapping[str, Template] = {
    "one": a_template(gpu(1)),
    "two": a_template(gpu(2)),
    "three": a_template(gpu(3)),
    "two-and-one": a_template(gpu(2), gpu(1)),
    "nics": a_template(a_request("nic.example.com", count=2)),
    "gpu-and-nic": a_template(gpu(1), a_request("nic.example.com")),
    "selected": a_template(a_request(selectors=["device.attributes['gpu.example.com'].model == 'H100'"])),
    "late": a_template(a_request(LATE)),
    "unmapped": a_template(a_request("unmapped.example.com")),
    "all": a_template(a_request(mode="All", count=None)),
    "either": a_template(first_available("gpu.example.com", "nic.example.com")),
    "not-cel": a_template(a_request(selectors=["device.driver =="])),
}
"""Templates that are made in every namespace, by name."""

USUAL = ("one", "two", "three", "nics")
ASKED = (*USUAL * 4, *TEMPLATES, MISSING, "direct")
"""What jobs ask for; the usual more often than the rest."""


def claim_of(name: str) -> ClaimOf:
    """Give the claim that a job makes of one of the names in `ASKED`."""
    return DirectClaim() if name == "direct" else NamedTemplate(name=name)
