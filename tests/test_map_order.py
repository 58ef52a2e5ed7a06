"""Decisions that depend on chance in Kueue: a hash or an observation decides, and only about the order."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kueue_dra_fixtures.builders import a_job, a_template, gpu
from kueue_dra_fixtures.limitranges import a_limit_range
from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.reference.replay import answers
from kueue_dra_ref.rules.flavorassigner.flavor_fungibility import PreemptionMode
from kueue_dra_ref.scenarios.scenario import Scenario
from kueue_dra_ref.workload.map_order import CERTAIN, MapOrder, MapOrderDraw
from tests.clusters_live.manifests import CONFIGURATION, a_world
from tests.clusters_live.manifests import a_job as a_job_manifest
from tests.commands import kueue_dra
from tests.labs import a_lab

NEVER = {"cpu": PreemptionMode.NO_FIT, "gpus": PreemptionMode.NO_FIT, "nics": PreemptionMode.FIT}
TOLD = "couldn't assign flavors to pod set main: insufficient quota for {} in flavor f, previously considered podsets "
TOLD += "requests (0) + current podset request (2) > maximum capacity (1)"


def test_without_a_witness_a_hash_decides() -> None:
    """The order depends on the names alone."""
    assert CERTAIN.quotas(NEVER, "f") == CERTAIN.quotas(dict(reversed(NEVER.items())), "f")
    assert CERTAIN.groups(["a", "b"], no_flavors) == CERTAIN.groups(["b", "a"], no_flavors)


def no_flavors(_: str) -> list[str]:
    """No flavors of a group."""
    return []


@pytest.mark.parametrize("first", ["a", "b", "c"])
def test_the_group_of_a_flavor_that_was_told_comes_first(first: str) -> None:
    """What a topology refuses is about a flavor, and names no resource."""
    seen = f'couldn\'t assign flavors to pod set main: Flavor "of-{first}" does not support TopologyAwareScheduling'

    found = MapOrderDraw(seen=seen).groups(["a", "b", "c"], lambda resource: [f"of-{resource}"])

    assert found[0] == first


@pytest.mark.parametrize("first", ["cpu", "gpus"])
def test_what_was_told_comes_first(first: str) -> None:
    """The resource that was seen to end the look at a flavor is looked at before the others."""
    draw = MapOrderDraw(seen=TOLD.format(first))

    assert draw.quotas(NEVER, "f")[0] == first
    assert draw.groups(["nics", "cpu", "gpus"], no_flavors)[0] == first


def test_what_was_told_beside_the_end_comes_before_it() -> None:
    """The resource that never fits ended the scan, so of the two that the message names it came last."""
    seen = TOLD.format("cpu") + ", insufficient unused quota for gpus in flavor f, 1 more needed"

    assert MapOrderDraw(seen=seen).quotas({"cpu": PreemptionMode.NO_FIT, "gpus": PreemptionMode.PREEMPT}, "f") == [
        "gpus",
        "cpu",
    ]


def test_each_pod_set_goes_by_what_was_told_of_it() -> None:
    """Each workload has a map of its own, so the message of one does not show the order of the other."""
    both = (
        TOLD.format("cpu").replace("set main", "set one") + ", insufficient unused quota for gpus in flavor f, 1 more"
    )
    draw = MapOrderDraw(seen=f"{both}; {TOLD.format('cpu')}")
    modes = {"cpu": PreemptionMode.NO_FIT, "gpus": PreemptionMode.PREEMPT}

    assert draw.order_for_pod_set("one").quotas(modes, "f") == ["gpus", "cpu"]
    assert draw.order_for_pod_set("main").quotas(modes, "f") == ["cpu", "gpus"]


def test_a_workload_goes_by_the_name_of_its_job() -> None:
    """Recordings name Jobs; a Workload that was made directly has a name of its own."""
    chance = MapOrder(orders=True, seen={"job": "x", "alone": "y"})

    assert (
        chance.for_workload({"metadata": {"name": "w", "ownerReferences": [{"kind": "Job", "name": "job"}]}}).seen
        == "x"
    )
    assert chance.for_workload({"metadata": {"name": "alone"}}).seen == "y"


def _scenario(expected: str, kueue: str) -> dict[str, Any]:
    flavor = {"name": "f", "resources": [{"name": name, "nominalQuota": 1} for name in ("cpu", "gpus")]}
    group = {"coveredResources": ["cpu", "gpus"], "flavors": [flavor]}
    kinds = {"apiVersion": "kueue.x-k8s.io/v1beta2"}
    container = {"name": "c", "image": "x", "resources": {"requests": {"cpu": "2"}, "claims": [{"name": "d"}]}}
    claims = [{"name": "d", "resourceClaimTemplateName": "two"}]
    pod = {"containers": [container], "resourceClaims": claims, "restartPolicy": "Never"}
    exactly = {"deviceClassName": "gpu.example.com", "allocationMode": "ExactCount", "count": 2}
    made = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}},
        {**kinds, "kind": "ResourceFlavor", "metadata": {"name": "f"}, "spec": {}},
        {
            **kinds,
            "kind": "ClusterQueue",
            "metadata": {"name": "q"},
            "spec": {"namespaceSelector": {}, "resourceGroups": [group]},
        },
        {
            **kinds,
            "kind": "LocalQueue",
            "metadata": {"name": "l", "namespace": "team"},
            "spec": {"clusterQueue": "q"},
        },
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaimTemplate",
            "metadata": {"name": "two", "namespace": "team"},
            "spec": {"spec": {"devices": {"requests": [{"name": "r", "exactly": exactly}]}}},
        },
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": "j", "namespace": "team", "labels": {"kueue.x-k8s.io/queue-name": "l"}},
            "spec": {"suspend": True, "template": {"spec": pod}},
        },
    ]
    reserved = {"status": "False", "reason": "Pending", "message": expected}
    zero = {name: {"total": "0", "borrowed": "0"} for name in ("cpu", "gpus")}
    queue = {"pending": 1, "reserving": 0, "admitted": 0, "reservation": {"f": zero}}
    asked = [{"name": "main", "resources": {"cpu": "2", "gpus": "2"}}]
    workload = {"QuotaReserved": reserved, "admission": None, "requests": asked}
    mapping = {"name": "gpus", "deviceClassNames": ["gpu.example.com"]}
    return {
        "apiVersion": "kueue-dra.dev/v1alpha1",
        "kind": "Scenario",
        "metadata": {"name": "two-shortages"},
        "spec": {"configuration": {"resources": {"deviceClassMappings": [mapping]}}, "steps": [{"apply": made}]},
        "status": {"kueue": kueue, "observations": [{"workloads": {"j": workload}, "clusterQueues": {"q": queue}}]},
    }


@pytest.mark.parametrize(
    ("expected", "kueue", "code"),
    [
        pytest.param(["cpu"], "0.18.3", 0, id="one"),
        pytest.param(["gpus"], "0.18.3", 0, id="the-other"),
        pytest.param(["cpu", "gpus"], "0.18.3", 1, id="both-are-never-told"),
        pytest.param(["cpu", "gpus"], "0.19.2", 0, id="both-are-always-told"),
        pytest.param(["gpus"], "0.19.2", 1, id="one-is-never-told"),
    ],
)
def test_a_recording_is_judged_by_its_minor(tmp_path: Path, expected: list[str], kueue: str, code: int) -> None:
    """Where chance decides any outcome that it can have agrees, and no other."""
    reasons = ", ".join(TOLD.format(name).partition("main: ")[2] for name in expected)
    file = tmp_path / "recorded.jsonl"
    file.write_text(json.dumps(_scenario(f"couldn't assign flavors to pod set main: {reasons}", kueue)), "utf-8")

    found = kueue_dra("replay", "--check", str(file))

    assert found.exit_code == code, found.output


@pytest.mark.parametrize(
    ("expected", "code"),
    [
        pytest.param("", 0, id="the-queues-heard-first"),
        pytest.param("LocalQueue l is inactive", 0, id="the-controller-looked-first"),
        pytest.param("LocalQueue other is inactive", 1, id="never-told"),
    ],
)
def test_a_stop_is_heard_in_either_order(tmp_path: Path, expected: str, code: int) -> None:
    """Kueue looks at device work behind a queue that is stopped, and takes the queue away, at one time."""
    file = tmp_path / "stopped.jsonl"
    before = _scenario("couldn't assign flavors to pod set main: ", "0.19.2")
    (first,) = before["status"]["observations"]
    first["workloads"]["j"]["QuotaReserved"]["message"] += ", ".join(
        TOLD.format(name).partition("main: ")[2] for name in ("cpu", "gpus")
    )
    local = next(each for each in before["spec"]["steps"][0]["apply"] if each["kind"] == "LocalQueue")
    before["spec"]["steps"].append({"apply": [{**local, "spec": {**local["spec"], "stopPolicy": "Hold"}}]})
    after = json.loads(json.dumps(first).replace('"pending": 1', '"pending": 0'))
    if expected:
        after["workloads"]["j"]["QuotaReserved"] |= {"reason": "Inadmissible", "message": expected}
    before["status"]["observations"].append(after)
    file.write_text(json.dumps(before), "utf-8")

    found = kueue_dra("replay", "--check", str(file))

    assert found.exit_code == code, found.output


CONTENDED = (
    "couldn't assign flavors to pod set main: insufficient unused quota for whole-gpus in flavor {}, 1 more needed"
)
LOST = "Workload no longer fits after processing another workload"


@pytest.mark.parametrize(
    ("name", "found"),
    [pytest.param("kueue-0.14.0", "cpu", id="refused"), pytest.param("kueue-0.15.2", "small", id="not")],
)
def test_a_word_that_comes_right_after_another_may_be_refused(name: str, found: str) -> None:
    """Kueue 0.14 writes from the version that it has read; what it says of the next flavor is a conflict then."""
    chance = MapOrder(orders=True)
    lab = a_lab(name, suffix="chance", chance=chance)
    flavors = {word: lab.flavor(word) for word in ("cpu", "does", "small")}
    groups = [{flavors["cpu"]: {"cpu": 1}}, {flavors["does"]: {"whole-gpus": 2}, flavors["small"]: {"whole-gpus": 1}}]
    queue = lab.queue(groups=groups)
    queue.submit(a_job(requests={"cpu": "1"}))
    waiting = a_job(requests={"cpu": "1"}, claims=[a_template(gpu(2))])
    expected = CONTENDED.replace("whole-gpus", "cpu").format(flavors["cpu"])
    chance.seen = dict.fromkeys([f"work-{number}-chance" for number in range(20)], expected)

    assert flavors[found] in lab.message(queue.submit(waiting))


@pytest.mark.parametrize(
    ("left", "expected"), [pytest.param(0, LOST, id="the-same"), pytest.param(1, CONTENDED, id="other-figures")]
)
def test_the_same_words_as_before_may_be_taken_for_said(left: int, expected: str) -> None:
    """The loser of a cycle keeps its message; Kueue may not have read yet what it reported in between."""
    chance = MapOrder(orders=True)
    lab = a_lab("kueue-0.18.3", suffix="chance", chance=chance)
    shared, flavor = lab.name("shared"), lab.flavor()
    quotas = (1 + left, 0, 0)
    lender, winner, loser = (lab.queue(groups=[{flavor: {"whole-gpus": each}}], cohortName=shared) for each in quotas)
    first = lender.submit(a_job(claims=[a_template(gpu(1 + left))]))
    winner.submit(a_job(claims=[a_template(gpu())]))
    waiting = loser.submit(a_job(claims=[a_template(gpu(1 + left))]))
    chance.seen = {waiting.ref.name: LOST}

    lab.delete(first)

    assert lab.message(waiting).startswith(expected.partition(" in flavor")[0])


def test_words_that_stay_the_same_are_not_lost() -> None:
    """A changed LimitRange makes Kueue report the same again with other requests, which the status shows."""
    job = a_job_manifest("waits", "gpus-2")
    del job["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]
    given = [{"default": {"cpu": "1"}}, {"defaultRequest": {"cpu": "2"}}]
    ranges = [{"apply": [a_limit_range("team", {"Container": each})]} for each in given]
    story = Scenario(
        name="ranges",
        configuration=CONFIGURATION,
        inventory=(),
        steps=({"apply": a_world(gpus=1)}, {"apply": [job]}, *ranges),
    )
    kueue = behaviour("kueue-0.19.2")

    first = tuple(answers(story, kueue))

    shown = [each["workloads"]["waits"]["requests"][0]["resources"].get("cpu") for each in first[1:]]
    assert shown == [None, "1", "2"]
    assert tuple(answers(replace(story, recorded=first), kueue)) == first
