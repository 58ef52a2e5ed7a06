"""The conformance suites, unchanged, on a cluster with nodes; of the mapping rows, which restart Kueue, a few."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest

from kueue_dra_clusters.installation import SETTINGS
from kueue_dra_clusters.kind.rollout import Rollout
from kueue_dra_clusters.permissions import cluster_role
from kueue_dra_clusters.preflight import RUN_LABEL
from kueue_dra_fixtures.lab import ROLE, Lab
from kueue_dra_fixtures.on_nodes import OF_CASES, NodeLab
from kueue_dra_fixtures.service_accounts import CONTEXT, kubeconfig_with
from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.target import FieldError, Manifest, Ref, Target
from kueue_dra_suites.conformance.mapping import test_uniqueness
from kueue_dra_suites.wiring import HOME, pytest_options

pytestmark = pytest.mark.profile("whole-device")

SELECTED = (
    "test_devices_are_admitted_up_to",
    "test_a_resource_that_the_queue_does_not_cover",
    "test_every_claim_and_the_cpu_are_charged",
    "test_an_unmapped_class_is_refused_by_name",
    "test_a_local_queue_whose_cluster_queue_can_admit_is_ready",
)
"""The selected cases, as for ``-k``; all cases run without nodes (``make live``)."""
MAPPING: tuple[Callable[[Lab], None], ...] = (
    test_uniqueness.test_the_refusal_of_a_shared_class_names_its_resource,
    test_uniqueness.test_mappings_of_one_name_may_not_be_told_of_their_classes,
    test_uniqueness.test_mappings_that_share_nothing_are_accepted_together,
)


OTHERS = (
    ("apps/v1", "DaemonSet"),
    ("apps/v1", "Deployment"),
    ("rbac.authorization.k8s.io/v1", "ClusterRole"),
    ("resource.k8s.io/v1", "DeviceClass"),
    ("resource.k8s.io/v1", "ResourceSlice"),
    ("v1", "ConfigMap"),
)
"""The kinds of what belongs to the driver and to Kueue."""


@pytest.fixture
def with_the_role_only(site: NodeLab, tmp_path: Path) -> Path:
    """Give a kubeconfig of a service account that has only the role that is published for a run."""
    role = cluster_role(config_map=SETTINGS.name, kueue_role=ROLE.name)
    file = tmp_path / "kubeconfig"
    kubeconfig_with(site, "kueue-dra-ci", [role], file)
    return file


def what_others_have(site: NodeLab) -> dict[str, str]:
    """Give what the cluster had before, without what its controllers write, and without other cases' own objects."""
    found = {}
    for version, kind in OTHERS:
        for each in site.objects.list(version, kind):
            meta = each["metadata"]
            if meta.get("namespace", "").startswith(OF_CASES):
                continue
            kept = {key: value for key, value in each.items() if key not in ("metadata", "status")}
            kept |= {"uid": meta["uid"], "generation": meta.get("generation"), "labels": meta.get("labels")}
            found[str(Ref.of(each))] = json.dumps(kept, sort_keys=True)
    return found


def test_the_suites_pass_here(site: NodeLab, with_the_role_only: Path, tmp_path: Path) -> None:
    """They run as on any cluster of the user's own: with the published role, and nothing of the driver is touched."""
    before = what_others_have(site)
    folders = [str(HOME / name) for name in ("quota", "claims", "status")]
    chosen = ["-q", *folders, "-k", " or ".join(SELECTED), f"--report-dir={tmp_path}"]
    target = ["--target=kueue", f"--context={CONTEXT}"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *pytest_options(), *target, *chosen],
        env={**os.environ, "KUBECONFIG": str(with_the_role_only)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-1000:]
    report = json.loads((tmp_path / "report.json").read_text("utf-8"))
    assert {check["outcome"] for check in report["checks"]} == {"passed"}
    assert report["specification"]["behaviour"] == site.cluster.release.name
    assert what_others_have(site) == before
    for version, kind in (*OTHERS, ("v1", "Namespace")):
        assert site.objects.list(version, kind, labels=RUN_LABEL) == []


@dataclass(frozen=True, slots=True, kw_only=True)
class KueueHere:
    """The cluster's own Kueue as far as a mapping row asks it."""

    rollout: Rollout

    def check(self, configuration: Manifest) -> Sequence[FieldError]:
        """Have it start with a Configuration."""
        return self.rollout.verdict(configuration)


@pytest.fixture
def lab(site: NodeLab) -> Iterator[Lab]:
    """Give a lab for mapping cases, and restart Kueue with its own Configuration at the end."""
    target = cast(Target, KueueHere(rollout=site.rollout))
    yield Lab(target=target, behaviour=behaviour(site.cluster.release.name), suffix=site.namespace)
    site.rollout.restart_kueue()


@pytest.mark.alone("Kueue is restarted with a Configuration that it refuses")
def test_mapping_rows_hold_here(lab: Lab) -> None:
    """Kueue in its Deployment takes and refuses Configurations as the rows say."""
    for row in MAPPING:
        row(lab)
