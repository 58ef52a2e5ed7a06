"""Objects at the bounds of what an API server takes (`golden/object_questions.yaml`), written out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from kueue_dra_ref.target import Manifest
from tests.apiserver import row

FILE = Path(__file__).parent / "golden" / "object_questions.yaml"
_POD = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}


def questions() -> Iterator[tuple[Manifest, Manifest | None]]:
    """Give each object, and the one that it replaces."""
    for entry in yaml.safe_load(FILE.read_text("utf-8")):
        if "object" in entry:
            yield entry["object"], None
        elif "pod" in entry:
            yield _job(entry["pod"]), None
        else:
            found = row({"case": "", **entry})
            yield found.manifest, found.before


def _job(pod: dict[str, Any]) -> Manifest:
    """Give a Job without a queue, whose pods have one container unless they say otherwise."""
    metadata = {"name": "probe", "namespace": "team"}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {"template": {"spec": _POD | pod}}}
