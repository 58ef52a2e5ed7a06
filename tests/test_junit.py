"""JUnit XML: the three commands that write it write one form, which the schemas of its readers accept."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from kueue_dra_reports.junit_writer import Case, Result, Suite, junit_text
from tests.commands import ROOT, kueue_dra

SCHEMAS = {"Jenkins, pytest's xunit2": "junit-10.xsd", "Ant": "JUnit.xsd"}
"""The files of the schemas: of jenkinsci/xunit-plugin and of windyroad/JUnit-Schema."""
FOLDER = "KUEUE_DRA_JUNIT_SCHEMAS"
"""The variable with a folder that holds both; they are not part of this repository."""
SUITE = {"name", "package", "id", "timestamp", "hostname", "tests", "failures", "errors", "skipped", "time"}
KNOWN = "- {id: COUNT-006, reason: <b>a bug</b>, until: 2999-12-31}\n"


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Give what each command writes: with failures, skipped cases, an error of the run, and properties."""
    folder = tmp_path_factory.mktemp("junit")
    (folder / "known.yaml").write_text(KNOWN, "utf-8")
    command = [sys.executable, "-m", "kueue_dra_cli", "run", "quota", "--expected-failures=known.yaml"]
    wrong = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": "--knock-out=multiply_by_pod_count"}
    ran = subprocess.run(command, cwd=folder, env=wrong, capture_output=True, text=True, check=False)
    assert ran.returncode == 1, ran.stderr
    driver = folder / "class.yaml"
    driver.write_text(
        "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: gpu.example.com}\nspec: {}\n", "utf-8"
    )
    return {
        "run": (folder / "out" / "junit.xml").read_text("utf-8"),
        "vendor check": kueue_dra("vendor", "check", driver, "-o", "junit").stdout,
        "audit": kueue_dra("audit", ROOT / "examples" / "audit" / "edited.yaml", "-o", "junit").stdout,
    }


def test_every_command_writes_one_form(documents: dict[str, str]) -> None:
    """Elements, attributes and their order are those that all schemas have; the numbers are those of the cases."""
    for command, text in documents.items():
        root = ElementTree.fromstring(text)
        assert (root.tag, root.attrib) == ("testsuites", {}), command
        assert [suite.attrib["id"] for suite in root] == [str(number) for number in range(len(root))]
        for suite in root:
            _check(suite)


def _check(suite: ElementTree.Element) -> None:
    assert (suite.tag, set(suite.attrib)) == ("testsuite", SUITE)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", suite.attrib["timestamp"])
    first, *cases, out, err = suite
    assert [first.tag, out.tag, err.tag] == ["properties", "system-out", "system-err"]
    assert {case.tag for case in cases} <= {"testcase"}
    assert int(suite.attrib["tests"]) == len(cases)
    for kind, number in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        assert int(suite.attrib[number]) == len(suite.findall(f"testcase/{kind}"))
    for case in cases:
        assert set(case.attrib) == {"classname", "name", "time"}
        assert [child.tag for child in case] in ([], ["failure"], ["error"], ["skipped"])
        for child in case:
            assert set(child.attrib) == {"message"} | ({"type"} - ({"type"} if child.tag == "skipped" else set()))


def test_the_documents_have_every_kind_of_result(documents: dict[str, str]) -> None:
    """Otherwise the other tests would check less than they say."""
    found = {tag for text in documents.values() for tag in re.findall(r"<(failure|error|skipped)\b", text)}
    assert found == {"failure", "skipped"}
    error = Result(kind="error", message="a \x00 bell")
    text = junit_text([Suite(name="s", cases=[Case(place="p", name="n", result=error)])], "2026-01-31T12:00:00Z")
    _check(ElementTree.fromstring(text)[0])


@pytest.mark.parametrize("reader", SCHEMAS)
def test_the_schemas_accept_what_is_written(reader: str, documents: dict[str, str]) -> None:
    """With the published files, where they are: the package xmlschema and a folder with both files."""
    xmlschema = pytest.importorskip("xmlschema")
    folder = os.environ.get(FOLDER, "")
    if not folder:
        pytest.skip(f"{FOLDER} names no folder with {SCHEMAS[reader]}")
    schema = xmlschema.XMLSchema(str(Path(folder) / SCHEMAS[reader]))
    for text in documents.values():
        schema.validate(text.partition("\n")[2])
    with pytest.raises(xmlschema.XMLSchemaValidationError):
        schema.validate(documents["run"].partition("\n")[2].replace("classname=", "where=", 1))
