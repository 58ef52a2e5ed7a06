"""How much each ClusterQueue lends: the least and the most of all ways in which Kueue's figures can come about."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import product

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kueue_dra_ref.model.resource_node import ResourceNode, ResourceQuotaLimits
from kueue_dra_ref.simulation.lent_quota import borrowed_by, lent_by

OF = ("a100", "whole-gpus")


def a_tree(cohort: ResourceNode, *members: ResourceNode) -> ResourceNode:
    """Put nodes below a Cohort."""
    for each in members:
        each.parent = cohort
        cohort.members.append(each)
    return cohort


def a_queue(name: str, nominal: int, used: int, lending: int | None = None) -> ResourceNode:
    """Give a ClusterQueue with a quota and what its workloads use."""
    limits = {OF: ResourceQuotaLimits(nominal=nominal, lending=lending)}
    return ResourceNode(name=name, limits=limits, is_queue=True, usage={OF: used})


def a_cohort(name: str, nominal: int = 0) -> ResourceNode:
    """Give a Cohort with quota of its own."""
    return ResourceNode(name=name, limits={OF: ResourceQuotaLimits(nominal=nominal)})


def lent(root: ResourceNode) -> dict[str, tuple[int, int]]:
    """Give the range that each node lends."""
    root.update()
    found = lent_by([root, *root.below()], OF)
    return {node.name: (each.least, each.most) for node, each in found.items()}


def test_the_only_one_with_spare_quota_lends() -> None:
    """The figure is exact, and so is what is borrowed."""
    queues = a_queue("a", 2, 5), a_queue("b", 4, 1)
    root = a_tree(a_cohort("org"), *queues)

    assert lent(root) == {"org": (0, 0), "a": (0, 0), "b": (3, 3)}
    assert [borrowed_by(each, OF) for each in queues] == [3, 0]


def test_two_that_could_lend_have_a_range() -> None:
    """Kueue does not record which of them does; together they lend three."""
    root = a_tree(a_cohort("org"), a_queue("a", 0, 3), a_queue("b", 2, 0), a_queue("c", 4, 2))

    assert lent(root) == {"org": (0, 0), "a": (0, 0), "b": (1, 2), "c": (1, 2)}


def test_a_lending_limit_bounds_what_is_lent() -> None:
    """What the limit keeps is never lent."""
    root = a_tree(a_cohort("org"), a_queue("a", 0, 2), a_queue("b", 4, 0, lending=1), a_queue("c", 4, 0))

    assert lent(root) == {"org": (0, 0), "a": (0, 0), "b": (0, 1), "c": (1, 2)}


def test_quota_of_the_cohort_may_be_what_is_borrowed() -> None:
    """Then no ClusterQueue has to lend."""
    root = a_tree(a_cohort("org", 2), a_queue("a", 0, 2), a_queue("b", 4, 0))

    assert lent(root)["b"] == (0, 2)


def test_a_cohort_lends_to_another_one() -> None:
    """What its members lend passes through it."""
    one = a_tree(a_cohort("one"), a_queue("a", 4, 1))
    other = a_tree(a_cohort("other"), a_queue("b", 1, 3))
    root = a_tree(a_cohort("org"), one, other)

    assert lent(root) == {"org": (0, 0), "one": (2, 2), "other": (0, 0), "a": (2, 2), "b": (0, 0)}
    assert borrowed_by(other, OF) == 2


def test_outside_any_cohort_nothing_is_borrowed() -> None:
    """Use above the quota, after the quota was lowered, is no loan."""
    queue = a_queue("a", 2, 5)

    assert lent(queue) == {"a": (0, 0)}
    assert borrowed_by(queue, OF) == 0


Way = Mapping[str, int]
"""One way in which what is borrowed comes from what is spare: what each node passes to the Cohort above it."""


def _passes(node: ResourceNode) -> Collection[int]:
    """Give what a node may pass up: what it borrows with a minus, or any part of its spare quota."""
    if node.parent is None:
        return (0,)
    offered = node.quota(OF) - node.local_quota(OF)
    stored = max(0, node.used(OF) - node.local_quota(OF))
    return (offered - stored,) if stored > offered else range(offered - stored + 1)


def _ways(node: ResourceNode) -> Iterator[tuple[int, Way]]:
    """Give each way below a node with what the node passes up."""
    passes = _passes(node)
    if node.is_queue:
        yield from ((up, {node.name: max(0, up)}) for up in passes)
        return
    for members in product(*(list(_ways(each)) for each in node.members)):
        below = {name: amount for _, way in members for name, amount in way.items()}
        for own in range(node.quota_for(OF).nominal + 1):
            up = own + sum(passed for passed, _ in members)
            if up in passes:
                yield up, {**below, node.name: max(0, up)}


queue_figures = st.tuples(st.integers(0, 3), st.integers(0, 3), st.none() | st.integers(0, 3))


@settings(max_examples=150)
@given(
    branches=st.lists(st.lists(queue_figures, min_size=1, max_size=3), min_size=1, max_size=2),
    owns=st.tuples(st.integers(0, 1), st.integers(0, 1), st.integers(0, 1)),
)
def test_the_range_is_that_of_all_ways(
    branches: list[list[tuple[int, int, int | None]]], owns: tuple[int, int, int]
) -> None:
    """Each bound is reached, and no way is outside."""
    root = a_cohort("org", owns[0])
    for number, figures in enumerate(branches):
        queues = []
        for index, (nominal, used, lending) in enumerate(figures):
            limit = None if lending is None else min(lending, nominal)
            queues.append(a_queue(f"q-{number}-{index}", nominal, used, limit))
        a_tree(root, a_tree(a_cohort(f"c-{number}", owns[number + 1]), *queues))
    root.update()
    assume(root.used(OF) <= root.quota(OF))

    found = lent(root)

    ways = [way for _, way in _ways(root)]
    assert ways
    bounds = {name: (min(way[name] for way in ways), max(way[name] for way in ways)) for name in found}
    assert found == bounds
