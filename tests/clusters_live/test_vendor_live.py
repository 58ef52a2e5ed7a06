"""A real Kueue charges demos as predicted, and a real API server answers what the checks say of it.

``python -m tests.vendor_agreement`` asks the same about every data set, and about thousands of objects and drivers.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
import yaml

from kueue_dra_clusters.live_target import LiveTarget
from kueue_dra_ref.apiserver import MINORS
from tests.clusters_live.test_existing_cluster import a_kubeconfig
from tests.commands import kueue_dra
from tests.vendor_agreement import Tally, an_api_server, compared, disagreements, generated_objects, some_drivers
from tests.vendor_examples import VENDORS, answered, expected, in_words

pytestmark = pytest.mark.live

SEED = int(os.environ.get("OBJECTS_SEED", "20261126"))
OBJECTS = 150
"""How many classes and slices are generated."""
DRIVERS = 3
"""How many drivers are generated."""
SOME = ("hami", "nvidia-gpu-mig", "intel-gpu")
"""A data set charged by a capacity, one by a counter and an extended resource, and one by the number of devices."""


@pytest.mark.parametrize("name", SOME)
def test_a_real_kueue_charges_the_demos_as_predicted(name: str, target: LiveTarget) -> None:
    """Mapping, queues, classes and slices apply unchanged; each demo gets the charge of the file."""
    data_set: Path = VENDORS / name
    found = answered(data_set, target)

    assert [str(each) for each in found.rejections] == []
    assert {each.demo: in_words(each) for each in found.demos} == expected(data_set).demos


def test_a_real_kueue_charges_generated_drivers_as_predicted(target: LiveTarget) -> None:
    """DRIVERS of a seed, with the mapping that is written for them."""
    tally = Tally()
    found = compared(some_drivers(random.Random(SEED), DRIVERS), target, tally)

    assert found == [], f"OBJECTS_SEED={SEED}"
    assert tally.drivers == DRIVERS
    assert tally.charged.total() > 0


def test_an_api_server_answers_what_the_checks_say() -> None:
    """OBJECTS of a seed: what is refused, dropped, unknown or not served by default is so, and nothing else."""
    kubernetes = MINORS["1.36"]
    objects = list(generated_objects(random.Random(SEED), OBJECTS, sorted(kubernetes.served)))
    with an_api_server(kubernetes) as client:
        found, numbers = disagreements(objects, kubernetes, client)

    assert found == [], f"OBJECTS_SEED={SEED}"
    assert 0 < numbers["refused"] < OBJECTS


def test_a_running_cluster_is_checked(tmp_path: Path) -> None:
    """Its classes and slices, as the minor that it runs stores them, with the file that comes after it."""
    kubernetes, driver = MINORS["1.36"], VENDORS / "hami"
    with an_api_server(kubernetes) as client:
        for file in ("classes.yaml", "slices.yaml"):
            for manifest in yaml.safe_load_all((driver / file).read_text("utf-8")):
                assert client.create(manifest).ok
        settings = client.api.configuration
        token = settings.api_key["authorization"].removeprefix("Bearer ")
        kubeconfig = a_kubeconfig(tmp_path, settings.host, settings.ssl_ca_cert, token)
        context = ("--context", "mine", "--kubeconfig", kubeconfig)
        shown = kueue_dra("devices", *context)
        checked = kueue_dra("vendor", "check", *context, driver / "demo-half.yaml")

    assert shown.exit_code == checked.exit_code == 0, shown.output + checked.output
    assert "hami-core-gpu.project-hami.io  2 of 2" in shown.stdout
    assert "checked 1 DeviceClasses, 2 devices in 2 ResourceSlices of 1 drivers, 1 ResourceClaim" in checked.stdout
    assert checked.stdout.splitlines()[-1].startswith("hami-core-gpu.project-hami.io: fit for quota on Kubernetes 1.36")
