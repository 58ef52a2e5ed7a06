"""The API server of a run, its feature gates, and the gates that a running cluster tells."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import yaml

from kueue_dra_clusters.api_client import Answer, APIClient
from kueue_dra_clusters.dump import dump
from kueue_dra_fixtures.kubernetes_option import missing
from kueue_dra_ref.apiserver import MINORS
from tests.clusters_live.manifests import a_job, a_world
from tests.commands import kueue_dra

ROW = "devices/test_newer_kubernetes::test_fractions_of_a_range_are_charged_in_whole_units"
METRICS = """\
# TYPE kubernetes_feature_enabled gauge
kubernetes_feature_enabled{name="DRAExtendedResource",stage="BETA"} 0
kubernetes_feature_enabled{name="DRAFractionalCapacityRange",stage="BETA"} 1
kubernetes_feature_enabled{name="WatchList",stage="BETA"} 1
"""
HEAD = {"apiVersion": "kueue-dra.dev/v1alpha1", "kind": "ClusterDump"}
LOCKED = "DRAExtendedResource: found false; Kubernetes 1.37 locks this gate to true"


def test_cases_run_on_the_api_server_of_a_minor(tmp_path: Path) -> None:
    """The rows about other minors run there in any case."""
    gates = "DRAFractionalCapacityRange=true"
    options = ("--kubernetes", "1.37", "--kubernetes-feature-gates", gates, "--report-dir", str(tmp_path))

    result = kueue_dra("run", f"{ROW}[by-default]", f"{ROW}[fractions-in-1.37]", *options)

    assert result.exit_code == 0, result.output
    assert "2 passed" in result.stdout


@pytest.mark.parametrize(
    ("options", "error"),
    [
        pytest.param(
            ("--kubernetes", "1.37", "--kubernetes-feature-gates", "DRAExtendedResource=false"), LOCKED, id="locked"
        ),
        pytest.param(
            ("--kubernetes-feature-gates", "DRAFractionalCapacityRange=true"),
            "Kubernetes 1.36 has no such gate for devices",
            id="unknown",
        ),
        pytest.param(
            ("--target", "kueue", "--kubernetes", "1.34"),
            "--kubernetes: found 1.34; expected 1.36 or 1.37 with --target kueue, or KUBEBUILDER_ASSETS without it",
            id="not-built",
        ),
        pytest.param(
            ("--target", "kueue", "--context", "mine", "--kubernetes-feature-gates", "DRAExtendedResource=true"),
            "a run never changes the API server of your cluster",
            id="attached",
        ),
    ],
)
def test_what_no_api_server_has_is_refused(options: tuple[str, ...], error: str) -> None:
    """In one line, before anything runs."""
    result = kueue_dra("run", "quota", *options)

    assert result.exit_code == 2
    assert error in result.stderr
    assert "Traceback" not in result.output


def test_a_locked_gate_is_refused_where_manifests_are_simulated(tmp_path: Path) -> None:
    """It can be named, in the state in which it is locked."""
    file = _written(tmp_path, *a_world())
    options = ("simulate", "-f", file, "--kubernetes", "1.37", "--kubernetes-feature-gates")

    assert kueue_dra(*options, "DRAExtendedResource=true").exit_code in (0, 1)
    assert LOCKED in kueue_dra(*options, "DRAExtendedResource=false").stderr


def test_the_metrics_of_an_api_server_tell_its_gates() -> None:
    """Only those for devices count; an API server that does not show them is taken to have the defaults."""
    assert _dumped(200, METRICS).gates == {"DRAExtendedResource": False, "DRAFractionalCapacityRange": True}
    assert _dumped(403, "forbidden").gates == {}


def test_the_gates_of_a_dump_count(tmp_path: Path) -> None:
    """The class has no extended resource there; the command line goes first."""
    spec = {"kubernetes": "v1.36.3", "notRead": [], "kubernetesFeatureGates": {"DRAExtendedResource": False}}
    named = {"extendedResourceName": "vendor.example.com/card"}
    device_class = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "x"}, "spec": named}
    file = _written(tmp_path, {**HEAD, "spec": spec}, *a_world(), device_class, a_job("one"))

    told = kueue_dra("simulate", "-f", file)
    asked = kueue_dra("simulate", "-f", file, "--kubernetes", "1.36")

    assert "because its gate DRAExtendedResource is off" in told.stderr
    assert "DRAExtendedResource" not in asked.stderr


@pytest.mark.parametrize(
    ("minor", "gates", "reason"),
    [
        pytest.param("1.36", (), None, id="no-gate"),
        pytest.param("1.36", ("DRAExtendedResource",), None, id="on-by-default"),
        pytest.param(
            "1.36",
            ("DRANodeAllocatableResources",),
            "it needs --kubernetes-feature-gates DRANodeAllocatableResources=true",
            id="off",
        ),
        pytest.param(
            "1.36",
            ("DRAListTypeAttributes=false",),
            "it needs --kubernetes-feature-gates DRAListTypeAttributes=false",
            id="on-in-all-control-planes",
        ),
        pytest.param(
            "1.37",
            (),
            "it needs the API server of Kubernetes 1.37; this one is of 1.36",
            id="minor",
        ),
    ],
)
def test_a_case_says_what_it_needs(minor: str, gates: tuple[str, ...], reason: str | None) -> None:
    """On a control plane of 1.36."""
    mark = SimpleNamespace(args=(minor, *gates))
    item = cast(Any, SimpleNamespace(get_closest_marker=lambda name: mark))

    assert missing(item, "1.36") == reason


def test_locked_gates_are_on_in_every_minor() -> None:
    """A gate is locked to its default."""
    for minor in MINORS.values():
        assert all(minor.gates[gate] for gate in minor.locked)


def _dumped(code: int, metrics: str) -> Any:
    def call(method: str, path: str) -> Answer:
        bodies: dict[str, dict[str, Any]] = {
            "/apis": {"groups": []},
            "/version": {"gitVersion": "v1.37.0"},
            "/metrics": {"message": metrics},
        }
        return Answer(code=code if path == "/metrics" else 200, body=bodies.get(path, {"resources": []}))

    client = SimpleNamespace(call=call, list=lambda *_, **__: [])
    return dump(cast(APIClient, client), lambda _: None)


def _written(folder: Path, *documents: Any) -> str:
    file = folder / "cluster.yaml"
    file.write_text(yaml.safe_dump_all(documents), "utf-8")
    return str(file)
