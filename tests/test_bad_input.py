"""Files and command lines with unusual errors: each gets an answer, and none ends in a traceback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kueue_dra_cli import TRACEBACK
from kueue_dra_clusters.errors import MissingTool
from kueue_dra_clusters.kind.provider import engine
from kueue_dra_ref.api.documents import DocumentError, parse, read
from tests.commands import EXAMPLE, LEFT_OUT, ROOT, kueue_dra

PROGRAM = (sys.executable, "-m", "kueue_dra_cli")
NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata: {name: n}\n"


def begun(*arguments: object) -> subprocess.Popen[str]:
    """Start ``kueue-dra`` as a shell does."""
    command = [*PROGRAM, *map(str, arguments)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param(b"a: 1\nb: \xe9\n", ":2: found byte 0xe9, which is not UTF-8; expected UTF-8 text", id="latin"),
        pytest.param(b"a: !!int x\n", ":1: found x; expected a value that JSON can hold", id="no-integer"),
        pytest.param(b"a: !!float x\n", ":1: found x; expected a value that JSON can hold", id="no-float"),
        pytest.param(b"a: !!bool x\n", ":1: found x; expected a value that JSON can hold", id="no-bool"),
        pytest.param(b"[" * 200_000, ":1: found more than 100 levels inside each other; expected YAML", id="deep"),
        pytest.param(b"a: *b\n", ":1: found undefined alias; expected YAML", id="alias"),
        pytest.param(b"a: \x00\n", ": found unacceptable character #x0000: ", id="nul"),
        pytest.param(b"", ": found no object; expected manifests", id="empty"),
        pytest.param(b"\xef\xbb\xbf# nothing\n---\nnull\n", ": found no object; expected manifests", id="nothing"),
    ],
)
def test_a_file_is_answered_whatever_it_holds(tmp_path: Path, content: bytes, expected: str) -> None:
    """In one line, with the exit code of a question that cannot be asked."""
    file = tmp_path / "f.yaml"
    file.write_bytes(content)

    for command in ("simulate", "explain"):
        result = kueue_dra(command, "-f", file)

        assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)
        assert result.stderr.startswith(f"{file}{expected}")


def test_the_standard_input_is_answered_as_a_file_is() -> None:
    """Bytes that are no text come through a pipe as well."""
    ended = subprocess.run([*PROGRAM, "simulate", "-f", "-"], cwd=ROOT, input=b"a: \xff", capture_output=True)

    assert ended.returncode == 2
    assert ended.stderr == b"-:1: found byte 0xff, which is not UTF-8; expected UTF-8 text\n"


def test_a_byte_order_mark_is_no_part_of_a_file(tmp_path: Path) -> None:
    """Editors of other systems write one."""
    file = tmp_path / "f.yaml"
    file.write_text(NAMESPACE, "utf-8-sig")

    assert [each.manifest["kind"] for each in read(file)] == ["Namespace"]


@pytest.mark.parametrize("text", ["1e400", "-1e400", "1" + "0" * 400, "1" + "0" * 5000])
def test_a_number_that_no_float_holds_is_a_string(text: str) -> None:
    """As to Go's YAML library: it is a quantity then, and wrong as a count."""
    (document,) = parse(f"a: {text}", "f.yaml")

    assert document.manifest == {"a": text}


def test_a_weight_that_no_float_holds_is_endless(tmp_path: Path) -> None:
    """As `AsApproximateFloat64` of a quantity is in Go."""
    queue = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: q}\n"
    file = tmp_path / "f.yaml"
    file.write_text(f"{queue}spec: {{fairSharing: {{weight: 1e400}}}}\n")

    assert kueue_dra("simulate", "-f", file).exit_code == 0


def test_a_path_that_no_file_can_have_is_answered() -> None:
    """A name may be longer than any file system takes."""
    with pytest.raises(DocumentError, match="file name too long; expected a readable text file"):
        read(Path("x" * 300))


def test_a_directory_without_manifests_is_answered(tmp_path: Path) -> None:
    """An empty answer would look like an empty cluster."""
    (tmp_path / "README.md").touch()

    result = kueue_dra("simulate", tmp_path)

    assert result.exit_code == 2
    assert (
        result.stderr
        == f"{tmp_path}: found no file that ends in .yaml, .yml, .json; expected manifests in this directory\n"
    )


@pytest.mark.parametrize("version", ["[]", "{a: 1}", "7"])
def test_an_api_version_of_another_type_is_refused(tmp_path: Path, version: str) -> None:
    """As a strict decoder refuses it."""
    file = tmp_path / "f.yaml"
    file.write_text(f"apiVersion: {version}\nkind: Configuration\n", "utf-8")

    result = kueue_dra("config", "check", file)

    assert result.exit_code == 1
    assert result.stderr.startswith(f"{file}:1: apiVersion: Wrong type: found ")


def test_a_story_comes_from_the_standard_input_too() -> None:
    """One command reads the output of another."""
    story = kueue_dra("record", "-f", EXAMPLE, "-f", LEFT_OUT, "--target", "reference").stdout

    assert kueue_dra("replay", "--check", "-", stdin=story).exit_code == 0


def test_a_line_ends_where_json_lines_end(tmp_path: Path) -> None:
    """Other signs that Python takes for the end of a line may stand in a JSON string."""
    file = tmp_path / "f.jsonl"
    scenario = {"kind": "Scenario", "metadata": {"name": "a\u2028b"}, "spec": {"steps": []}}
    file.write_text(json.dumps(scenario, ensure_ascii=False) + "\r\n", "utf-8")

    assert kueue_dra("replay", file).exit_code == 0


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        pytest.param(("simulate", "--behaviour", "kueue-0.19.x"), "did you mean kueue-0.19.7?", id="text"),
        pytest.param(("record", "-f", EXAMPLE, "--kueue", "0.191"), "did you mean 0.19?", id="release"),
        pytest.param(("run", "quotas"), "did you mean quota?", id="suite"),
        pytest.param(("run", "-n", "-1"), "found '-1'; expected a number of processes, or auto", id="processes"),
        pytest.param(("controls", "quota-doubed"), "did you mean quota-doubled?", id="control"),
        pytest.param(
            ("record", "-f", EXAMPLE, "--target", "reference", "-o", "nowhere/s.yaml"),
            "found no folder nowhere to write s.yaml to",
            id="folder",
        ),
    ],
)
def test_a_slip_on_the_command_line_leads_on(words: tuple[object, ...], expected: str) -> None:
    """Before any case runs."""
    result = kueue_dra(*words)

    assert result.exit_code == 2
    assert expected in result.stderr


def test_a_cluster_that_is_not_there_is_told() -> None:
    """Or that there is nothing that could run one, where there is not."""
    result = kueue_dra("cluster", "down", "--name", "nobodys")

    expected = "found no cluster nobodys"
    try:
        engine()
    except MissingTool as trouble:
        expected = str(trouble).splitlines()[0]
    assert (result.exit_code, expected in result.stderr) == (2, True)


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        pytest.param("--citing=COUNT-06", "--citing: 'COUNT-06' is no requirement; did you mean COUNT-0", id="citing"),
        pytest.param("--citing=AHEAD-001", "--citing: AHEAD-001 is MAP-021 since 0.2.0", id="retired"),
        pytest.param(
            "--knock-out=multiply_by_pod_counts",
            "is no rule of the behaviour; did you mean multiply_by_pod_count?",
            id="rule",
        ),
        pytest.param("--behaviour=kueue-0.19.x", "did you mean kueue-0.19.7?", id="behaviour"),
        pytest.param("--context=mine", "--context: the reference uses no cluster", id="context"),
    ],
)
def test_a_slip_in_an_option_of_pytest_leads_on(option: str, expected: str) -> None:
    """And no report is written of a run that could not mean anything."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "suites/kueue_dra_suites/conformance/quota",
        "-p",
        "no:cacheprovider",
        option,
    ]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)

    assert ended.returncode == pytest.ExitCode.USAGE_ERROR
    assert expected in ended.stderr
    assert len(ended.stderr) < 400


def test_an_output_that_cannot_be_written_is_named() -> None:
    """A full disk is reported without a traceback."""
    with Path("/dev/full").open("w") as full:
        for words in (("requirements",), ("--help",)):
            ended = subprocess.run([*PROGRAM, *words], cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True)

            assert (ended.returncode, ended.stderr) == (2, "kueue-dra: the output: no space left on device\n")


def test_who_stops_reading_ends_the_command_in_silence() -> None:
    """As with ``| head -1``."""
    process = begun("explain", "-f", "-", "-o", "json")
    assert process.stdout
    process.stdout.close()
    _, errors = process.communicate(EXAMPLE.read_text("utf-8") + "---\n" + LEFT_OUT.read_text("utf-8"))

    assert (process.returncode, errors) == (141, "")


def test_an_interrupt_is_no_verdict() -> None:
    """1 would mean that a case failed.

    If it comes while a dataclass is imported, as on a busy machine, Python ends by the signal; a shell shows 130 too.
    """
    process = begun("simulate", "-f", "-")
    assert process.stdin
    process.stdin.write(NAMESPACE)
    process.stdin.flush()
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(3)  # it reads on until the input ends
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()

    assert (process.returncode in (130, -signal.SIGINT), errors) == (True, "kueue-dra: interrupted\n")


def test_a_fault_of_our_own_is_told_in_a_line() -> None:
    """The exit code is not that of a verdict, and the environment variable adds the traceback for a report."""
    words = "import kueue_dra_cli as c; c.SHARED['run'] = ('run', 'missing'); c.main(['run'])"
    plain, full = (
        subprocess.run(
            [sys.executable, "-c", words], cwd=ROOT, env={**os.environ, **more}, capture_output=True, text=True
        )
        for more in ({}, {TRACEBACK: "1"})
    )

    assert plain.returncode == 3
    assert plain.stderr.startswith("kueue-dra: internal error (please report): AttributeError at __init__.py:")
    assert "Traceback" not in plain.stderr
    assert "Traceback" in full.stderr


def test_no_nodes_are_no_cluster() -> None:
    """The error comes before anything is created."""
    command = [sys.executable, "-m", "pytest", "suites/kueue_dra_suites/e2e", "--nodes", "0"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)

    assert ended.returncode == pytest.ExitCode.USAGE_ERROR
    assert "--nodes: invalid choice: 0 (choose from 1, " in ended.stderr


SUBDOMAIN = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must "


@pytest.mark.parametrize(
    ("api_version", "kind", "meta", "expected"),
    [
        pytest.param(
            "v1", "Namespace", "name: a.b", 'metadata.name: Invalid value: "a.b": must not contain dots', id="ns"
        ),
        *(
            pytest.param(version, kind, "name: A_b", f'metadata.name: Invalid value: "A_b": {SUBDOMAIN}', id=kind)
            for version, kind in (
                ("batch/v1", "Job"),
                ("scheduling.k8s.io/v1", "PriorityClass"),
                ("kueue.x-k8s.io/v1beta2", "ResourceFlavor"),
                ("kueue.x-k8s.io/v1beta2", "ClusterQueue"),
                ("kueue.x-k8s.io/v1beta2", "LocalQueue"),
                ("kueue.x-k8s.io/v1beta2", "Cohort"),
            )
        ),
        pytest.param(
            "batch/v1",
            "Job",
            "name: j, labels: {a/b/c: x}",
            'metadata.labels: Invalid value: "a/b/c": a valid label key must consist of alphanumeric characters, ',
            id="label",
        ),
        pytest.param(
            "kueue.x-k8s.io/v1beta2",
            "ResourceFlavor",
            "name: f, annotations: {a b: x}",
            'metadata.annotations: Invalid value: "a b": name part must consist of alphanumeric characters, ',
            id="annotation",
        ),
    ],
)
def test_metadata_is_refused_as_an_api_server_does(api_version: str, kind: str, meta: str, expected: str) -> None:
    """Of every kind, in the words that a kube-apiserver 1.36 was recorded with."""
    spec = "{clusterQueue: q}" if kind == "LocalQueue" else "{}"
    if kind == "Job":
        spec = "{template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}"
    text = f"apiVersion: {api_version}\nkind: {kind}\nmetadata: {{{meta}}}\n"
    text += "value: 1\n" if kind == "PriorityClass" else "" if kind == "Namespace" else f"spec: {spec}\n"

    result = kueue_dra("simulate", "-f", "-", stdin=text)

    assert result.exit_code == 2
    assert f": {expected}" in result.stderr.splitlines()[0]
