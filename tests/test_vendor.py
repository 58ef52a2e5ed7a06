"""``kueue-dra vendor check``: a sound driver, and for each check a twin of it that differs in one thing."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Set
from pathlib import Path
from typing import Any

import pytest
import yaml

from kueue_dra_vendor.catalogue import ALL
from kueue_dra_vendor.check import Level
from tests.commands import kueue_dra

DRIVER, GPU = "gpu.example.com", "gpu.example.com"
Files = dict[str, Any]
Change = Callable[[Files], None]


def a_driver() -> Files:
    """Give the files of a driver that no check finds anything in."""
    return {
        "class": _object("DeviceClass", GPU, {"selectors": [_cel(f"device.driver == '{DRIVER}'")]}),
        "slices": [
            _slice("node-1", [_device("gpu-0"), _device("gpu-1", numa=1)]),
            _slice("node-2", [_device("gpu-0", serial="x2"), _device("gpu-1", serial="x3", numa=1)]),
        ],
        "template": _object(
            "ResourceClaimTemplate",
            "one-gpu",
            {"spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": GPU}}]}}},
            "demo",
        ),
        "job": _job(),
        "mapping": {"resources": {"deviceClassMappings": [{"name": "gpus", "deviceClassNames": [GPU]}]}},
    }


def _object(kind: str, name: str, spec: Any, namespace: str = "") -> Any:
    place = {"namespace": namespace} if namespace else {}
    return {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": {"name": name, **place}, "spec": spec}


def _cel(expression: str) -> Any:
    return {"cel": {"expression": expression}}


def _slice(node: str, devices: list[Any], driver: str = DRIVER, **spec: Any) -> Any:
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    return _object(
        "ResourceSlice",
        f"{node}-{driver}",
        {"driver": driver, "nodeName": node, "pool": pool, "devices": devices, **spec},
    )


def _device(name: str, numa: int = 0, serial: str = "") -> Any:
    attributes = {"numa": {"int": numa}, **({"uuid": {"string": serial}} if serial else {})}
    return {"name": name, "attributes": attributes, "capacity": {"memory": {"value": "80Gi"}}}


def _job() -> Any:
    pod = {
        "containers": [{"name": "c", "image": "i"}],
        "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "one-gpu"}],
        "restartPolicy": "Never",
    }
    meta = {"name": "demo", "namespace": "demo"}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": {"template": {"spec": pod}}}


def _devices(files: Files) -> list[Any]:
    found: list[Any] = files["slices"][0]["spec"]["devices"]
    return found


def _request(files: Files) -> Any:
    return files["template"]["spec"]["spec"]["devices"]["requests"][0]


def _other_driver(files: Files) -> None:
    files["class"]["spec"]["selectors"] = [_cel(f"device.attributes['{DRIVER}'].numa < 9")]
    files["slices"].append(_slice("node-3", [{"name": "nic", "attributes": {"speed": {"int": 1}}}], "net.example.org"))


def _second_class(files: Files) -> None:
    files["second"] = _object("DeviceClass", "all.example.com", copy.deepcopy(files["class"]["spec"]))
    files["mapping"]["resources"]["deviceClassMappings"].append(
        {"name": "all", "deviceClassNames": ["all.example.com"]}
    )


def _twice_one_name(files: Files) -> None:
    for name in (GPU, "other.example.com"):
        spec = {"selectors": [_cel("device.driver == 'other.example.com'")], "extendedResourceName": "example.com/gpu"}
        files[name] = _object("DeviceClass", name, spec)
    del files["class"]


def _long_name(files: Files) -> None:
    """A DeviceClass may have 253 characters; a label key, which Kueue wants, may not."""
    name = f"{'g' * 60}.example.com"
    files["class"]["metadata"]["name"] = name
    _request(files)["exactly"]["deviceClassName"] = name
    files["mapping"] = {"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration"}


def with_counters(files: Files, consumed: str = "1", shared: str = "1", set_name: str = "set") -> None:
    """Publish a counter set for the first node, of which its first device consumes."""
    spec = files["slices"][0]["spec"]
    pool = {"name": "node-1", "generation": 1, "resourceSliceCount": 2}
    spec["pool"] = pool
    sets = [{"name": "set", "counters": {"slices": {"value": shared}}}]
    counters = {"driver": DRIVER, "nodeName": "node-1", "pool": pool, "sharedCounters": sets}
    files["slices"].append(_object("ResourceSlice", "node-1-counters", counters))
    _devices(files)[0]["consumesCounters"] = [{"counterSet": set_name, "counters": {"slices": {"value": consumed}}}]


def with_shares(files: Files, **policy: Any) -> None:
    """Let the first device give out shares of its memory under a policy."""
    device = _devices(files)[0]
    device["allowMultipleAllocations"] = True
    device["capacity"]["memory"] = {"value": "80Gi", **({"requestPolicy": policy} if policy else {})}


def changed(path: str, value: Any) -> Change:
    """Give the change that sets a field, such as ``slices/0/spec/nodeName``; ~ is a slash inside a step."""

    def change(files: Files) -> None:
        *above, last = [step.replace("~", "/") for step in path.split("/")]
        place: Any = files
        for step in above:
            place = place[int(step) if step.isdigit() else step]
        place[int(last) if last.isdigit() else last] = value

    return change


def _both(*changes: Change) -> Change:
    def change(files: Files) -> None:
        for each in changes:
            each(files)

    return change


NO_MAPPING = {"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration"}
EXTENDED = "example.com/gpu"


def _by_source(files: Files, kind: str, name: str, **above: Any) -> None:
    """Charge the class by a counter or capacity."""
    selector = _cel(f"device.driver == '{DRIVER}'")
    source = {kind: {"name": name, "driver": DRIVER, "deviceSelector": selector}}
    files["mapping"]["resources"]["deviceClassMappings"][0]["sources"] = [source]
    partitions, shares = "KueueDRAIntegrationPartitionableDevices", "KueueDRAIntegrationConsumableCapacity"
    files["mapping"]["featureGates"] = {partitions: True, shares: True}


def _extended_with_source(files: Files) -> None:
    for each in files["slices"]:
        for device in each["spec"]["devices"]:
            device["allowMultipleAllocations"] = True
            device["capacity"]["memory"]["requestPolicy"] = {"default": "80Gi", "validValues": ["80Gi"]}
    _by_source(files, "capacity", "memory")
    files["class"]["spec"]["extendedResourceName"] = EXTENDED
    files["node"] = _node("node-1", {})
    files["other"] = _node("node-2", {})


def _node(name: str, allocatable: dict[str, str]) -> Any:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": {"allocatable": allocatable}}


def _offered_twice(files: Files) -> None:
    files["class"]["spec"]["extendedResourceName"] = EXTENDED
    files["node"] = _node("node-1", {EXTENDED: "2"})
    files["other"] = _node("node-2", {})


def _mutex(files: Files) -> None:
    with_counters(files)
    with_shares(files, default="80Gi", validValues=["80Gi"])


def _unlike(files: Files) -> None:
    _devices(files)[0]["capacity"]["memory"]["value"] = "40Gi"
    _by_source(files, "capacity", "memory")


def _lacking(files: Files) -> None:
    _devices(files)[0]["capacity"] = {"other": {"value": "80Gi"}}
    _by_source(files, "capacity", "memory")


def _two_generations(files: Files) -> None:
    old = copy.deepcopy(files["slices"][0])
    old["metadata"]["name"] = "old"
    old["spec"]["pool"]["generation"] = 0
    files["slices"].append(old)


def _two_sets_of_one_name(files: Files) -> None:
    with_counters(files)
    again = copy.deepcopy(files["slices"][-1])
    again["metadata"]["name"] = "node-1-counters-again"
    for each in (files["slices"][0], files["slices"][2], again):
        each["spec"]["pool"] = {"name": "node-1", "generation": 1, "resourceSliceCount": 3}
    files["slices"].append(again)


def _parts(files: Files) -> None:
    _devices(files)[0]["attributes"]["uuid"] = {"string": "a"}
    _devices(files)[1]["attributes"]["parentUUID"] = {"string": "a"}


def _negative(files: Files) -> None:
    with_counters(files, consumed="-1")


def _of_two_sets(files: Files) -> None:
    with_counters(files)
    sets = files["slices"][-1]["spec"]["sharedCounters"]
    sets.append({"name": "other", "counters": {"slices": {"value": "1"}}})
    _devices(files)[0]["consumesCounters"].append({"counterSet": "other", "counters": {"slices": {"value": "1"}}})


def _selecting(expression: str) -> Change:
    return lambda files: _request(files)["exactly"].update(selectors=[_cel(expression)])


def _asking(name: str) -> Change:
    def change(files: Files) -> None:
        for each in files["slices"]:
            for device in each["spec"]["devices"]:
                device["allowMultipleAllocations"] = True
                device["capacity"]["memory"]["requestPolicy"] = {"default": "80Gi", "validValues": ["80Gi"]}
        _request(files)["exactly"]["capacity"] = {"requests": {name: "40Gi"}}

    return change


def _constraint(attribute: str) -> Change:
    def change(files: Files) -> None:
        devices = files["template"]["spec"]["spec"]["devices"]
        devices["constraints"] = [{"requests": ["gpu"], "matchAttribute": attribute}]

    return change


def _in_capitals(files: Files) -> None:
    for each in files["slices"]:
        each["spec"]["driver"] = "GPU.example.com"
    files["class"]["spec"]["selectors"] = [_cel("device.driver == 'GPU.example.com'")]


def _admin_namespace(files: Files) -> None:
    meta = {"name": "demo", "labels": {"resource.kubernetes.io/admin-access": "true"}}
    files["namespace"] = {"apiVersion": "v1", "kind": "Namespace", "metadata": meta}


def _defined_again(files: Files) -> None:
    files["again"] = copy.deepcopy(files["class"])
    files["again"]["spec"]["selectors"].append(_cel("device.driver != ''"))


def _limited_only(files: Files) -> None:
    files["class"]["spec"]["extendedResourceName"] = "example.com/gpu"
    container = files["job"]["spec"]["template"]["spec"]["containers"][0]
    container["resources"] = {"limits": {"example.com/gpu": "1"}}


TWINS: dict[str, Change] = {
    "VENDOR-001": changed("class/spec/selectors/0/cel/expression", "device.driver == 'x' && "),
    "VENDOR-002": changed("class/spec/selectors/0/cel/expression", "device.driver"),
    "VENDOR-004": changed("class/spec/selectors/0/cel/expression", "device.driver == 'gpu.exmaple.com'"),
    "VENDOR-005": lambda files: files["class"]["spec"]["selectors"].append(
        _cel(f"device.attributes['{DRIVER}'].uuid != 'x'")
    ),
    "VENDOR-006": _other_driver,
    "VENDOR-007": changed("class/spec/selectors/0/cel/expression", f"device.attributes['{DRIVER}'].numa < 9"),
    "VENDOR-008": _second_class,
    "VENDOR-009": _long_name,
    "VENDOR-010": _twice_one_name,
    "VENDOR-011": changed("class/spec/extendedResourceName", "vendor.org/gpu"),
    "VENDOR-013": changed(
        "class/spec/selectors/0/cel/expression",
        f"device.driver == '{DRIVER}' && ['a'].join(',') == 'a'",
    ),
    "VENDOR-014": lambda files: files["class"]["spec"]["selectors"].append(
        _cel("device.allowMultipleAllocations == false")
    ),
    "VENDOR-017": changed("class/spec/suitableNodes", {}),
    "VENDOR-018": lambda files: _devices(files)[0].update(nodeAllocatableResourceMappings={"cpu": {}}),
    "VENDOR-019": changed("class/apiVersion", "resource.k8s.io/v1beta1"),
    "VENDOR-020": lambda files: files["class"]["spec"]["selectors"].append(
        _cel("!has(device.attributes['gpu.exmaple.com'].numa)")
    ),
    "VENDOR-022": _offered_twice,
    "VENDOR-016": _defined_again,
    "VENDOR-101": changed("slices/0/spec/pool/resourceSliceCount", 2),
    "VENDOR-102": _two_generations,
    "VENDOR-103": changed("slices/1/spec/pool/name", "node-1"),
    "VENDOR-104": lambda files: with_counters(files, set_name="gone"),
    "VENDOR-105": _two_sets_of_one_name,
    "VENDOR-106": changed("slices/0/spec/devices/0/attributes/numa", {"string": "0"}),
    "VENDOR-107": changed("slices/0/spec/devices/0/attributes/nodes", {"ints": [1]}),
    "VENDOR-108": changed("slices/0/spec/devices/0/attributes/uuid", {"string": "x2"}),
    "VENDOR-109": lambda files: _devices(files)[0].update(taints=[{"key": "sick", "effect": "NoSchedule"}]),
    "VENDOR-111": _parts,
    "VENDOR-112": changed("slices/0/spec/devices/0/attributes/resource.kubernetes.io~pageSize", {"string": "4Ki"}),
    "VENDOR-114": lambda files: files.update(node=_node("node-1", {})),
    "VENDOR-115": _in_capitals,
    "VENDOR-116": lambda files: _devices(files)[0].update(
        bindingConditions=["ready"], bindingFailureConditions=["failed"]
    ),
    "VENDOR-201": lambda files: with_counters(files, consumed="2"),
    "VENDOR-203": _mutex,
    "VENDOR-204": lambda files: with_shares(files, default="0", validRange={"min": "0"}),
    "VENDOR-205": lambda files: with_shares(files),
    "VENDOR-206": _unlike,
    "VENDOR-207": _lacking,
    "VENDOR-208": _extended_with_source,
    "VENDOR-211": lambda files: _devices(files)[0].update(nodeAllocatableResourceMappings={"cpu": {}}),
    "VENDOR-213": _negative,
    "VENDOR-214": _of_two_sets,
    "VENDOR-216": lambda files: with_shares(files, default="80Gi", validValues=["80Gi"]),
    "VENDOR-217": changed("slices/0/spec/devices/0/capacity/memory/value", "1500m"),
    "VENDOR-209": changed("mapping/resources/deviceClassMappings/0/deviceClassNames", [GPU, "gpu.exmaple.com"]),
    "VENDOR-210": _both(_second_class, lambda files: files["mapping"]["resources"]["deviceClassMappings"].pop()),
    "VENDOR-301": lambda files: _request(files).update(
        firstAvailable=[{"name": "a", "deviceClassName": GPU, "count": 1, "allocationMode": "ExactCount"}], exactly=None
    ),
    "VENDOR-302": lambda files: _request(files)["exactly"].update(allocationMode="All"),
    "VENDOR-303": lambda files: _request(files)["exactly"].update(adminAccess=True),
    "VENDOR-304": changed("job/spec/template/spec/resourceClaims/0", {"name": "gpu", "resourceClaimName": "one"}),
    "VENDOR-305": lambda files: _request(files)["exactly"].update(deviceClassName="gpu.exmaple.com"),
    "VENDOR-306": changed("job/spec/template/spec/resourceClaims/0/resourceClaimTemplateName", "two-gpus"),
    "VENDOR-316": _limited_only,
    "VENDOR-307": _selecting(f"device.attributes['{DRIVER}'].model == 'x'"),
    "VENDOR-308": _selecting(f"device.attributes['{DRIVER}'].numa == 7"),
    "VENDOR-309": _asking(f"{DRIVER}/memory"),
    "VENDOR-310": _constraint(f"{DRIVER}/parentUUID"),
    "VENDOR-311": _admin_namespace,
    "VENDOR-313": lambda files: _request(files)["exactly"].update(count=3),
}
"""For each check, what makes the sound driver a twin that only this check complains of, as far as errors go."""
FOLLOWS = {
    "VENDOR-001": {"VENDOR-002"},  # what does not compile is not stored
    "VENDOR-002": {"VENDOR-001"},
    "VENDOR-013": {"VENDOR-001"},  # too costly is not stored
    "VENDOR-107": {"VENDOR-001"},  # lists are behind a gate
    "VENDOR-103": {"VENDOR-101"},  # two slices of one pool that each declare one
    "VENDOR-005": {"VENDOR-004"},
}
"""Errors that are another side of the same thing."""


def findings(files: Files, folder: Path) -> tuple[int, list[Any]]:
    """Write the files, check them as a user does, and give exit code and findings."""
    given = [one for key, one in files.items() if key not in ("mapping", "descriptor")]
    manifests = [each for one in given for each in (one if isinstance(one, list) else [one])]
    (folder / "driver.yaml").write_text(yaml.safe_dump_all(manifests))
    (folder / "mapping.yaml").write_text(yaml.safe_dump(files["mapping"]))
    command: list[object] = ["vendor", "check", folder / "driver.yaml", "--config", folder / "mapping.yaml"]
    if "descriptor" in files:
        (folder / "kueue-dra-vendor.yaml").write_text(yaml.safe_dump(files["descriptor"]))
        command += ["--descriptor", folder / "kueue-dra-vendor.yaml"]
    done = kueue_dra(*command, "-o", "json")
    return done.exit_code, json.loads(done.stdout)["findings"]


def assert_caught(check: str, files: Files, folder: Path, follows: Set[str] = frozenset()) -> None:
    """Require that a check finds something, and that no other one finds an error except for those that follow."""
    code, found = findings(files, folder)

    assert check in {each["check"] for each in found}
    errors = {each["check"] for each in found if each["level"] == "error"}
    assert errors - {check} <= follows
    assert code == (1 if errors else 0)


def test_nothing_is_found_in_a_sound_driver(tmp_path: Path) -> None:
    """Exit code 0, no finding of any level."""
    assert findings(a_driver(), tmp_path) == (0, [])


@pytest.mark.parametrize("check", sorted(TWINS))
def test_a_twin_is_caught_by_its_own_check(check: str, tmp_path: Path) -> None:
    """The check finds it; no other check of level error does."""
    files = a_driver()
    TWINS[check](files)

    assert_caught(check, files, tmp_path, FOLLOWS.get(check, set()))


def test_a_template_without_a_namespace_is_in_the_default_one(tmp_path: Path) -> None:
    """As kubectl applies it; vendors' demos often name none."""
    files = a_driver()
    del files["template"]["metadata"]["namespace"]
    del files["job"]["metadata"]["namespace"]

    assert findings(files, tmp_path) == (0, [])


def test_a_capacity_with_a_default_is_mapped_first(tmp_path: Path) -> None:
    """Without a policy every share would be charged all of the memory."""
    files = a_driver()
    for each in files["slices"]:
        for device in each["spec"]["devices"]:
            device["allowMultipleAllocations"] = True
            policy = {"default": "1", "validValues": ["1"]}
            device["capacity"]["parts"] = {"value": "8", "requestPolicy": policy}
    (tmp_path / "driver.yaml").write_text(yaml.safe_dump_all([files["class"], *files["slices"]]))

    written = next(iter(yaml.safe_load_all(kueue_dra("vendor", "mapping", tmp_path).stdout)))

    assert written["resources"]["deviceClassMappings"][0]["name"] == f"{GPU}/parts"


def test_a_class_for_hardware_that_was_not_given_is_a_warning(tmp_path: Path) -> None:
    """As a chart installs one for VFIO on every cluster; where it is declared a helper, nothing is found."""
    files = a_driver()
    files["second"] = copy.deepcopy(files["class"])
    files["second"]["metadata"]["name"] = "vfio.example.com"
    files["second"]["spec"]["selectors"].append(_cel(f"device.attributes['{DRIVER}'].numa == 7"))
    files["mapping"]["resources"]["deviceClassMappings"][0]["deviceClassNames"].append("vfio.example.com")

    code, found = findings(files, tmp_path)

    assert (code, [(each["check"], each["level"]) for each in found]) == (0, [("VENDOR-004", "warning")])
    helper, quota = {"name": "vfio.example.com", "quota": "none"}, {"name": GPU, "quota": "count"}
    files["descriptor"] = {"driver": DRIVER, "version": "1", "classes": [quota, helper]}
    files["mapping"]["resources"]["deviceClassMappings"][0]["deviceClassNames"].pop()
    assert findings(files, tmp_path) == (0, [])


def test_a_field_of_another_minor_is_no_error(tmp_path: Path) -> None:
    """A field that 1.37 has is dropped by 1.36; one that no minor has is an error."""
    files = a_driver()
    _devices(files)[0]["nodeAllocatableResources"] = {}

    code, found = findings(files, tmp_path)

    assert code == 0
    (dropped,) = [each for each in found if each["check"] == "VENDOR-018"]
    assert "Kubernetes 1.36 does not have it, 1.37 does" in dropped["text"]


def test_every_error_and_warning_has_a_twin() -> None:
    """Those of the descriptor are in a file of their own."""
    grave = {each.id for each in ALL if each.level in (Level.ERROR, Level.WARNING)}
    assert {each for each in grave if not each.startswith("VENDOR-4")} <= set(TWINS)


def test_every_check_says_what_to_do() -> None:
    """IDs are in order, and each check has an effect and a remedy."""
    assert [each.id for each in ALL] == sorted({each.id for each in ALL})
    assert all(each.effect and each.remedy and each.title for each in ALL)


def test_the_checks_are_listed() -> None:
    """As JSON for programs."""
    listed = json.loads(kueue_dra("vendor", "checks", "-o", "json").stdout)
    assert {each["level"] for each in listed} <= {level.value for level in Level}
    assert len(listed) == len(ALL)


def test_devices_are_shown_by_class(tmp_path: Path) -> None:
    """Which match, and what keeps the others out."""
    files = a_driver()
    files["class"]["spec"]["selectors"].append(_cel(f"device.attributes['{DRIVER}'].numa == 1"))
    (tmp_path / "driver.yaml").write_text(yaml.safe_dump_all([files["class"], *files["slices"]]))

    done = kueue_dra("devices", tmp_path / "driver.yaml", "-o", "json")

    (shown,) = json.loads(done.stdout)
    assert [each["verdict"] for each in shown["devices"]] == ["no", "matches", "no", "matches"]
    assert shown["devices"][0]["why"].startswith("selector 1 (")


def test_an_empty_folder_is_answered(tmp_path: Path) -> None:
    """One line, exit code 2."""
    (tmp_path / "x.yaml").write_text("apiVersion: v1\nkind: Service\nmetadata: {name: x}\n")

    done = kueue_dra("vendor", "check", tmp_path)

    assert done.exit_code == 2
    assert "found no object of resource.k8s.io" in done.output


def test_the_mapping_that_is_written_admits_the_demos(tmp_path: Path) -> None:
    """Applied unchanged, with the driver's files, the demo is admitted with one device."""
    files = a_driver()
    driver, quota = tmp_path / "driver.yaml", tmp_path / "quota.yaml"
    manifests = [files["class"], *files["slices"], files["template"], _queued(files["job"])]
    driver.write_text(yaml.safe_dump_all(manifests))

    quota.write_text(kueue_dra("vendor", "mapping", driver).stdout)
    done = kueue_dra("simulate", "-f", quota, "-f", driver, "-o", "json")

    assert done.exit_code == 0, done.output
    workload = next(each for each in json.loads(done.stdout)["items"] if each["kind"] == "Workload")
    usage = workload["status"]["admission"]["podSetAssignments"][0]["resourceUsage"]
    assert usage["gpu.example.com/devices"] == "1"


def test_partitions_are_mapped_by_their_counter(tmp_path: Path) -> None:
    """Devices that consume different amounts are charged by the counter, up to what is shared."""
    files = a_driver()
    with_counters(files, consumed="2", shared="7")
    _devices(files)[1]["consumesCounters"] = [{"counterSet": "set", "counters": {"slices": {"value": "1"}}}]
    del files["slices"][1]
    driver = tmp_path / "driver.yaml"
    driver.write_text(yaml.safe_dump_all([files["class"], *files["slices"]]))

    written = list(yaml.safe_load_all(kueue_dra("vendor", "mapping", driver).stdout))

    (mapping,) = written[0]["resources"]["deviceClassMappings"]
    assert mapping["sources"][0]["counter"]["name"] == "slices"
    queue = next(each for each in written if each["kind"] == "ClusterQueue")
    quotas = queue["spec"]["resourceGroups"][0]["flavors"][0]["resources"]
    assert {"name": "gpu.example.com/slices", "nominalQuota": "7"} in quotas


def test_a_descriptor_decides_about_the_mapping(tmp_path: Path) -> None:
    """The declared amount is charged, and a helper is not mapped."""
    files = a_driver()
    _second_class(files)
    (tmp_path / "driver.yaml").write_text(yaml.safe_dump_all([files["class"], files["second"], *files["slices"]]))
    classes = [{"name": GPU, "quota": "capacity", "capacity": "memory"}, {"name": "all.example.com", "quota": "none"}]
    descriptor = {"driver": DRIVER, "version": "1", "classes": classes}
    (tmp_path / "kueue-dra-vendor.yaml").write_text(yaml.safe_dump(descriptor))

    done = kueue_dra("vendor", "mapping", tmp_path)

    (mapping,) = next(iter(yaml.safe_load_all(done.stdout)))["resources"]["deviceClassMappings"]
    assert mapping["deviceClassNames"] == [GPU]
    assert mapping["sources"][0]["capacity"]["name"] == "memory"
    assert "the descriptor declares it a helper" in done.stderr


def test_two_configurations_do_not_matter_to_the_mapping(tmp_path: Path) -> None:
    """Nor to the table of classes and devices; both read classes and slices only."""
    files = a_driver()
    given = [files["class"], *files["slices"], NO_MAPPING, NO_MAPPING]
    (tmp_path / "driver.yaml").write_text(yaml.safe_dump_all(given))

    assert kueue_dra("vendor", "mapping", tmp_path).exit_code == 0
    assert kueue_dra("devices", tmp_path).exit_code == 0


def _queued(job: Any) -> Any:
    return {**job, "metadata": {**job["metadata"], "labels": {"kueue.x-k8s.io/queue-name": "main"}}}


def test_a_class_that_is_not_there_is_named() -> None:
    """An empty table would look like a class without devices."""
    answer = kueue_dra("devices", "examples/driver", "--class", "gpu.vendor.exmple")

    assert answer.exit_code == 2
    assert "found no such DeviceClass; known: gpu.vendor.example" in answer.output
