"""Files as vendors publish them: several versions of one object, charts, other clouds, links that lead nowhere."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import yaml

from tests.commands import ROOT, kueue_dra
from tests.test_vendor import DRIVER, GPU, Files, a_driver

EXAMPLE = ROOT / "examples" / "vendors" / "hami"


def _write(folder: Path, files: Files) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    manifests = [files["class"], *files["slices"], files["template"], files["job"], *files.get("more", ())]
    (folder / "driver.yaml").write_text(yaml.safe_dump_all(manifests))
    return folder


def _checked(folder: Path, *options: object) -> list[tuple[str, str]]:
    done = kueue_dra("vendor", "check", folder, "-o", "json", *options)
    return [(each["check"], each["level"]) for each in json.loads(done.stdout)["findings"]]


def _with_selector(files: Files, expression: str) -> Files:
    request = files["template"]["spec"]["spec"]["devices"]["requests"][0]
    request["exactly"]["selectors"] = [{"cel": {"expression": expression}}]
    return files


def test_nodes_have_devices_at_the_same_addresses(tmp_path: Path) -> None:
    """A bus address belongs to a node; twice on one node it is one device."""
    files = a_driver()
    address = {"resource.kubernetes.io/pciBusID": {"string": "0000:01:00.0"}}
    for each in files["slices"]:
        each["spec"]["devices"][0]["attributes"].update(address)
    assert _checked(_write(tmp_path, files)) == []

    files["slices"][0]["spec"]["devices"][1]["attributes"].update(address)
    assert _checked(_write(tmp_path, files)) == [("VENDOR-108", "warning")]


def test_an_object_that_is_there_twice_counts_once(tmp_path: Path) -> None:
    """A class and a slice in the chart and in a demo: no overlap, no device twice, one mapping, no finding."""
    files = a_driver()
    files["more"] = copy.deepcopy([files["class"], *files["slices"]])

    folder = _write(tmp_path, files)

    assert _checked(folder) == []
    written = next(yaml.safe_load_all(kueue_dra("vendor", "mapping", folder).stdout))
    assert [each["deviceClassNames"] for each in written["resources"]["deviceClassMappings"]] == [[GPU]]


def test_a_demo_for_other_hardware_is_a_warning(tmp_path: Path) -> None:
    """It reads what no device here has; a misspelt attribute, or one that only some devices have, is an error."""
    elsewhere = _with_selector(a_driver(), f"device.attributes['{DRIVER}'].fabricID == 'x'")
    assert _checked(_write(tmp_path / "a", elsewhere)) == [("VENDOR-307", "warning")]

    misspelt = _with_selector(a_driver(), f"device.attributes['{DRIVER}'].numma == 0")
    assert _checked(_write(tmp_path / "b", misspelt)) == [("VENDOR-307", "error")]

    lacking = _with_selector(a_driver(), f"device.attributes['{DRIVER}'].uuid == 'x2'")
    assert _checked(_write(tmp_path / "c", lacking)) == [("VENDOR-307", "error")]


def test_a_class_of_a_driver_whose_classes_are_not_given_is_open(tmp_path: Path) -> None:
    """Its slices may be there, as of a cluster; a name like one of ours stays an error."""
    files = a_driver()
    foreign = {**copy.deepcopy(files["slices"][0]), "metadata": {"name": "nic"}}
    foreign["spec"] |= {"driver": "nic.vendor.org", "devices": [{"name": "nic-0"}]}
    files["slices"].append(foreign)
    request = copy.deepcopy(files["template"]["spec"]["spec"]["devices"]["requests"][0])
    request |= {"name": "nic", "exactly": {"deviceClassName": "fast.vendor.org"}}
    files["template"]["spec"]["spec"]["devices"]["requests"].append(request)

    assert _checked(_write(tmp_path, files)) == [("VENDOR-314", "open")]


def test_classes_without_devices_are_reported_once(tmp_path: Path) -> None:
    """Nothing is called fit of which nothing was seen."""
    names = [f"c{number}.example.com" for number in range(3)]
    classes: list[dict[str, Any]] = [{**a_driver()["class"], "metadata": {"name": name}} for name in names]
    (tmp_path / "classes.yaml").write_text(yaml.safe_dump_all(classes))

    done = kueue_dra("vendor", "check", tmp_path)

    assert done.exit_code == 0
    assert done.stdout.count("VENDOR-015") == 1
    assert "no ResourceSlice with devices was given, nor for 2 other DeviceClasses" in done.stdout
    assert "inferred: nothing, because no devices were given" in done.stdout
    assert done.stdout.splitlines()[-1] == "no driver: not decided for quota on Kubernetes 1.36: 1 open"


def test_a_chart_that_is_not_rendered_is_named(tmp_path: Path) -> None:
    """Alone it is an error; among manifests it is left out, and the line that says what was checked says so."""
    chart = tmp_path / "chart"
    (chart / "templates").mkdir(parents=True)
    (chart / "Chart.yaml").write_text("apiVersion: v2\nname: driver\nversion: 1.0.0\n")
    (chart / "templates" / "class.yaml").write_text("kind: DeviceClass\nmetadata: {name: {{ .Values.name }}}\n")

    done = kueue_dra("vendor", "check", tmp_path)
    assert done.exit_code == 2
    place = f"{chart}/templates/class.yaml:2"
    assert f"1 Helm template not rendered, the first {place}; expected what helm template prints" in done.stderr

    _write(tmp_path / "rendered", a_driver())
    done = kueue_dra("vendor", "check", tmp_path)
    assert done.exit_code == 0
    assert f"left out 1 Helm template, not rendered, the first {place}" in done.stdout


def test_a_class_may_be_in_a_chart_that_is_not_rendered(tmp_path: Path) -> None:
    """A demo that names it is open, and reported once; a class that is there, misspelt, is an error."""
    files = a_driver()
    other = copy.deepcopy(files["template"])
    requests = other["spec"]["spec"]["devices"]["requests"]
    requests[0]["exactly"]["deviceClassName"] = "mig.example.com"
    requests.append({**copy.deepcopy(requests[0]), "name": "second"})
    other["metadata"]["name"] = "of-the-chart"
    files["more"] = [other]
    folder = _write(tmp_path, files)
    assert _checked(folder) == [("VENDOR-305", "error")] * 2

    (tmp_path / "class.yaml").write_text("{{- if .Values.on }}\nkind: DeviceClass\n{{- end }}\n")
    assert _checked(folder) == [("VENDOR-314", "open")]
    requests[0]["exactly"]["deviceClassName"] = "gpu.exmaple.com"
    assert _checked(_write(tmp_path, files)) == [("VENDOR-305", "error"), ("VENDOR-314", "open")]


def test_a_link_that_leads_nowhere_is_left_out(tmp_path: Path) -> None:
    """As a repository has one to a file of another checkout; a link that is named is an error."""
    folder = _write(tmp_path, a_driver())
    link = folder / "gone.yaml"
    link.symlink_to("../elsewhere/gone.yaml")

    assert _checked(folder) == []
    done = kueue_dra("simulate", folder, "--allow-missing")
    assert f"left out 1 document without an object, the first {link}:1" in done.stderr
    assert kueue_dra("vendor", "check", link).exit_code == 2


def test_simulate_leaves_our_own_files_alone() -> None:
    """The expected findings of a data set are counted with what takes no quota."""
    done = kueue_dra("simulate", EXAMPLE, "--allow-missing", "-o", "table")

    assert done.exit_code == 0
    assert "1 ExpectedFindings" in done.stderr
    assert "unknown kind" not in done.stderr


def test_standard_input_and_json_are_read(tmp_path: Path) -> None:
    """As helm template prints manifests, and kubectl a List."""
    files = a_driver()
    items = [files["class"], *files["slices"], files["template"], files["job"]]
    given = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})

    done = kueue_dra("vendor", "check", "-", stdin=given)

    assert done.exit_code == 0
    assert "checked 1 DeviceClasses, 4 devices in 2 ResourceSlices" in done.stdout


def test_gates_that_an_administrator_set_are_declared(tmp_path: Path) -> None:
    """In the descriptor or by a flag: 1.35 keeps the counters then, and a class can be charged by them."""
    driver, gate = ROOT / "examples" / "driver", "DRAPartitionableDevices"
    only = ("--kubernetes", "1.35", "--only", "VENDOR-018")
    assert {check for check, _ in _checked(driver, *only)} == {"VENDOR-018"}
    assert _checked(driver, *only, "--kubernetes-feature-gates", f"{gate}=true") == []

    declared = {
        "driver": "gpu.vendor.example",
        "version": "1",
        "classes": [{"name": "gpu.vendor.example", "quota": "counter", "counter": "memory"}],
        "kubernetesFeatureGates": {gate: True},
    }
    descriptor = tmp_path / "intent.yaml"
    descriptor.write_text(yaml.safe_dump(declared))
    assert _checked(driver, *only, "--descriptor", descriptor) == []
    done = kueue_dra("vendor", "minors", driver, "--descriptor", descriptor)
    assert "works with quota from Kubernetes 1.35 and Kueue 0.18 on" in done.stdout


def test_a_gate_that_is_not_there_is_answered(tmp_path: Path) -> None:
    """With the one that was meant; in the descriptor with its line."""
    done = kueue_dra("vendor", "check", EXAMPLE, "--kubernetes-feature-gates", "DRAPartitionableDevice=true")
    assert done.exit_code == 2
    assert "did you mean DRAPartitionableDevices?" in done.stderr

    declared = {"driver": "x", "version": "1", "classes": [{"name": "x", "quota": "count"}]}
    descriptor = tmp_path / "intent.yaml"
    descriptor.write_text(yaml.safe_dump({**declared, "kubernetesFeatureGates": {"DRANothing": True}}, sort_keys=False))
    done = kueue_dra("vendor", "check", EXAMPLE, "--descriptor", descriptor)
    assert done.exit_code == 2
    assert f"{descriptor}:7: kubernetesFeatureGates.DRANothing: found no gate DRANothing" in done.stderr


def test_devices_shows_what_each_is_charged() -> None:
    """Under the mapping among the files, by class and by device."""
    driver = ROOT / "examples" / "driver"

    assert "gpu.memory 40Gi to 80Gi" in kueue_dra("devices", driver).stdout
    (shown,) = json.loads(kueue_dra("devices", driver, "-o", "json").stdout)
    charged = {each["device"].rpartition("/")[2]: each["charged"] for each in shown["devices"]}
    assert charged == {
        "gpu-0": ["gpu.memory 80Gi"],
        "gpu-0-half-0": ["gpu.memory 40Gi"],
        "gpu-0-half-1": ["gpu.memory 40Gi"],
    }
