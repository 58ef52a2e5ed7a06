"""A dump with the published roles only: nothing secret is in it, and it tells why work waits."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from kueue_dra_clusters.dump_roles import dump_roles
from kueue_dra_clusters.kind.profiles import RESOURCE
from kueue_dra_fixtures.builders import a_job, a_template, gpu
from kueue_dra_fixtures.manifests import a_job_manifest
from kueue_dra_fixtures.node_work import NodeJob, NodeQueue
from kueue_dra_fixtures.on_nodes import NodeLab
from kueue_dra_fixtures.service_accounts import kubeconfig_with
from kueue_dra_fixtures.verdicts import Reason, pending
from kueue_dra_ref.target import Ref

pytestmark = pytest.mark.profile("whole-device")

PLANTED = "planted-6f1d"
"""What the case puts where a dump may not read or keep it."""


def _asked(*arguments: str, kubeconfig: Path) -> str:
    """Run ``kueue-dra`` as the user of a kubeconfig, and give what it prints."""
    run = subprocess.run(
        [Path(sys.executable).with_name("kueue-dra"), *arguments],
        env={**os.environ, "KUBECONFIG": str(kubeconfig)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-2000:] + run.stderr[-2000:]
    return run.stdout


def _plant(site: NodeLab) -> None:
    """Have a Secret and a ConfigMap of a user."""
    metadata = {"name": "planted", "namespace": site.namespace}
    plain = {"apiVersion": "v1", "metadata": metadata}
    site.apply({**plain, "kind": "Secret", "stringData": {"password": PLANTED}})
    site.apply({**plain, "kind": "ConfigMap", "data": {"note": PLANTED}})


def _submit_planted(site: NodeLab, queue: NodeQueue) -> NodeJob:
    """Submit a Job with a secret in its environment, its command and its annotations."""
    claim = a_template(gpu())
    work = a_job(claims=[claim])
    metadata = {"name": "planted", "namespace": site.namespace, "annotations": {"example.com/note": PLANTED}}
    site.apply(claim.manifest("planted", site.namespace))
    made = a_job_manifest(work, metadata, queue.name, {id(claim): "planted"})
    (container,) = made["spec"]["template"]["spec"]["containers"]
    container["image"] = site.cluster.images.job
    container["command"] = ["sh", "-c", f"PASSWORD={PLANTED} true"]
    container["env"] = [{"name": "PASSWORD", "value": PLANTED}]
    site.apply(made)
    return NodeJob(site=site, ref=Ref.of(made))


def test_a_dump_tells_why_work_waits_and_has_no_secret(site: NodeLab, tmp_path: Path) -> None:
    """A user with the roles of the examples reads everything; the message derived from the dump is Kueue's own."""
    _plant(site)
    kubeconfig, file = tmp_path / "kubeconfig", tmp_path / "cluster.yaml"
    token = kubeconfig_with(site, "kueue-dra-dump", dump_roles(), kubeconfig)
    queue = site.queue({RESOURCE: 1})
    queue.submit(a_job(claims=[a_template(gpu())])).runs()
    waits = _submit_planted(site, queue)
    waits.becomes(pending(Reason.NO_QUOTA))

    _asked("dump", "-o", str(file), kubeconfig=kubeconfig)
    release = f"--behaviour={site.cluster.release.name}"
    name = f"{site.namespace}/{waits.ref.name}"
    printed = _asked("explain", "-f", str(file), name, release, "-o", "json", kubeconfig=kubeconfig)

    text = file.read_text("utf-8")
    head, found = yaml.safe_load_all(text)
    assert head["spec"]["notRead"] == []
    assert waits.ref.name in text
    assert "Secret" not in {each["kind"] for each in found["items"]}
    assert PLANTED not in text
    assert token not in text
    (explained,) = json.loads(printed)
    assert (explained["verdict"], explained["clusterDiffers"]) == ("pending", None)
    assert explained["message"] == waits.message()
