"""Reading YAML files: values, places, lists, configurations, and the messages about errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kueue_dra_ref.api.configuration_documents import configurations
from kueue_dra_ref.api.documents import DocumentError, identified, parse, read, written

MANY = """\
# a comment alone
---
apiVersion: v1
kind: Namespace
metadata: {name: a}
---
---
apiVersion: batch/v1
kind: Job
metadata:
  name: j
  namespace: a
"""
CONFIG_MAP = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: kueue-manager-config
data:
  config.yaml: |
    kind: Configuration
    resources:
      deviceClassMappings:
      - name: whole-gpus
---
apiVersion: v1
kind: ConfigMap
metadata: {name: other}
data: {key: value}
"""
LISTS = """\
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Namespace, metadata: {name: a}}
- apiVersion: v1
  kind: Namespace
  metadata:
    name: b
---
apiVersion: batch/v1
kind: JobList
items:
- metadata: {name: j}
"""


def test_a_file_holds_many_documents_with_their_places() -> None:
    """Each document has its number and its first line; empty ones count but are skipped."""
    found = identified(parse(MANY, "f.yaml"))

    assert [(d.manifest["metadata"]["name"], d.number, d.line) for d in found] == [("a", 1, 3), ("j", 3, 8)]
    assert found[1].line_of("metadata.namespace") == 12
    assert found[1].line_of("metadata.labels.app") == 10


def test_list_kinds_are_taken_apart() -> None:
    """A List gives its items; an item of a typed list gets the kind that its list implies."""
    found = identified(parse(LISTS, "f.yaml"))

    assert [(d.manifest["kind"], d.manifest["metadata"]["name"], d.line) for d in found] == [
        ("Namespace", "a", 4),
        ("Namespace", "b", 5),
        ("Job", "j", 13),
    ]


def test_a_configuration_inside_a_config_map_is_found_with_its_lines() -> None:
    """The lines are those of the outer file; a ConfigMap without one holds none."""
    documents = parse(CONFIG_MAP, "f.yaml")
    (configuration,) = configurations(documents)

    assert configuration.manifest["resources"] == {"deviceClassMappings": [{"name": "whole-gpus"}]}
    assert configuration.line_of("resources.deviceClassMappings[0].name") == 10


def test_a_document_without_kind_is_a_configuration_only_where_one_is_named() -> None:
    """Kueue starts with a file that has neither apiVersion nor kind; among manifests it is something else."""
    documents = parse("resources: {}", "f.yaml")

    assert len(configurations(documents, named=True)) == 1
    assert configurations(documents) == ()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("y", True, id="y"),
        pytest.param("Off", False, id="off"),
        pytest.param("~", None, id="tilde"),
        pytest.param("", None, id="nothing"),
        pytest.param("1e3", 1000, id="exponent"),
        pytest.param("1.50", 1.5, id="fraction"),
        pytest.param("2.0", 2, id="whole-float"),
        pytest.param("0o17", 15, id="octal"),
        pytest.param("017", 15, id="old-octal"),
        pytest.param("089", 89, id="no-octal"),
        pytest.param("0x1F", 31, id="hex"),
        pytest.param("1_000", 1000, id="underscore"),
        pytest.param("99999999999999999999", 1e20, id="beyond-uint64"),
        pytest.param("2001-12-14", "2001-12-14", id="date"),
        pytest.param("1:30", "1:30", id="base-60"),
        pytest.param("100m", "100m", id="quantity"),
        pytest.param("=", "=", id="equals"),
        pytest.param("'5'", "5", id="quoted"),
        pytest.param("!!str 5", "5", id="tagged"),
    ],
)
def test_plain_values_mean_what_they_mean_to_kubernetes(text: str, value: Any) -> None:
    """Kubernetes' YAML differs from YAML 1.1 in small ways that change values."""
    (document,) = parse(f"value: {text}", "f.yaml")

    assert document.manifest["value"] == value
    assert type(document.manifest["value"]) is type(value) or value == 1e20


def test_merged_keys_yield_to_own_keys() -> None:
    """An anchor may be merged into an object, whose own keys win."""
    (document,) = parse("a: &a {x: 1, y1: 2}\nb: {<<: *a, x: 3}", "f.yaml")

    assert document.manifest["b"] == {"x": 3, "y1": 2}


@pytest.mark.parametrize(
    ("text", "place", "found", "expected"),
    [
        pytest.param("a: 1\nb: 2\na: 3", (1, 3), 'key "a" again, first on line 1', "each key once", id="twice"),
        pytest.param("x: {1: a, '1': b}", (1, 1), 'key "1" again, first on line 1', "each key once", id="same-text"),
        pytest.param(
            "a: b\n---\n- 1", (2, 3), "a list", "an object with apiVersion, kind and metadata", id="list-at-top"
        ),
        pytest.param("just text", (1, 1), '"just text"', "an object with apiVersion, kind and metadata", id="text"),
        pytest.param("a: .nan", (1, 1), ".nan", "a value that JSON can hold", id="nan"),
        pytest.param("a: !thing 1", (1, 1), "1", "a value that JSON can hold", id="unknown-tag"),
        pytest.param("? [a]\n: 1", (1, 1), "a list as a key", "a string", id="list-as-key"),
        pytest.param(
            "a: &a [*a]", (1, 1), "an alias that holds itself, or aliases without end", "a finite document", id="cycle"
        ),
        pytest.param("kind: List\nitems:\n- 1", (1, 3), "1 in a List", "an object", id="list-of-numbers"),
    ],
)
def test_a_bad_file_is_answered(text: str, place: tuple[int, int], found: str, expected: str) -> None:
    """The fault names file, document, line, what was found and what was expected."""
    with pytest.raises(DocumentError) as caught:
        parse(text, "f.yaml")

    fault = caught.value
    assert (fault.file, fault.document, fault.line) == ("f.yaml", *place)
    assert (fault.found, fault.expected) == (found, expected)


def test_text_that_is_no_yaml_is_answered_with_its_line() -> None:
    """A syntax fault tells the parser's words and the line."""
    with pytest.raises(DocumentError, match=r"f\.yaml, document 2, line 3: found .*; expected YAML"):
        parse("a: 1\n---\nb: ]", "f.yaml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("kind: Job\nmetadata: {name: j}", "line 1: found no apiVersion", id="no-api-version"),
        pytest.param("apiVersion: v1\nmetadata: {name: j}", "line 1: found no kind", id="no-kind"),
        pytest.param("apiVersion: v1\nkind: Pod\nmetadata: {}", "line 3: found no metadata.name", id="no-name"),
        pytest.param("apiVersion: v1\nkind: Pod\nmetadata: {name: 7}", "line 3: found metadata.name 7", id="number"),
    ],
)
def test_an_object_must_say_what_it_is(text: str, message: str) -> None:
    """An object without apiVersion, kind or name is no manifest."""
    with pytest.raises(DocumentError, match=message):
        identified(parse(text, "f.yaml"))


def test_a_directory_is_read_file_by_file(tmp_path: Path) -> None:
    """Files come by name, only those that end like YAML or JSON."""
    (tmp_path / "b.yaml").write_text("b: 1")
    (tmp_path / "a.json").write_text('{"a": 1}')
    (tmp_path / "c.txt").write_text("c: 1")

    assert [d.manifest for d in read(tmp_path)] == [{"a": 1}, {"b": 1}]


@pytest.mark.parametrize(
    ("content", "found"),
    [pytest.param(None, "no such file or directory", id="missing"), pytest.param(b"\xff", "not UTF-8", id="bytes")],
)
def test_an_unreadable_file_is_answered(tmp_path: Path, content: bytes | None, found: str) -> None:
    """A file that is missing or is no text is a fault, not a traceback."""
    if content is not None:
        (tmp_path / "f.yaml").write_bytes(content)

    with pytest.raises(DocumentError, match=found):
        read(tmp_path / "f.yaml")


def test_what_is_written_reads_back_the_same() -> None:
    """Strings that look like something else are quoted."""
    manifest = {"a": ["y", "1e3", "017", "", "~", "2001-12-14", "<<", "100m", True, 1, 0.5, None], "on": {"n": "x"}}

    (document,) = parse(written([manifest]), "f.yaml")

    assert document.manifest == manifest


LIST_IN_JSON = """\
{
\t"apiVersion": "v1", "kind": "List",
\t"items": [
\t\t{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}},
\t\t{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"},
\t\t "spec": {"parallelism": 2.0,
\t\t          "completions": 1e1}}
\t]
}
"""


def test_json_is_read_as_yaml_is_with_the_lines_of_its_fields() -> None:
    """A whole number is one however it is written; tabs may be anywhere between values."""
    namespace, job = parse(LIST_IN_JSON, "f.json")

    assert namespace.manifest == {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}}
    assert job.manifest["spec"] == {"parallelism": 2, "completions": 10}
    assert (namespace.line, job.line, job.line_of("spec.completions")) == (4, 5, 7)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param('{"kind": "List",\n "kind": "List"}', 'key "kind" again, first on line 1', id="a-key-twice"),
        pytest.param('{"kind": ' + "[" * 101 + "]" * 101 + "}", "more than 100 levels inside each other", id="deep"),
        pytest.param('{"a": ' + "9" * 20_000 + "}", "a number of 20000 digits", id="digits"),
        pytest.param('{"a": "' + "9" * 20_000 + '"}', "a number of 20000 digits", id="digits-in-a-text"),
        pytest.param('{"a": "\\ud800"}', "invalid Unicode character escape code", id="half-a-surrogate-pair"),
        pytest.param('{"a": 1,}x', "document start", id="more"),
    ],
)
def test_an_error_in_json_is_answered_as_in_yaml(text: str, found: str) -> None:
    """The JSON parser leaves it to the YAML reader, which knows the line."""
    with pytest.raises(DocumentError) as fault:
        parse(text, "f.json")

    assert found in str(fault.value)


def test_the_number_of_values_in_a_document_has_no_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only values that aliases repeat are limited: a dump of a large cluster is one document."""
    monkeypatch.setattr("kueue_dra_ref.api.yaml_text._MOST_REPEATED", 10)
    text = f"apiVersion: v1\nkind: List\nitems:\n- kind: Pod\n  many: [{'a,' * 100}]\n- kind: Job\n"

    _, job = parse(text, "f.yaml")

    assert (job.manifest, job.line) == ({"kind": "Job"}, 6)


def test_the_fields_behind_an_alias_have_the_lines_of_what_it_repeats() -> None:
    """The same for an item that is an alias itself."""
    text = "kind: List\nitems:\n- &first\n  kind: Job\n  spec: &spec {a: 1}\n- *first\n- kind: Pod\n  spec: *spec\n"

    documents = parse(text, "f.yaml")

    assert [each.line_of("spec.a") for each in documents] == [5, 5, 5]
    assert documents[1].manifest == documents[0].manifest
    assert documents[1].manifest["spec"] is not documents[0].manifest["spec"]
