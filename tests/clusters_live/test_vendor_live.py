"""A real Kueue charges the demos of every vendor as predicted; a real API server refuses what a check says."""

from __future__ import annotations

import copy
import json
import os
import random
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml

from kueue_dra_clusters.api_client import APIClient
from kueue_dra_clusters.apiserver import FIXED_FLAGS, ApiServer
from kueue_dra_clusters.binaries import binaries
from kueue_dra_clusters.live_target import LiveTarget
from kueue_dra_clusters.ports import Ports
from kueue_dra_clusters.processes import Processes
from kueue_dra_clusters.releases import NEWEST
from kueue_dra_clusters.waiting import WaitLimits
from kueue_dra_ref.target import Manifest, Ref
from tests.commands import kueue_dra
from tests.object_grammar import Grammar
from tests.vendor_examples import DATA_SETS, answered, expected, in_words

pytestmark = pytest.mark.live

SEED = int(os.environ.get("OBJECTS_SEED", "20261126"))
OBJECTS = int(os.environ.get("VENDOR_OBJECTS", "150"))
"""How many classes and slices are generated; 2000 are asked about before a release."""
UNCHANGED = 0.2
"""How often one is as the vendor publishes it."""


@pytest.mark.parametrize("data_set", DATA_SETS, ids=lambda each: each.name)
def test_a_real_kueue_charges_the_demos_as_predicted(data_set: Path, target: LiveTarget) -> None:
    """Mapping, queues, classes and slices apply unchanged; each demo gets the charge of the file."""
    found = answered(data_set, target)

    assert [str(each) for each in found.rejections] == []
    assert {each.demo: in_words(each) for each in found.demos} == expected(data_set).demos


@pytest.fixture(scope="module")
def api_server() -> Iterator[APIClient]:
    """Have an API server of 1.36 with the feature gates that it has by default."""
    flags = tuple(each for each in FIXED_FLAGS if not each.startswith("--feature-gates"))
    with ExitStack() as held:
        ports, processes = held.enter_context(Ports()), held.enter_context(Processes())
        server = ApiServer(
            programs=binaries(NEWEST), processes=processes, ports=ports, limits=WaitLimits(), fixed=flags
        )
        server.await_answer("/api/v1/namespaces")
        server.await_answer("/readyz")
        yield APIClient(api=server.api)


def test_what_a_check_says_is_refused_is_refused(api_server: APIClient, tmp_path: Path) -> None:
    """VENDOR_OBJECTS classes and slices of a seed: VENDOR-001 finds exactly those that an API server refuses."""
    objects = list(_generated(random.Random(SEED)))
    predicted = _refused_by_the_check(objects, tmp_path)
    refused = {name for name, each in objects if not _is_taken(api_server, each)}

    print(f"{len(objects)} objects, {len(refused)} refused, seed {SEED}")
    assert sorted(predicted ^ refused) == [], f"OBJECTS_SEED={SEED}"
    assert 0 < len(refused) < len(objects)


def _generated(source: random.Random) -> Iterator[tuple[str, Manifest]]:
    """Give classes and slices of the vendors, most of them with one to three changes, each with a name of its own."""
    published = list(_published())
    grammar = Grammar(source, published)
    for number in range(OBJECTS):
        made = copy.deepcopy(source.choice(published))
        if source.random() > UNCHANGED:
            made = grammar.wrong(made)
        name = f"generated-{number}"
        made["metadata"]["name"] = name
        yield name, made


def _published() -> Iterator[Manifest]:
    for data_set in DATA_SETS:
        for file in ("classes.yaml", "slices.yaml"):
            for each in yaml.safe_load_all((data_set / file).read_text("utf-8")):
                yield each | {"apiVersion": "resource.k8s.io/v1"}


def _refused_by_the_check(objects: Sequence[tuple[str, Manifest]], folder: Path) -> set[str]:
    """Run the check over one file of JSON per object: some values have no form in YAML that reads back the same."""
    for name, each in objects:
        (folder / f"{name}.json").write_text(json.dumps(each))
    done = kueue_dra("vendor", "check", folder, "--kubernetes", "1.36", "--only", "VENDOR-001", "-o", "json")
    found: list[dict[str, Any]] = json.loads(done.stdout)["findings"]
    return {each["object"].rpartition(" ")[2] for each in found}


def _is_taken(api_server: APIClient, manifest: Manifest) -> bool:
    path = api_server.path(Ref.of(manifest), collection=True)
    return api_server.call("POST", f"{path}?dryRun=All", manifest).ok
