"""Builds the program that compiles and evaluates device selectors with Kubernetes' own CEL package for DRA.

``CEL_ORACLE_BIN`` names one that is built already. ``python -m kueue_dra_clusters.cel_oracle`` builds it and prints
its path.
"""

from __future__ import annotations

import sys
from pathlib import Path

from kueue_dra_clusters.binaries import named
from kueue_dra_clusters.build_cache import program
from kueue_dra_clusters.errors import ClusterError
from kueue_dra_clusters.go_tool import Component

VARIABLE = "CEL_ORACLE_BIN"
CEL_ORACLE = Component(
    name="cel-oracle",
    folder="cel-oracle",
    module="k8s.io/dynamic-resource-allocation",
    package=".",
    sources=("main.go",),
)


def cel_oracle() -> Path:
    """Give the program; the first time this builds it, which takes a minute or two."""
    return named(VARIABLE) or program(CEL_ORACLE)


def main() -> int:
    """Build the program and print its path."""
    try:
        print(cel_oracle())
    except ClusterError as trouble:
        print(f"kueue-dra: {trouble}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
