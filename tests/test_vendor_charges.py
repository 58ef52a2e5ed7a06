"""``kueue-dra vendor charges``: what each demo is charged, and the answers to what cannot be asked."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import yaml

from kueue_dra_cli.vendor_charges import _differences
from kueue_dra_ref.target import Ref, Rejection
from kueue_dra_ref.verdict import Admitted, Pending, Reason
from kueue_dra_vendor.admissions import DemoAnswer, VendorAnswer
from tests.commands import ROOT, kueue_dra
from tests.vendor_examples import VENDORS

EXAMPLES = ROOT / "examples"
HAMI = VENDORS / "hami"
HAMI_CLASS = "hami-core-gpu.project-hami.io"


def test_the_charges_are_printed() -> None:
    """By demo, with the verdict of those that are not admitted."""
    done = kueue_dra("vendor", "charges", VENDORS / "nvidia-gpu-mig", "-o", "json")

    found = {each["demo"]: each for each in json.loads(done.stdout)["demos"]}
    assert done.exit_code == 0
    assert found["mig-demo/four-mig-devices"]["charged"] == {"mig.nvidia.com/memory": "39552Mi"}
    assert found["gpu-demo/limits-only"]["verdict"] == "pending"
    assert "nvidia.com/gpu unavailable" in found["gpu-demo/limits-only"]["message"]


def test_the_table_has_a_row_for_each_demo() -> None:
    """With the amounts as quantities."""
    done = kueue_dra("vendor", "charges", HAMI)

    assert done.exit_code == 0
    assert "hami-demo/a-part  admitted   hami-core-gpu.project-hami.io/memory 20Gi" in done.stdout


def test_a_descriptor_decides_how_a_class_is_charged(tmp_path: Path) -> None:
    """As in `vendor mapping`: by count instead of by memory."""
    driver = tmp_path / "hami"
    shutil.copytree(HAMI, driver)
    declared = {"driver": HAMI_CLASS, "version": "1", "classes": [{"name": HAMI_CLASS, "quota": "count"}]}
    (driver / "kueue-dra-vendor.yaml").write_text(yaml.safe_dump(declared))

    done = kueue_dra("vendor", "charges", driver, "-o", "json")

    charged = [each["charged"] for each in json.loads(done.stdout)["demos"]]
    assert charged == [{f"{HAMI_CLASS}/devices": "2"}, {f"{HAMI_CLASS}/devices": "1"}]


def test_one_pod_of_other_work_is_charged(tmp_path: Path) -> None:
    """A Deployment, although its controller is not there, with the limits as requests; a note says what is charged."""
    claims = [{"name": "gpu", "resourceClaimTemplateName": "a-part"}]
    container = {"name": "c", "image": "i", "resources": {"limits": {"cpu": "2"}, "requests": {"memory": "1Gi"}}}
    spec = {"replicas": 3, "template": {"spec": {"containers": [container], "resourceClaims": claims}}}
    meta = {"name": "web", "namespace": "hami-demo"}
    manifest = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "spec": spec}
    (tmp_path / "web.yaml").write_text(yaml.safe_dump(manifest))

    done = kueue_dra("vendor", "charges", HAMI, tmp_path, "-o", "json")

    found = {each["demo"]: each["charged"] for each in json.loads(done.stdout)["demos"]}
    assert done.exit_code == 0
    assert found["Deployment hami-demo/web"] == {f"{HAMI_CLASS}/memory": "10Gi", "memory": "1Gi", "cpu": "2"}
    assert done.stderr == "note: Deployment web: charged for one pod of each template, as no Job\n"


def test_work_without_devices_is_no_demo(tmp_path: Path) -> None:
    """As the driver's own DaemonSet among its files."""
    pod = {"containers": [{"name": "c", "image": "i"}]}
    manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "driver"}, "spec": pod}
    (tmp_path / "pod.yaml").write_text(yaml.safe_dump(manifest))

    done = kueue_dra("vendor", "charges", HAMI, tmp_path)

    assert (done.exit_code, done.stderr) == (0, "")
    assert "driver" not in done.stdout


def test_the_configuration_among_the_files_decides() -> None:
    """With queues for its resources; a note says where it is."""
    done = kueue_dra("vendor", "charges", EXAMPLES / "driver", "-o", "json")

    found = {each["demo"]: each["charged"] for each in json.loads(done.stdout)["demos"]}
    assert found == {"customer/asks-for-half": {"gpu.memory": "40Gi"}, "customer/asks-for-any": {"gpu.memory": "80Gi"}}
    assert done.stderr == f"note: charged under the Configuration in {EXAMPLES}/driver/mapping.yaml:2\n"


def test_a_job_that_names_no_queue_is_charged(tmp_path: Path) -> None:
    """As vendors publish their demos: Kueue would leave it alone, so it gets the queue that the mapping comes with."""
    driver = tmp_path / "hami"
    shutil.copytree(HAMI, driver)
    for each in ("demo-half.yaml", "demo-whole.yaml"):
        documents = list(yaml.safe_load_all((driver / each).read_text()))
        for manifest in documents:
            manifest["metadata"].pop("labels", None)
            manifest["metadata"].pop("namespace", None)
        (driver / each).write_text(yaml.safe_dump_all(documents))

    done = kueue_dra("vendor", "charges", driver, "-o", "json")

    charged = {each["demo"]: each["charged"] for each in json.loads(done.stdout)["demos"]}
    assert charged == {
        "default/a-part": {f"{HAMI_CLASS}/memory": "20Gi"},
        "default/whole": {f"{HAMI_CLASS}/memory": "32Gi"},
    }


def test_gates_that_are_set_decide(tmp_path: Path) -> None:
    """Kueue's, of a flag; without the gate a mapping with sources is refused."""
    gate = "KueueDRAIntegrationConsumableCapacity=false"
    done = kueue_dra("vendor", "charges", HAMI, "--feature-gates", gate)
    assert done.exit_code == 2
    assert "Kueue does not start with the mapping: " in done.stderr

    done = kueue_dra("vendor", "charges", HAMI, "--feature-gates", "NoSuchGate=true")
    assert (done.exit_code, "NoSuchGate" in done.stderr) == (2, True)


def test_a_driver_without_a_job_is_answered() -> None:
    """One line, exit code 2."""
    done = kueue_dra("vendor", "charges", HAMI / "classes.yaml", HAMI / "slices.yaml")

    assert done.exit_code == 2
    assert done.stderr.endswith("found no demo; expected a Job or other work\n")


def test_what_a_real_kueue_decides_otherwise_is_named() -> None:
    """The charge, the verdict, and objects that only one of the two rejects."""
    name = "kueue.x-k8s.io/v1beta2"
    refused = Rejection(ref=Ref(api_version=name, kind="LocalQueue", name="q", namespace="n"), code=422, message="no")
    same = DemoAnswer(demo="n/same", verdict=Admitted(usage={"gpus": "1Gi"}))
    alike = DemoAnswer(demo="n/same", verdict=Admitted(usage={"gpus": "1073741824"}))
    more = DemoAnswer(demo="n/job", verdict=Admitted(usage={"gpus": "2"}))
    waits = DemoAnswer(demo="n/job", verdict=Pending(reason=Reason.NO_QUOTA), message="insufficient")

    found = list(
        _differences(
            VendorAnswer(rejections=(), demos=(same, more)),
            VendorAnswer(rejections=(refused,), demos=(alike, waits)),
        )
    )

    assert found == [
        "LocalQueue n/q: Kueue's API server rejects it: no",
        "n/job: Kueue: pending, insufficient; predicted: admitted, gpus 2",
    ]
