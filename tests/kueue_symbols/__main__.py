"""Write the lists of symbols again from the pinned modules: ``python -m tests.kueue_symbols`` (`make symbols`).

It downloads the source of each pinned Kueue with ``go mod download``, unless Go's module cache has it.
"""

from __future__ import annotations

import json
import subprocess
from collections import defaultdict
from functools import cache
from pathlib import Path

from kueue_dra_clusters.releases import RELEASES
from tests.kueue_symbols.counterparts import LISTS, documented, list_of, pinned, places
from tests.kueue_symbols.go_declarations import symbols_of_module

MODULE = "sigs.k8s.io/kueue"


@cache
def cited_files() -> dict[str, set[str]]:
    """Give the files that counterparts name, by pinned version."""
    cited: dict[str, set[str]] = defaultdict(set)
    for each in documented():
        for counterpart in each.counterparts:
            for place in places(counterpart):
                cited[place.version].add(place.file)
    cited.pop("", None)
    return cited


def rendered(module: Path, files: set[str]) -> str:
    """Give the list of a module: a line for each file, with its symbols in order."""
    listed = symbols_of_module(module, frozenset(files))
    return "".join(f"{file}: {' '.join(symbols)}\n" for file, symbols in listed.items())


def downloaded(minor: str) -> Path:
    """Have Go download a pinned release, and give the directory of its source."""
    version = RELEASES[minor].component.version
    command = ["go", "mod", "download", "-json", f"{MODULE}@{version}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return Path(json.loads(done.stdout)["Dir"])


def main() -> None:
    """Write the list of each pinned release, and remove the lists of others."""
    cited = cited_files()
    versions = pinned()
    wanted = {list_of(version) for version in versions.values()}
    for stale in set(LISTS.glob("kueue-*.txt")) - wanted:
        stale.unlink()
    for minor, version in versions.items():
        text = rendered(downloaded(minor), cited[version]) if cited[version] else ""
        list_of(version).write_text(text, "utf-8")
        print(f"{list_of(version).name}: {text.count(chr(10))} files")


if __name__ == "__main__":
    main()
