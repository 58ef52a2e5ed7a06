"""Driver files: read strictly, rendered as they say, and matched with what each case of the end-to-end suite needs."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from kueue_dra_clusters.kind.driver_description import EXAMPLE_DRIVER, description_from
from kueue_dra_clusters.kind.driver_install import daemon_sets, driver_manifests
from kueue_dra_clusters.kind.driver_source import DriverFileError, archive_file
from kueue_dra_clusters.kind.profiles import DRIVER_GONE, NOWHERE, PROFILES, WHOLE_DEVICE
from kueue_dra_fixtures.builders import a_request, a_template
from kueue_dra_fixtures.described_driver import for_driver, times
from kueue_dra_fixtures.driver_file import DocumentError, driver_from

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "drivers"
E2E = "suites/kueue_dra_suites/e2e"
IMAGE = "registry.example/driver:v1"
COUNTED = re.compile(r"npu\.vendor\.example v1: (\d+) of (\d+) cases run")
Change = Callable[[dict[str, Any]], None]


def a_file(folder: Path, change: Change = lambda _: None) -> Path:
    """Write a driver file for manifests in the same folder, with a change."""
    document: dict[str, Any] = {
        "driver": "npu.vendor.example",
        "version": "v1",
        "deviceClass": "npu.vendor.example",
        "selectors": ["device.attributes['npu.vendor.example'].kind == 'npu'"],
        "install": {"manifests": "rendered", "namespace": "npus"},
        "image": {"reference": IMAGE},
        "profiles": {"whole-device": {"devicesPerNode": 4}},
    }
    change(document)
    file = folder / "driver.yaml"
    file.write_text(yaml.safe_dump(document, sort_keys=False))
    return file


def some_manifests(folder: Path) -> None:
    """Write what a vendor has rendered: a class, a DaemonSet without namespace, and an account in a list."""
    container = {"name": "driver", "image": IMAGE, "imagePullPolicy": "Always"}
    pod = {"containers": [container], "nodeSelector": {"kubernetes.io/os": "linux"}}
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "npus"}}
    documents: list[dict[str, Any]] = [
        {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "npu.vendor.example"}},
        {"apiVersion": "v1", "kind": "List", "items": [account]},
        {
            "apiVersion": "apps/v1",
            "kind": "DaemonSet",
            "metadata": {"name": "npus"},
            "spec": {"template": {"spec": pod}},
        },
    ]
    (folder / "rendered").mkdir()
    (folder / "rendered" / "all.yaml").write_text(yaml.safe_dump_all(documents))


def test_the_published_file_describes_the_driver_of_every_run() -> None:
    """A run without a file has the same description, so that both run the same cases with the same settings."""
    found = driver_from(EXAMPLES / "dra-example-driver.yaml")

    assert replace(found, file="") == EXAMPLE_DRIVER


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.yaml")), ids=lambda file: file.stem)
def test_a_description_reaches_the_processes_of_a_run(file: Path) -> None:
    """As JSON, and back."""
    found = driver_from(file)

    assert description_from(json.loads(json.dumps(found.document()))) == found


def _set(path: str, value: Any) -> Change:
    def change(document: dict[str, Any]) -> None:
        *steps, last = path.split("/")
        place = document
        for step in steps:
            place = place.setdefault(step, {})
        place[last] = value

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param(_set("deviceClas", "x"), ("deviceClas", "an unknown field", "deviceClass"), id="unknown-key"),
        pytest.param(_set("install/chart", "chart"), ("install", "chart and manifests"), id="two-ways"),
        pytest.param(_set("install", {}), ("install", "neither chart nor manifests"), id="no-way"),
        pytest.param(_set("install/values", {"a": 1}), ("install.values", "without a chart"), id="values"),
        pytest.param(_set("image/build", {"package": ".", "path": "/d"}), ("image.build", "source"), id="no-source"),
        pytest.param(_set("image/build", {"package": ".", "path": "d"}), ("image.build.path",), id="no-path"),
        pytest.param(_set("source", "example.com/driver@latest"), ("source", "v1.2.3"), id="no-version"),
        pytest.param(_set("devices/environment", "GPU_("), ("devices.environment", "GPU_("), id="no-pattern"),
        pytest.param(_set("profiles/gpus", {}), ("profiles.gpus", "unknown"), id="unknown-profile"),
        pytest.param(_set("profiles", {}), ("profiles",), id="no-profile"),
        pytest.param(
            _set(
                "profiles/counter",
                {"devicesPerNode": 1, "counter": "memory", "requests": {"part": {"amount": "much"}}},
            ),
            ("profiles.counter.requests.part.amount", "much", "quantity"),
            id="no-quantity",
        ),
    ],
)
def test_a_wrong_file_is_refused(change: Change, words: tuple[str, ...], tmp_path: Path) -> None:
    """With file, field, what was found and what is expected."""
    file = a_file(tmp_path, change)

    with pytest.raises(DocumentError) as refused:
        driver_from(file)
    text = refused.value.worded
    assert [word for word in (str(file), *words) if word not in text] == [], text


def test_manifests_are_installed_as_helm_would(tmp_path: Path) -> None:
    """In the namespace of the driver, with the image of the nodes, which is not pulled."""
    some_manifests(tmp_path)
    driver = driver_from(a_file(tmp_path))
    found = driver_manifests(driver, WHOLE_DEVICE, "mirror.example/driver:v1")

    by_kind = {each["kind"]: each for each in found}
    assert list(by_kind) == ["Namespace", "DeviceClass", "ServiceAccount", "DaemonSet"]
    assert by_kind["ServiceAccount"]["metadata"]["namespace"] == "npus"
    assert "namespace" not in by_kind["DeviceClass"]["metadata"]
    (container,) = by_kind["DaemonSet"]["spec"]["template"]["spec"]["containers"]
    assert (container["image"], container["imagePullPolicy"]) == ("mirror.example/driver:v1", "IfNotPresent")


def test_an_absent_driver_runs_on_no_node(tmp_path: Path) -> None:
    """Its own selector of nodes stays."""
    some_manifests(tmp_path)
    found = driver_manifests(driver_from(a_file(tmp_path)), DRIVER_GONE, IMAGE)

    (daemon_set,) = daemon_sets(found)
    assert daemon_set["spec"]["template"]["spec"]["nodeSelector"] == {"kubernetes.io/os": "linux", **NOWHERE}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param(_set("deviceClass", "x"), ("deviceClass", "found x", "npu.vendor.example"), id="class"),
        pytest.param(_set("image/reference", "x:1"), ("image.reference", "found x:1", IMAGE), id="image"),
        pytest.param(_set("install/manifests", "none"), ("install.manifests", "no YAML file"), id="manifests"),
        pytest.param(_set("install", {"chart": "rendered"}), ("install.chart", "Chart.yaml"), id="chart"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(change: Change, words: tuple[str, ...], tmp_path: Path) -> None:
    """With what the manifests have."""
    some_manifests(tmp_path)
    driver = driver_from(a_file(tmp_path, change))

    with pytest.raises(DriverFileError) as refused:
        driver_manifests(driver, WHOLE_DEVICE, IMAGE)
    text = str(refused.value)
    assert [word for word in (driver.file, *words) if word not in text] == [], text


@pytest.mark.parametrize(
    ("name", "word"),
    [pytest.param("x:1", "found x:1", id="another-image"), pytest.param("", "docker save", id="no-archive")],
)
def test_an_archive_has_the_image(name: str, word: str, tmp_path: Path) -> None:
    """An archive with the image is taken, any other is refused."""
    driver = driver_from(a_file(tmp_path, _set("image/archive", "driver.tar")))
    _save(tmp_path / "driver.tar", IMAGE)
    assert archive_file(driver) == tmp_path / "driver.tar"

    _save(tmp_path / "driver.tar", name)
    with pytest.raises(DriverFileError, match=word):
        archive_file(driver)


def _save(file: Path, image: str) -> None:
    """Write an archive as docker does; one that is none without an image."""
    if not image:
        file.write_text("nothing")
        return
    data = json.dumps([{"RepoTags": [image]}]).encode()
    member = tarfile.TarInfo("manifest.json")
    member.size = len(data)
    with tarfile.open(file, "w") as archive:
        archive.addfile(member, io.BytesIO(data))


def test_a_case_asks_for_the_described_class(tmp_path: Path) -> None:
    """With the described selectors after its own; other classes stay."""
    driver = driver_from(a_file(tmp_path))
    made = a_template(a_request(selectors=["true"]), a_request("other.example")).manifest("t", "n")

    first, second = for_driver(made, driver)["spec"]["spec"]["devices"]["requests"]
    assert first["exactly"]["deviceClassName"] == "npu.vendor.example"
    assert [each["cel"]["expression"] for each in first["exactly"]["selectors"]] == ["true", *driver.selectors]
    assert second["exactly"] == a_request("other.example")["exactly"]


@pytest.mark.parametrize(
    ("amount", "number", "expected"), [("20Gi", 2.5, "50Gi"), ("10Gi", 0.5, "5Gi"), ("1", 2, "2"), ("1500m", 2, "2")]
)
def test_amounts_are_multiplied(amount: str, number: float, expected: str) -> None:
    """In their own format, as Kueue prints them; fractions count as whole units."""
    assert times(amount, number) == expected


def test_kueue_maps_the_described_class(tmp_path: Path) -> None:
    """Next to the class that the conformance suites ask for, and alone where amounts are charged."""
    driver = driver_from(a_file(tmp_path))
    mapped = {
        name: PROFILES[name].configuration(driver)["resources"]["deviceClassMappings"][0]
        for name in ("whole-device", "counter")
    }

    assert mapped["whole-device"]["deviceClassNames"] == ["npu.vendor.example", "gpu.example.com"]
    assert mapped["counter"]["deviceClassNames"] == ["npu.vendor.example"]
    assert mapped["counter"]["sources"][0]["counter"]["driver"] == "npu.vendor.example"


def _collected(*options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", E2E, "--collect-only", *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_what_a_driver_cannot_fill_is_named(tmp_path: Path) -> None:
    """A driver of four whole devices: cases that need more say what is missing, the others run."""
    done = _collected("--driver", str(a_file(tmp_path)), f"--e2e-report={tmp_path}")

    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    missing = [line.partition("not applicable: ")[2] for line in lines if "not applicable" in line]
    (counted,) = filter(None, (COUNTED.fullmatch(line) for line in lines))
    run, total = map(int, counted.groups())
    assert run + sum(line.startswith("not run: ") for line in lines) == total
    assert 0 < run < total
    assert set(missing) == {
        "the driver file does not offer devices.environment",
        "the driver file does not offer devices.reported",
        "the driver file does not offer devices.uniqueAttribute",
        "needs 6 devices on a node; profiles.whole-device.devicesPerNode is 4",
        "the driver file has no profiles.counter",
        "the driver file has no profiles.capacity",
        "the driver file has no profiles.extended-resource",
    }


def test_a_file_that_cannot_be_read_ends_the_run(tmp_path: Path) -> None:
    """Before anything is created: one line, exit code 2."""
    done = _collected("--driver", "no-such.yaml", f"--e2e-report={tmp_path}")

    assert done.returncode == 2
    assert "no-such.yaml" in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
