"""The definition of the Sonobuoy plugin: one pod that runs the suites and leaves their results for Sonobuoy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kueue_dra_ref.target import Manifest

NAME = "kueue-dra"
RESULTS = "/tmp/sonobuoy/results"
"""The folder that the plugin shares with Sonobuoy's own container."""


def plugin(
    image: str,
    command: Sequence[str],
    arguments: Sequence[str],
    requests: Mapping[str, str],
) -> Manifest:
    """Give the definition, for ``sonobuoy run --plugin FILE``."""
    return {
        "sonobuoy-config": {
            "driver": "Job",
            "plugin-name": NAME,
            "result-format": "junit",
        },
        "spec": {
            "name": "plugin",
            "image": image,
            "imagePullPolicy": "IfNotPresent",
            "command": list(command),
            "args": list(arguments),
            "resources": {"requests": dict(requests)},
            "volumeMounts": [{"name": "results", "mountPath": RESULTS}],
        },
    }
