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
from tests.commands import kueue_dra
from tests.vendor_examples import VENDORS

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


def test_work_of_another_kind_is_named(tmp_path: Path) -> None:
    """A Pod is not charged here, and a note says so."""
    pod = {"containers": [{"name": "c", "image": "i"}]}
    manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "alone"}, "spec": pod}
    (tmp_path / "pod.yaml").write_text(yaml.safe_dump(manifest))

    done = kueue_dra("vendor", "charges", HAMI, tmp_path)

    assert done.exit_code == 0
    assert "note: Pod alone is no Job; its charge is not shown" in done.stderr


def test_a_driver_without_a_job_is_answered() -> None:
    """One line, exit code 2."""
    done = kueue_dra("vendor", "charges", HAMI / "classes.yaml", HAMI / "slices.yaml")

    assert done.exit_code == 2
    assert done.stderr.endswith("found no Job; expected a demo of kind Job\n")


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
        "Job n/job: Kueue: pending, insufficient; predicted: admitted, gpus 2",
    ]
