"""CEL selectors against what Kubernetes' own code answered: right or undecided, never wrong."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kueue_dra_ref.apiserver import MINORS
from kueue_dra_ref.apiserver.cel_selectors import selectors
from kueue_dra_ref.cel import CompileError, Device, EvaluationError, Undecided, compiled, cost_trap, lacking

GOLDEN: dict[str, Any] = tomllib.loads((Path(__file__).parent / "golden" / "selectors.toml").read_text("utf-8"))
DEVICES = {each["name"]: Device(**each) for each in GOLDEN["devices"]}
EVERY = tuple(DEVICES)
FOUR = ("nv-gpu", "ex-gpu", "dranet", "bare")
ROWS = [(*row[:2], EVERY) for row in GOLDEN["selectors"] + GOLDEN["corners"]] + [
    (*row[:2], FOUR) for row in GOLDEN["more"]
]
# Grows when the engine or the adapter loses ground, shrinks when it gains some; each is a gap with a reason.
UNDECIDED = {"selectors": 0, "more": 0, "corners": 24}
LETTERS = {True: "T", False: "F"}


def _answers(expression: str, devices: tuple[str, ...]) -> str:
    selector = compiled(expression)
    if isinstance(selector, CompileError):
        return "refused"
    if isinstance(selector, Undecided):
        return "?" * len(devices)
    answers = (selector.matches(DEVICES[name]) for name in devices)
    return "".join(
        "?" if isinstance(answer, Undecided) else "E" if isinstance(answer, EvaluationError) else LETTERS[answer]
        for answer in answers
    )


@pytest.mark.parametrize(("expression", "expected", "devices"), ROWS)
def test_an_answer_is_kubernetes_own_or_none(expression: str, expected: str, devices: tuple[str, ...]) -> None:
    """Every answer that is given is the one that Kubernetes gave."""
    answers = _answers(expression, devices)
    if expected == "refused" or answers == "refused":
        assert answers in (expected, "?" * len(devices))
        return
    assert [given for given in zip(answers, expected, strict=True) if given[0] not in (given[1], "?")] == []


@pytest.mark.parametrize(("table", "devices"), [("selectors", EVERY), ("more", FOUR), ("corners", EVERY)])
def test_the_undecided_are_counted(table: str, devices: tuple[str, ...]) -> None:
    """The number of expressions that are not decided on some device is known exactly."""
    undecided = [row[0] for row in GOLDEN[table] if "?" in _answers(row[0], devices)]
    assert len(undecided) == UNDECIDED[table], undecided


@pytest.mark.parametrize(("expression", "detail"), GOLDEN["details"])
def test_the_words_are_kubernetes_own(expression: str, detail: str) -> None:
    """The details that users meet most are worded as Kubernetes words them."""
    selector = compiled(expression)
    assert not isinstance(selector, Undecided)
    fault = selector if isinstance(selector, CompileError) else selector.matches(DEVICES["ex-gpu"])
    assert isinstance(fault, CompileError | EvaluationError)
    assert fault.detail == detail


@pytest.mark.parametrize("row", [row for row in GOLDEN["selectors"] + GOLDEN["more"] if row[1] != "refused"])
def test_cost_traps_are_known(row: list[str]) -> None:
    """Each selector that the API server rejects as too complex is reported, and no other."""
    assert (cost_trap(row[0]) is not None) == (row[2:] == ["too complex"])


@pytest.mark.parametrize(("expression", "detail"), GOLDEN["without_normalization"])
def test_an_older_kubernetes_lacks_an_argument(expression: str, detail: str) -> None:
    """Kubernetes 1.33 takes the text of a version only, as it is; what 1.36 refuses, it refuses in the same words."""
    answer = lacking(expression, {"semver": 1, "isSemver": 1}) or compiled(expression)
    assert (answer.detail if isinstance(answer, CompileError) else "") == detail


@pytest.mark.parametrize(("expression", "since", "detail"), GOLDEN["minors"])
@pytest.mark.parametrize("minor", MINORS)
def test_an_older_api_server_lacks_a_function(expression: str, since: int, detail: str, minor: str) -> None:
    """A selector that is new is refused until a minor after the one that brought the function; a stored one is not."""
    kubernetes = MINORS[minor]
    found = [{"cel": {"expression": expression}}]
    errors = [str(error) for error in selectors(found, "spec.selectors", kubernetes)]

    refused = f'spec.selectors[0].cel.expression: Invalid value: "{expression}": {detail}'
    assert errors == ([refused] if kubernetes.minor < since else [])
    assert list(selectors(found, "spec.selectors", kubernetes, stored=True)) == []


@pytest.mark.parametrize(("name", "value", "expected"), GOLDEN["attributes"])
def test_an_attribute_is_read_or_fails_every_evaluation(name: str, value: dict[str, Any], expected: str) -> None:
    """A list and a bad version fail the device before the expression runs."""
    device = Device(name="d", driver="gpu.example.com", attributes={name: value})
    selector = compiled('device.attributes["gpu.example.com"].?x.hasValue()')
    assert not isinstance(selector, CompileError | Undecided)
    answer = selector.matches(device)
    assert (answer.detail if isinstance(answer, EvaluationError) else str(answer).lower()) == expected


def test_no_cost_trap_is_a_false_alarm() -> None:
    """Of the corners not all traps are known, but what is called one is one."""
    called = [row[0] for row in GOLDEN["corners"] if cost_trap(row[0]) and row[1:2] != ["refused"]]
    assert [row[0] for row in GOLDEN["corners"] if row[0] in called and row[2:] != ["too complex"]] == []


@pytest.mark.parametrize("kind", ["ints", "bools", "strings", "versions"])
def test_a_list_attribute_fails_every_evaluation(kind: str) -> None:
    """Kueue evaluates with list attributes off: the device fails before the expression runs."""
    device = Device(name="d", driver="x", attributes={"models": {kind: []}})
    selector = compiled("true")
    assert not isinstance(selector, CompileError | Undecided)
    assert selector.matches(device) == EvaluationError(detail="attribute models: unsupported attribute value")


def test_length_is_not_kueues_concern() -> None:
    """The API server limits an expression to 10240 bytes, the compiler does not."""
    assert _answers(f"true // {'x' * 10240}", FOUR) == "TTTT"


def test_the_engine_is_not_imported_before_a_selector_is_compiled() -> None:
    """Help and configuration checks stay fast."""
    code = "import sys, kueue_dra_ref.cel; sys.exit('cel_expr_python' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


_NAMES = st.sampled_from(["model", "index", "driverVersion", "healthy", "nosuch"])
_ATTRIBUTES = st.dictionaries(
    _NAMES,
    st.one_of(
        st.builds(lambda text: {"string": text}, st.text(max_size=8)),
        st.builds(lambda number: {"int": number}, st.integers(-(2**63), 2**63 - 1)),
        st.builds(lambda truth: {"bool": truth}, st.booleans()),
        st.builds(lambda text: {"version": text}, st.sampled_from(["1.0.0", "2.3.4-rc.1", "x", ""])),
        st.just({"strings": ["a"]}),
    ),
)
_CAPACITY = st.dictionaries(st.sampled_from(["memory", "cores"]), st.sampled_from(["1", "80Gi", "100m", "x", "1e3"]))
_WORLD = st.builds(
    lambda attributes, capacity: Device(name="d", driver="x", attributes=attributes, capacity=capacity),
    _ATTRIBUTES,
    _CAPACITY,
)
_TERMS = st.one_of(
    _NAMES.map('device.attributes["x"].{}'.format),
    st.sampled_from(
        [
            "1",
            '"a"',
            "true",
            "null",
            'semver("1.0.0")',
            'device.capacity["x"].memory',
            'quantity("1Gi")',
            "device.driver",
        ]
    ),
)
_TESTS = st.builds("{} {} {}".format, _TERMS, st.sampled_from(["==", "!=", "<", "in"]), _TERMS) | _TERMS
_TEXTS = st.text(st.sampled_from('device.atrbus["x"](){}?:&|=!<>+-*/%,;\'\\`1 \n'), max_size=40)


@settings(max_examples=300)
@given(expression=_TESTS | _TEXTS | st.text(max_size=20), device=_WORLD)
def test_nothing_raises(expression: str, device: Device) -> None:
    """For every selector and device there is an answer, an error or a reason for none."""
    selector = compiled(expression)
    if not isinstance(selector, CompileError | Undecided):
        assert isinstance(selector.matches(device), bool | EvaluationError | Undecided)


@settings(max_examples=200)
@given(one=_TESTS, other=_TESTS, operator=st.sampled_from(["&&", "||"]), device=_WORLD)
def test_order_does_not_matter_inside_one_expression(one: str, other: str, operator: str, device: Device) -> None:
    """An error on one side is absorbed when the other side decides, whichever side comes first."""
    forward, backward = compiled(f"({one}) {operator} ({other})"), compiled(f"({other}) {operator} ({one})")
    assert isinstance(forward, CompileError) == isinstance(backward, CompileError)
    if isinstance(forward, CompileError | Undecided) or isinstance(backward, CompileError | Undecided):
        return
    first, second = forward.matches(device), backward.matches(device)
    assert first == second or (type(first) is type(second) and not isinstance(first, bool))
