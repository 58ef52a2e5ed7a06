"""The quota of a ClusterQueue or Cohort as a page shows it: the figures, and the parts of a bar."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kueue_dra_ref.simulation.cluster_tree import TreeNode, TreeQuota

EN_DASH = "\N{EN DASH}"
QuotaKey = tuple[str, str]
"""The resource and the flavor."""
OF_NODES = frozenset({"cpu", "memory", "ephemeral-storage", "pods"})
"""Resources of each node, which a page lists after devices."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BarPart:
    """A part of a bar: what it shows, and its width in percent."""

    kind: str
    percent: float


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaCell:
    """The figures of one resource in one flavor."""

    nominal: str
    used: str
    borrowed: str
    lent: str
    limits: str
    """The borrowing and the lending limit in words; empty without any."""
    over: bool
    """Whether more is used than there is, without a Cohort to borrow from."""
    share: float
    """The used part of the nominal quota; 1 for use without any quota."""
    bar: Sequence[BarPart]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaRow:
    """A resource in a flavor, with its cell on each side of a page; None where a side has no such quota."""

    resource: str
    flavor: str
    cells: Sequence[QuotaCell | None]

    @property
    def changes(self) -> bool:
        """Whether the sides differ."""
        return any(each != self.cells[0] for each in self.cells)

    @property
    def idle(self) -> bool:
        """Whether nothing of it is used, borrowed or lent on any side."""
        cells = [each for each in self.cells if each is not None]
        return all(each.share == 0 and not each.bar for each in cells)


def quota_rows(sides: Sequence[TreeNode | None]) -> list[QuotaRow]:
    """Give the rows of a node that is on each side, or on one."""
    found: list[dict[QuotaKey, TreeQuota]] = []
    for node in sides:
        quotas = node.quotas if node else ()
        found.append({(each.resource, each.flavor): each for each in quotas})
    rows = []
    every = {key for quotas in found for key in quotas}
    for key in sorted(every, key=devices_first):
        cells = [_cell(quotas.get(key)) for quotas in found]
        rows.append(QuotaRow(resource=key[0], flavor=key[1], cells=cells))
    return rows


def devices_first(key: QuotaKey) -> tuple[bool, QuotaKey]:
    """Order resources: devices and what else is extended, then those of each node."""
    return key[0] in OF_NODES, key


def _cell(quota: TreeQuota | None) -> QuotaCell | None:
    if quota is None:
        return None
    nominal, used = quota.nominal.units, quota.used.units
    is_over = used - quota.borrowed.units > nominal
    share = used / nominal if nominal else float(used > 0)
    return QuotaCell(
        nominal=quota.nominal.text,
        used=quota.used.text,
        borrowed=quota.borrowed.text,
        lent=lent_text(quota),
        limits=_limits(quota),
        over=is_over,
        share=round(share, 4),
        bar=_bar(quota, is_over=is_over),
    )


def lent_text(quota: TreeQuota) -> str:
    """Print what is lent; a range if Kueue's figures leave several possibilities."""
    least, most = quota.lent_least.text, quota.lent_most.text
    return most if least == most else f"{least}{EN_DASH}{most}"


def _limits(quota: TreeQuota) -> str:
    found = []
    if quota.borrowing_limit:
        found.append(f"borrowing limit {quota.borrowing_limit}")
    if quota.lending_limit:
        found.append(f"lending limit {quota.lending_limit}")
    return ", ".join(found)


def _bar(quota: TreeQuota, *, is_over: bool) -> list[BarPart]:
    """Give the parts of a bar that is as wide as the nominal quota, or as what is used if that is more."""
    nominal, used = quota.nominal.units, quota.used.units
    whole = max(nominal, used)
    if whole <= 0:
        return []
    own = min(used, nominal)
    lent = min(quota.lent_most.units, nominal - own)
    beyond = "over" if is_over else "borrowed"
    parts = (("used", own), ("lent", lent), (beyond, used - own))
    return [
        BarPart(kind=kind, percent=round(100 * amount / whole, 2))
        for kind, amount in parts
        if amount > 0
    ]
