"""The log of Kueue gives the errors of a Configuration one by one."""

from __future__ import annotations

import json

import pytest

from kueue_dra_clusters.startup_errors import verdict
from kueue_dra_ref.target import FieldError

NAMES = "resources.deviceClassMappings[0].deviceClassNames"


def a_log(message: str, error: str, causes: list[str] | None = None) -> str:
    """Write a log as Kueue does: a line before, the error, nothing after."""
    entry: dict[str, object] = {"level": "error", "msg": message, "error": error}
    if causes is not None:
        entry["errorCauses"] = [{"error": cause} for cause in causes]
    return json.dumps({"level": "info", "msg": "Configuration loaded"}) + "\n" + json.dumps(entry) + "\n"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        pytest.param(
            f'{NAMES}[1]: Duplicate value: "a"',
            FieldError(field=f"{NAMES}[1]", type="Duplicate value", value='"a"'),
            id="no-detail",
        ),
        pytest.param(
            f"{NAMES}: Required value: at least one device class name is required",
            FieldError(field=NAMES, type="Required value", detail="at least one device class name is required"),
            id="no-value",
        ),
        pytest.param(
            "r.sources[0].counter.name: Required value",
            FieldError(field="r.sources[0].counter.name", type="Required value"),
            id="neither",
        ),
        pytest.param(
            f"{NAMES}: Too many: 9: must have at most 8 items",
            FieldError(field=NAMES, type="Too many", value="9", detail="must have at most 8 items"),
            id="number",
        ),
        pytest.param(
            f'{NAMES}[0]: Invalid value: "b, c.d: Invalid value: \\"x\\"": bad: very',
            FieldError(
                field=f"{NAMES}[0]",
                type="Invalid value",
                value='"b, c.d: Invalid value: \\"x\\""',
                detail="bad: very",
            ),
            id="value-that-looks-like-an-error",
        ),
        pytest.param(
            'featureGates: Invalid value: {"A":false,"B: c":true}: unrecognized feature gate: B: c',
            FieldError(
                field="featureGates",
                type="Invalid value",
                value='{"A":false,"B: c":true}',
                detail="unrecognized feature gate: B: c",
            ),
            id="map",
        ),
        pytest.param(
            'r.expression: Invalid value: "a\\nb": CEL compilation failed: 1:2\n | a\n | ^',
            FieldError(
                field="r.expression",
                type="Invalid value",
                value='"a\\nb"',
                detail="CEL compilation failed: 1:2\n | a\n | ^",
            ),
            id="several-lines",
        ),
    ],
)
def test_a_field_error_is_taken_apart(text: str, fault: FieldError) -> None:
    """Field, type, value and detail are what Kubernetes joined, and join to the same text."""
    (read,) = verdict(a_log("Unable to validate the configuration", text, [text])) or ()

    assert read == fault
    assert str(read) == text


def test_an_aggregate_is_read_in_order() -> None:
    """The members of an aggregate come one by one, however often ``, `` occurs in them."""
    causes = ["a: Required value: x, b: Required value: y", "b: Too long: z", "c: Not found: 1"]
    log = a_log("conflicting feature gates detected", f"[{', '.join(causes)}]", causes)

    assert [fault.field for fault in verdict(log) or ()] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("log", "faults"),
    [
        pytest.param(
            a_log(
                "Unable to load the configuration",
                'strict decoding error: unknown field "bogus", unknown field "resources.m[0].typo, x"',
                ['unknown field "bogus"', 'unknown field "resources.m[0].typo, x"'],
            ),
            (
                FieldError(field="bogus", type="Unknown field"),
                FieldError(field="resources.m[0].typo, x", type="Unknown field"),
            ),
            id="unknown-fields",
        ),
        pytest.param(
            a_log(
                "Unable to load the configuration",
                "json: cannot unmarshal string into Go struct field Mapping.resources.m.names of type []v1.Name",
            ),
            (
                FieldError(
                    field="resources.m.names",
                    type="Wrong type",
                    detail="json: cannot unmarshal string into Go struct field Mapping.resources.m.names "
                    "of type []v1.Name",
                ),
            ),
            id="wrong-type",
        ),
        pytest.param(
            a_log("Unable to load the configuration", 'no kind "Configuration" is registered for version "x/v9"'),
            (
                FieldError(
                    field="", type="Not decoded", detail='no kind "Configuration" is registered for version "x/v9"'
                ),
            ),
            id="unknown-version",
        ),
    ],
)
def test_what_cannot_be_decoded_is_told_by_field(log: str, faults: tuple[FieldError, ...]) -> None:
    """A decoding error names each unknown field, or the one field of a wrong type."""
    assert verdict(log) == faults


def test_a_kueue_that_goes_on_has_no_faults() -> None:
    """Kueue took its Configuration when it initializes, whatever goes wrong afterwards."""
    assert verdict('{"msg": "Initializing"}\n' + a_log("Unable to start manager", "no connection")) == ()


def test_a_log_without_judgement_is_none() -> None:
    """A crash, a usage text or a line half written is no judgement."""
    assert verdict('panic: oh\n[1]\n{"msg": "Configuration loaded"}\n{"msg": "Initia') is None
