"""The reference's API server: the recorded answers of Kubernetes 1.36, and what differs in the other minors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import yaml

from kueue_dra_ref.apiserver import (
    CONTROL_PLANE,
    MINORS,
    AcceptedRequest,
    Kubernetes,
    RejectedRequest,
    RequestContext,
    admitted,
)
from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.target import Manifest
from tests.apiserver import Row, answer_of, in_order_of, row, rows, slim
from tests.other_minors import GOLDEN, RECORDED, SETS, minor_of, without_addresses, written

ROWS = rows()
WHOLE_REQUEST: dict[str, Any] = {
    "deviceClassName": "gpu",
    "selectors": [{"cel": {"expression": "true"}}],
    "allocationMode": "ExactCount",
    "count": 2,
    "tolerations": [{"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0}],
    "capacity": {"requests": {"n": "2", "m": "1"}},
}
PRINTED_REQUEST = (
    '"deviceClassName":"gpu","selectors":[{"cel":{"expression":"true"}}],"allocationMode":"ExactCount","count":2,'
    '"tolerations":[{"key":"a","operator":"Exists","effect":"NoExecute","tolerationSeconds":0}],'
    '"capacity":{"requests":{"m":"1","n":"2"}}'
)
"""As the types of 1.37 write it: their fields in order, without those that are empty."""
CONSUMED = [{"counterSet": "s", "counters": {"c": {"value": "1"}}}]
SHARED = [{"name": "s", "counters": {"memory": {"value": "1"}}}]
KIND = "d.example.com/kind"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.case)
def test_answers_as_kubernetes_1_36_did(row: Row) -> None:
    """Code, message, warnings and the stored spec are those that a real API server gave."""
    found = _answer(row, CONTROL_PLANE)

    code, message = (found.code, found.message) if isinstance(found, RejectedRequest) else (row.code, "")
    spec = found.obj["spec"] if isinstance(found, AcceptedRequest) else None
    assert row.expects(code, message, spec), (code, message, slim(spec))
    assert found.warnings == row.warnings


def test_every_case_has_a_name_of_its_own() -> None:
    """A failure names one row."""
    assert len({row.case for row in ROWS}) == len(ROWS)


def test_kubectl_is_told_of_unknown_fields() -> None:
    """Strict decoding refuses what the plain API drops."""
    cat = next(row for row in ROWS if row.case == "the cat of the concept page")
    under = RequestContext(kubernetes=MINORS["1.36"], namespace_labels={}, strict=True)

    found = admitted(cat.manifest, None, under)

    assert isinstance(found, RejectedRequest)
    assert (found.code, found.message) == (
        400,
        'ResourceSlice in version "v1beta1" cannot be handled as a ResourceSlice: '
        'strict decoding error: unknown field "spec.devices[0].basic.attributes.cat.boolean"',
    )


@pytest.mark.parametrize(
    ("kind", "unknown"),
    [
        pytest.param("claim", "", id="claim"),
        pytest.param("slice", '400: ResourceSlice: unknown field "status", unknown field "more"', id="slice"),
        pytest.param(
            "template", '400: ResourceClaimTemplate: unknown field "status", unknown field "more"', id="template"
        ),
        pytest.param("class", '400: DeviceClass: unknown field "status", unknown field "more"', id="class"),
    ],
)
def test_claims_alone_have_a_status(kind: str, unknown: str) -> None:
    """It is a field that is not known of the other kinds (seen on 1.36.3)."""
    manifest = row({"case": "", kind: {}}).manifest | {"status": {}} | ({"more": 1} if unknown else {})
    under = RequestContext(kubernetes=MINORS["1.36"], namespace_labels={}, strict=True)

    found = admitted(manifest, None, under)

    if isinstance(found, RejectedRequest):
        *_, fields = found.message.partition("strict decoding error: ")
        assert f"{found.code}: {manifest['kind']}: {fields}" == unknown
        assert [each.field for each in found.errors] == ["status"]
    else:
        assert not unknown


@pytest.mark.parametrize(
    ("minor", "version", "warning"),
    [
        pytest.param("1.31", "v1alpha3", "", id="alpha-in-1.31"),
        pytest.param("1.33", "v1beta1", "", id="beta-in-1.33"),
        pytest.param("1.35", "v1beta2", "", id="second-beta-in-1.35"),
        pytest.param("1.35", "v1beta1", "is deprecated in v1.35+, unavailable in v1.38+", id="old-beta-in-1.35"),
        pytest.param("1.34", "v1alpha3", "is not served by Kubernetes 1.34", id="alpha-in-1.34"),
        pytest.param("1.33", "v1", "is not served by Kubernetes 1.33", id="v1-in-1.33"),
    ],
)
def test_versions_are_served_by_some_minors(minor: str, version: str, warning: str) -> None:
    """A version that is not served is accepted with a warning, unless the option asks for the API server's 404."""
    manifest = _claim(version)
    lenient = admitted(manifest, None, _under(MINORS[minor]))
    exact = admitted(manifest, None, RequestContext(kubernetes=MINORS[minor], namespace_labels={}, only_served=True))

    assert isinstance(lenient, AcceptedRequest)
    assert lenient.obj["apiVersion"] == "resource.k8s.io/v1"
    assert [warning in each for each in lenient.warnings] == ([True] if warning else [])
    assert isinstance(exact, RejectedRequest) == ("not served" in warning)
    if isinstance(exact, RejectedRequest):
        assert (exact.code, exact.message) == (404, "the server could not find the requested resource")


@pytest.mark.parametrize(
    ("minor", "entry", "message"),
    [
        pytest.param(
            "1.31",
            {"version": "v1alpha3", "claim": {"requests": [{"repeat": 33, "of": {"name": "r{i}"}}]}},
            "spec.devices.requests: Too long: may not be longer than 32",
            id="too-many-in-1.31",
        ),
        pytest.param(
            "1.32",
            {"version": "v1beta1", "template": {"requests": [{"name": "r0"}]}},
            "spec.spec.devices.requests[0].deviceClassName: Required value",
            id="flat-request-in-1.32",
        ),
        pytest.param(
            "1.32",
            {"version": "v1beta1", "slice": {"devices": [{"name": "d0"}]}},
            "spec.devices[0].basic: Required value",
            id="boxed-device-in-1.32",
        ),
        pytest.param(
            "1.32",
            {"version": "v1beta1", "slice": {"devices": [{"name": "d0", "basic": {"attributes": {"x": {}}}}]}},
            "spec.devices[0].basic.attributes[x]: Required value: exactly one value must be specified",
            id="attribute-in-1.32",
        ),
        pytest.param(
            "1.33",
            {"template": {"requests": [{"name": "r0", "firstAvailable": [{"name": "a", "deviceClassName": "c"}]}]}},
            "spec.spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required",
            id="alternatives-are-dropped-in-1.33",
        ),
        pytest.param(
            "1.34",
            {"slice": {"devices": [{"name": "d0"}, {"name": "d0"}]}},
            'spec.devices[1].name: Duplicate value: "d0"',
            id="duplicates-in-1.34",
        ),
        pytest.param(
            "1.34",
            {"template": {"requests": [{"name": "r0", "exactly": {"deviceClassName": "c"}}], "constraints": [{}]}},
            "spec.spec.devices.constraints[0].matchAttribute: Required value",
            id="constraint-without-consumable-capacity",
        ),
        pytest.param(
            "1.34",
            {"slice": {"devices": [{"name": "d0", "attributes": {"numa-1": {"int": 1}}}]}},
            'spec.devices[0].attributes[numa-1]: Invalid value: "numa-1": a valid C identifier must',
            id="keys-in-1.34",
        ),
        pytest.param(
            "1.36",
            {"slice": {"devices": [{"name": "d0", "attributes": {"x": {"ints": [1]}}}]}},
            'spec.devices[0].attributes[x]: Invalid value: "": exactly one value must be specified',
            id="lists-are-dropped-in-1.36",
        ),
        pytest.param(
            "1.36",
            {"class": {"selectors": [{"cel": {"expression": "device.attributes['d'].links.includes(1)"}}]}},
            "spec.selectors[0].cel.expression: Invalid value: \"device.attributes['d'].links.includes(1)\": "
            "compilation failed: ERROR: <input>:1:38: undeclared reference to 'includes' (in container '')",
            id="a-function-without-its-gate-in-1.36",
        ),
        pytest.param(
            "1.35",
            {"class": {"selectors": [{"cel": {"expression": "device.allowMultipleAllocations"}}]}},
            "compilation failed: ERROR: <input>:1:7: undefined field 'allowMultipleAllocations'\n"
            " | device.allowMultipleAllocations",
            id="a-field-without-its-gate-in-1.35",
        ),
        pytest.param(
            "1.37",
            {"version": "v1beta1", "slice": {"devices": [{"name": "d0", "basic": {"attributes": {"x": {}}}}]}},
            'spec.devices[0].basic.attributes[x]: Invalid value: "": must specify one of: `int`, `bool`, `string`, ',
            id="declared-union-in-1.37",
        ),
        pytest.param(
            "1.37",
            {
                "version": "v1beta1",
                "template": {"requests": [{"name": "r0", "deviceClassName": "gpu"}] * 2},
            },
            'spec.spec.devices.requests[1]: Duplicate value: {"name":"r0","deviceClassName":"gpu",'
            '"allocationMode":"ExactCount","count":1}',
            id="flat-duplicate-in-1.37",
        ),
        pytest.param(
            "1.37",
            {"template": {"requests": [{"repeat": 33, "of": {"name": "r0", "firstAvailable": [{"name": "A"}]}}]}},
            '"probe" is invalid: spec.spec.devices.requests: Too many: 33: must have at most 32 items',
            id="too-many-bad-requests-in-1.37",
        ),
        pytest.param(
            "1.37",
            {
                "template": {
                    "requests": [
                        {"name": "r0", "firstAvailable": [{"name": "a"}]},
                        {"name": "r1", "firstAvailable": [{"name": "a"}, {"name": "a"}]},
                    ]
                }
            },
            "[spec.spec.devices.requests[0].firstAvailable[0].deviceClassName: Required value, "
            "spec.spec.devices.requests[1].firstAvailable[1]: Duplicate value: "
            '{"name":"a","deviceClassName":"","allocationMode":"ExactCount","count":1}, '
            "spec.spec.devices.requests[1].firstAvailable[0].deviceClassName: Required value, "
            "spec.spec.devices.requests[1].firstAvailable[1].deviceClassName: Required value]",
            id="duplicates-come-first-in-1.37",
        ),
        pytest.param(
            "1.37",
            {"template": {"requests": [{"name": "r0", "exactly": WHOLE_REQUEST}] * 2}},
            f'requests[1]: Duplicate value: {{"name":"r0","exactly":{{{PRINTED_REQUEST}}}}}',
            id="whole-duplicate-in-1.37",
        ),
        pytest.param(
            "1.37",
            {"version": "v1beta1", "template": {"requests": [{"name": "r0", **WHOLE_REQUEST}] * 2}},
            f'requests[1]: Duplicate value: {{"name":"r0",{PRINTED_REQUEST}}}',
            id="whole-flat-duplicate-in-1.37",
        ),
        pytest.param(
            "1.37",
            {
                "template": {
                    "requests": [
                        {"name": "r0", "exactly": {"deviceClassName": "gpu", "allocationMode": "All", "count": 0}}
                    ]
                    * 2
                }
            },
            'requests[1]: Duplicate value: {"name":"r0","exactly":{"deviceClassName":"gpu","allocationMode":"All"}}',
            id="duplicate-of-all-in-1.37",
        ),
        pytest.param(
            "1.37",
            {
                "version": "v1beta1",
                "template": {
                    "requests": [{"name": "r0", "firstAvailable": [{"name": "a", "deviceClassName": "gpu"}]}] * 2
                },
            },
            'requests[1]: Duplicate value: {"name":"r0","deviceClassName":"","firstAvailable":'
            '[{"name":"a","deviceClassName":"gpu","allocationMode":"ExactCount","count":1}]}',
            id="duplicate-list-in-1.37",
        ),
        pytest.param(
            "1.37",
            {
                "template": {
                    "requests": [
                        {
                            "name": "r0",
                            "exactly": {"deviceClassName": "gpu", "allocationMode": "Some"},
                            "firstAvailable": [{"name": "a", "deviceClassName": "gpu"}],
                        }
                    ]
                }
            },
            "multiple fields are set, spec.spec.devices.requests[0].exactly.allocationMode: Unsupported value: "
            '"Some": supported values: "All", "ExactCount"]',
            id="both-and-a-fault-in-1.37",
        ),
        pytest.param(
            "1.37",
            {
                "slice": {
                    "sharedCounters": [
                        {
                            "name": "s",
                            "counters": {name: {"value": "1"} for name in ("C", *(f"c{i}" for i in range(32)))},
                        }
                    ]
                }
            },
            "[spec.sharedCounters[0].counters: Too many: 33: must have at most 32 items, "
            "spec.sharedCounters[0].counters: "
            'Invalid value: "C": a lowercase RFC 1123 label',
            id="too-many-counters-and-a-fault-in-1.37",
        ),
    ],
)
def test_minors_word_and_place_errors_of_their_own(minor: str, entry: dict[str, Any], message: str) -> None:
    """Other minors report the same error with another text."""
    found = _answer(row({"case": "", **entry}), MINORS[minor])

    assert isinstance(found, RejectedRequest)
    assert message in found.message


def test_a_gate_that_is_off_drops_its_fields_unless_they_were_in_use() -> None:
    """Counters, policies and extended resources of 1.35 are dropped when new and kept when old."""
    off, on = MINORS["1.35"], MINORS["1.35"].with_gates(DRAExtendedResource=True)
    manifest = row({"case": "", "class": {"extendedResourceName": "example.com/gpu"}}).manifest

    dropped = admitted(manifest, None, _under(off))
    stored = admitted(manifest, None, _under(on))
    assert isinstance(stored, AcceptedRequest)
    kept = admitted(manifest, stored.obj, _under(off))

    assert isinstance(dropped, AcceptedRequest)
    assert isinstance(kept, AcceptedRequest)
    assert dropped.obj["spec"] == {}
    assert kept.obj["spec"] == {"extendedResourceName": "example.com/gpu"}


def test_compatibility_groups_are_dropped_without_their_gate() -> None:
    """Kubernetes 1.37: pkg/registry/resource/resourceslice/strategy.go."""
    consumed = {"counterSet": "s", "counters": {"slices": {"value": "1"}}}
    devices = [{"name": "whole"}, {"name": "part", "consumesCounters": [{**consumed, "compatibilityGroups": ["g"]}]}]
    manifest = row({"case": "", "slice": {"devices": devices}}).manifest

    dropped = admitted(manifest, None, _under(MINORS["1.37"]))

    assert isinstance(dropped, AcceptedRequest)
    assert dropped.obj["spec"]["devices"] == [{"name": "whole"}, {"name": "part", "consumesCounters": [consumed]}]


@pytest.mark.parametrize(
    ("minor", "changed", "is_looked_at"),
    [
        pytest.param("1.36", False, True, id="as-it-was-in-1.36"),
        pytest.param("1.37", False, False, id="as-it-was-in-1.37"),
        pytest.param("1.37", True, True, id="changed-in-1.37"),
    ],
)
def test_from_1_37_on_a_capacity_that_stays_is_not_looked_at(minor: str, changed: bool, is_looked_at: bool) -> None:
    """Its policy stays on a device that is not shared any more."""
    policy = {"default": "1", "validValues": ["1"]}
    device = {"name": "d0", "capacity": {"m": {"value": "8", "requestPolicy": policy}}}
    shared = {"devices": [{**device, "allowMultipleAllocations": True}]}
    if changed:
        device = {**device, "capacity": {"m": {"value": "9", "requestPolicy": policy}}}

    answer = _answer(row({"case": "", "slice": {"devices": [device]}, "before": shared}), MINORS[minor])

    refused = "spec.devices[0].capacity[m].requestPolicy: Forbidden: allowMultipleAllocations must be true"
    assert isinstance(answer, RejectedRequest) == is_looked_at
    assert not isinstance(answer, RejectedRequest) or answer.message.endswith(refused)


@pytest.mark.parametrize(
    ("before", "after", "printed"),
    [
        pytest.param(
            {"requests": [{"name": "r0", "firstAvailable": [{"name": "a", "deviceClassName": "gpu"}]}]},
            {"requests": [{"name": "r0", "firstAvailable": [{"name": "b", "deviceClassName": "gpu"}]}]},
            '{"Name":"r0","Exactly":null,"FirstAvailable":[{"Name":"b","DeviceClassName":"gpu",',
            id="alternatives",
        ),
        pytest.param(
            {"requests": [{"name": "r0", "exactly": {"deviceClassName": "gpu"}}]},
            {"requests": [{"name": "r0", "exactly": {"deviceClassName": "gpu"}}], "config": [{"requests": ["r0"]}]},
            '"Config":[{"Requests":["r0"],"Opaque":null}]',
            id="configuration",
        ),
    ],
)
def test_a_changed_template_is_printed_with_what_it_lacks(before: Any, after: Any, printed: str) -> None:
    """Kubernetes 1.36.3 prints null for it, as Go does."""
    answer = _answer(row({"case": "", "template": after, "before": before}), CONTROL_PLANE)

    assert isinstance(answer, RejectedRequest)
    assert printed in answer.message


@pytest.mark.parametrize(("count", "code"), [(-(2**63), 422), (-(2**63) - 1, 400)])
def test_the_lowest_number_can_be_read(count: int, code: int) -> None:
    """Kubernetes 1.36.3 refuses it as a count, and cannot read a lower one."""
    request = {"name": "r0", "exactly": {"deviceClassName": "gpu", "count": count}}

    answer = _answer(row({"case": "", "template": {"requests": [request]}}), CONTROL_PLANE)

    assert isinstance(answer, RejectedRequest)
    assert answer.code == code


def test_a_step_of_zero_is_not_answered_before_1_37() -> None:
    """Until then the API server divides by it, and so breaks off."""
    policy = {"default": "1", "validRange": {"min": "1", "step": "0"}}
    device = {
        "name": "d0",
        "allowMultipleAllocations": True,
        "capacity": {"m": {"value": "8", "requestPolicy": policy}},
    }
    shared = row({"case": "", "slice": {"devices": [device]}})

    broken = _answer(shared, MINORS["1.36"])
    told = _answer(shared, MINORS["1.37"].with_gates(DRAConsumableCapacity=True))

    assert isinstance(broken, RejectedRequest)
    assert broken.code == 500
    assert isinstance(told, RejectedRequest)
    assert told.message.endswith('validRange.step: Invalid value: "0": must be greater than zero')


def test_parameters_have_a_longest_length_since_1_32() -> None:
    """Of ten kibibytes, as JSON."""
    opaque = {"driver": "d", "parameters": {"a": "x" * 10_240}}
    long = row({"case": "", "version": "v1alpha3", "claim": {"config": [{"opaque": opaque}]}})

    later = _answer(long, MINORS["1.32"])

    assert isinstance(_answer(long, MINORS["1.31"]), AcceptedRequest)
    assert isinstance(later, RejectedRequest)
    assert later.message.endswith(
        "spec.devices.config[0].opaque.parameters: Too long: may not be more than 10240 bytes"
    )


@pytest.mark.parametrize(
    ("counter", "shared", "fault"),
    [
        pytest.param(
            "memory",
            None,
            'counterSet: Invalid value: "s": must reference a counterSet defined in the ResourceSlice sharedCounters',
            id="no-set",
        ),
        pytest.param(
            "slices",
            SHARED,
            'counters: Invalid value: "slices": must reference a counter defined in the ResourceSlice sharedCounters',
            id="no-counter",
        ),
        pytest.param("memory", SHARED, "", id="counter"),
    ],
)
def test_counters_must_be_there_until_1_34(counter: str, shared: Any, fault: str) -> None:
    """Later a set may be in another slice of the pool (seen on 1.33.13)."""
    consumed = [{"counterSet": "s", "counters": {counter: {"value": "1"}}}]
    devices = [{"name": "d0", "consumesCounters": consumed}]
    partition = row({"case": "", "slice": {"devices": devices, "sharedCounters": shared}})

    early = _answer(partition, MINORS["1.34"].with_gates(DRAPartitionableDevices=True))

    found = early.message.partition("is invalid: ")[2] if isinstance(early, RejectedRequest) else ""
    assert found == (fault and f"spec.devices[0].consumesCounters[0].{fault}")
    assert isinstance(_answer(partition, MINORS["1.36"]), AcceptedRequest) == (not shared)


@pytest.mark.parametrize(
    ("sizes", "fault"),
    [
        pytest.param([32] * 32, "", id="as-many-as-may-be"),
        pytest.param([33], "spec.devices[0]: Invalid value: 33: the total number of counters", id="of-a-device"),
        pytest.param(
            [*[32] * 32, 1], "spec.devices: Invalid value: 1025: the total number of counters in devices", id="in-all"
        ),
    ],
)
def test_counters_are_added_up_until_1_34(sizes: list[int], fault: str) -> None:
    """Those that a device consumes of all sets, and those that all devices consume."""
    names = [f"c{index}" for index in range(32)]
    value = {"value": "1"}
    shared = [{"name": "s", "counters": dict.fromkeys(names, value)}]
    devices = []
    for index, size in enumerate(sizes):
        consumed = [{"counterSet": "s", "counters": dict.fromkeys([*names, "more"][:size], value)}]
        devices.append({"name": f"d{index}", "consumesCounters": consumed})

    slice_ = row({"case": "", "slice": {"devices": devices, "sharedCounters": shared}})
    answer = _answer(slice_, MINORS["1.34"].with_gates(DRAPartitionableDevices=True))

    assert isinstance(answer, RejectedRequest) == bool(fault)
    assert not isinstance(answer, RejectedRequest) or fault in answer.message


@pytest.mark.parametrize(
    ("name", "attributes", "faults"),
    [
        pytest.param(KIND, {"kind": {"string": "a"}}, (), id="of-the-driver"),
        pytest.param(KIND, {KIND: {"string": "a"}}, (), id="with-its-domain"),
        pytest.param(KIND, {KIND: {"string": "a"}, "kind": {"int": 1}}, (), id="with-its-domain-first"),
        pytest.param("x/kind", {"x/kind": {"string": "a"}}, (), id="of-another-domain"),
        pytest.param(
            "x/kind",
            {"kind": {"string": "a"}},
            ("spec.devices[1].attributes[x/kind]: Required value",),
            id="without-another-domain",
        ),
        pytest.param(KIND, {}, (f"spec.devices[1].attributes[{KIND}]: Required value",), id="missing"),
        pytest.param(KIND, {"kind": {"int": 1}}, (f"spec.devices[1].attributes[{KIND}]: Invalid value",), id="no-text"),
        pytest.param("kind", {}, ("spec.partitionTypeAttribute: Invalid value",), id="no-domain"),
        pytest.param(KIND, None, ("spec.partitionTypeAttribute: Invalid value",), id="no-partitions"),
        pytest.param("kind", None, ("spec.partitionTypeAttribute: Invalid value",) * 2, id="neither"),
    ],
)
def test_partitions_have_the_type_that_their_slice_names(
    name: str, attributes: dict[str, Any] | None, faults: tuple[str, ...]
) -> None:
    """A device that consumes no counters is none; in 1.37, as its validation says (validatePartitionTypeAttribute)."""
    partition = {"name": "d1", "attributes": attributes, "consumesCounters": CONSUMED}
    devices = [{"name": "d0"}, *([] if attributes is None else [partition])]
    named = row({"case": "", "slice": {"devices": devices, "partitionTypeAttribute": name}})

    answer = _answer(named, MINORS["1.37"].with_gates(DRAPartitionableDevicesType=True))

    found = answer.errors if isinstance(answer, RejectedRequest) else ()
    assert tuple(f"{each.field}: {each.type}" for each in found) == faults


def _answer(row: Row, k: Kubernetes) -> AcceptedRequest | RejectedRequest:
    return answer_of(row.manifest, row.before, k)


def _under(kubernetes: Kubernetes) -> RequestContext:
    return RequestContext(kubernetes=kubernetes, namespace_labels={})


def _claim(version: str) -> Manifest:
    asked = {"deviceClassName": "gpu"}
    request = {"name": "r0", **asked} if version in ("v1alpha3", "v1beta1") else {"name": "r0", "exactly": asked}
    return row({"case": "", "version": version, "claim": {"requests": [request]}}).manifest


def test_an_object_of_a_namespace_that_is_not_there_is_not_found() -> None:
    """With the message of an API server, and the field of the manifest (seen on Kubernetes 1.36)."""
    target = ReferenceTarget(behaviour("kueue-0.19.2"))
    target.start({})
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "job", "namespace": "team"}, "spec": {}}

    (refusal,) = target.apply([job])

    assert (refusal.code, refusal.message) == (404, 'namespaces "team" not found')
    assert str(refusal.error) == 'metadata.namespace: Not found: "team"'


@pytest.mark.parametrize("kind", ["Workload", "LocalQueue"])
def test_a_condition_says_of_what_it_is_one(kind: str) -> None:
    """A status in a manifest is reported, in a new object too."""
    target = ReferenceTarget(behaviour("kueue-0.19.2"))
    target.start({})
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}
    meta = {"name": "made", "namespace": "team"}
    made = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": meta, "spec": {}}

    (refusal,) = target.apply([namespace, made | {"status": {"conditions": [{"status": "True"}]}}])

    assert str(refusal.error) == "status.conditions[].type: Required value"


def test_a_job_whose_workload_is_refused_has_none() -> None:
    """A container may use two requests of one claim, which no Workload can say (seen on 0.19.2 and 0.14.0)."""
    target = ReferenceTarget(behaviour("kueue-0.19.2"))
    target.start({})
    used = [{"name": "devices", "request": "a"}, {"name": "devices", "request": "b"}]
    pod = {
        "containers": [{"name": "c", "image": "i", "resources": {"claims": used}}],
        "resourceClaims": [{"name": "devices", "resourceClaimTemplateName": "t"}],
        "restartPolicy": "Never",
    }
    meta = {"name": "job", "namespace": "team", "labels": {"kueue.x-k8s.io/queue-name": "main"}}
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": {"template": {"spec": pod}}}

    assert target.apply([namespace, job]) == []
    target.settle()

    assert target.list("kueue.x-k8s.io/v1beta2", "Workload") == []


@pytest.mark.parametrize("gates", SETS)
@pytest.mark.parametrize("name", RECORDED)
def test_answers_as_the_other_minors_did(name: str, gates: str) -> None:
    """Each row of the table, asked of that minor: its recorded answer, or the one of 1.36 where none is recorded."""
    k = minor_of(name, gates)
    record = yaml.safe_load((GOLDEN / f"apiserver-{name}.yaml").read_text("utf-8"))[gates]
    told = {each["case"]: {"code": 0, "message": "", **each} for each in record}
    expected = [replace(row, **told.get(row.case, {})) for row in ROWS]
    assert [wrong for row in expected if (wrong := _unlike(row, k))] == []


def _unlike(expected: Row, k: Kubernetes) -> tuple[Any, ...]:
    """Say how the reference's answer differs from what a minor answered."""
    before = expected.before and written(expected.before, k)
    found = answer_of(written(expected.manifest, k), before, k)
    if isinstance(found, RejectedRequest):
        message = in_order_of(expected.message, without_addresses(found.message, k))
        return () if expected.expects(found.code, message, None) else (expected, found.code, message)
    return () if expected.expects(expected.code, "", found.obj["spec"]) else (expected, slim(found.obj["spec"]))
