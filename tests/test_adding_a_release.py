"""The checklist "Adding a release of Kueue" of CONTRIBUTING.md, walked with a made-up release in a copy of the tree."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("kueue_dra_ref", "suites", "fixtures", "clusters", "reports", "controls", "differential", "cli")
STEPS = (
    "Register it",
    "State its feature gates",
    "State what it decides",
    "Extend the catalogue",
    "Pin it",
    "Refresh the counterparts",
    "Run it on the reference",
    "Run it on the real Kueue",
    "Write the pages",
    "Check",
)
ENTRY = """\
    RegisteredRelease(
        name="kueue-0.99.0",
        title="Kueue 0.99.0 (provisional)",
        behaviour=kueue_0_99,
        serves=("v1beta2",),
        reads="v1",
        provisional="it is made up",
    ),
)
\"\"\"The texts, then the releases of Kueue, oldest first.\"\"\"
"""
GATES = """

@cache
def kueue_0_99_gates() -> Gates:
    \"\"\"Give the gates of Kueue 0.99: one more than 0.20.\"\"\"
    earlier = kueue_0_20_gates()
    new = Gate(name="MadeUpGate", default=True, stage=Stage.BETA)
    return replace(earlier, table={**earlier.table, new.name: new})
"""
BEHAVIOUR = '''\
"""Kueue 0.99, made up: what it changes in Kueue 0.20.

A mapping may be called pods.
"""

from __future__ import annotations

from dataclasses import replace

from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.kueue_0_20 import kueue_0_20
from kueue_dra_ref.features.kube_features import kueue_0_99_gates
from kueue_dra_ref.rules.config import mapping_names_0_19_3
from kueue_dra_ref.rules.config.device_class_mappings import MappingRules


def kueue_0_99() -> Behaviour:
    """Kueue 0.99 as a value."""
    earlier = kueue_0_20()
    return replace(
        earlier,
        name="kueue-0.99.0",
        title="Kueue 0.99.0 (provisional)",
        kueue="0.99",
        gates=kueue_0_99_gates(),
        mapping=_mapping(earlier.mapping),
    )


def _mapping(earlier: MappingRules) -> MappingRules:
    return replace(
        earlier,
        # The implicit resource has another name.
        name=earlier.name.drop(mapping_names_0_19_3.name_is_not_pods),
    )
'''


class Tree:
    """A copy of the packages that a test may change."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for room in ROOMS:
            shutil.copytree(ROOT / room, folder / room, ignore=shutil.ignore_patterns("__pycache__"))
        for file in ("pyproject.toml", "conftest.py"):
            shutil.copy(ROOT / file, folder)

    def change(self, file: str, old: str, new: str) -> None:
        """Replace a text that is in a file once."""
        text = (self.folder / file).read_text("utf-8")
        assert text.count(old) == 1, f"{file}: {old!r} is there {text.count(old)} times"
        (self.folder / file).write_text(text.replace(old, new), "utf-8")

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a module of the copy."""
        path = os.pathsep.join(str(self.folder / room) for room in (".", *ROOMS[1:]))
        environment = {**os.environ, "PYTHONPATH": path}
        return subprocess.run(
            [sys.executable, "-m", *words],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def cases(self, expression: str) -> str:
        """Run cases on the reference as the made-up release, and give pytest's last line."""
        suite = "suites/kueue_dra_suites/conformance/mapping"
        words = ("-q", "-p", "no:hypothesispytest", suite, "-k", expression, "--behaviour", "kueue-0.99")
        return self.run("pytest", *words).stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def registered(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """Do steps 1 to 3: the registry, the gates, the behaviour."""
    tree = Tree(tmp_path_factory.mktemp("tree"))
    registry = "kueue_dra_ref/behaviours/releases.py"
    tree.change(registry, ')\n"""The texts, then the releases of Kueue, oldest first."""\n', ENTRY)
    last = "from kueue_dra_ref.behaviours.kueue_0_20 import kueue_0_20\n"
    tree.change(registry, last, last + last.replace("0_20", "0_99"))
    with (tree.folder / "kueue_dra_ref/features/kube_features.py").open("a", encoding="utf-8") as gates:
        gates.write(GATES)
    (tree.folder / "kueue_dra_ref/behaviours/kueue_0_99.py").write_text(BEHAVIOUR, "utf-8")
    return tree


def test_the_checklist_has_these_steps() -> None:
    """A step that is added to the checklist has to be followed here."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    section = text.partition("## Adding a release of Kueue\n")[2].partition("\n## ")[0]

    assert tuple(re.findall(r"^\d+\. \*\*(.+?)\.?\*\*", section, re.MULTILINE)) == STEPS


def test_the_command_line_knows_the_release(registered: Tree) -> None:
    """It is listed, marked, and described by what it changes."""
    listed = registered.run("kueue_dra_cli", "behaviour")
    described = registered.run("kueue_dra_cli", "behaviour", "kueue-0.99", "--phase", "configuration")
    whole = registered.run("kueue_dra_cli", "behaviour", "kueue-0.99")

    assert re.search(r"kueue-0\.99\.0 +Kueue 0\.99\.0 \(provisional\)", listed.stdout)
    assert "name_is_not_pods" not in described.stdout
    assert "name_is_a_label_key" in described.stdout
    assert "A mapping may be called pods." in whole.stdout


def test_a_gate_of_the_release_can_be_set(registered: Tree) -> None:
    """The release before it does not know the gate."""
    new, old = (
        registered.run("kueue_dra_cli", "behaviour", name, "--gate", "MadeUpGate=false", "--phase", "feature-gates")
        for name in ("kueue-0.99", "kueue-0.20")
    )

    assert (new.returncode, old.returncode) == (0, 2)


def test_its_page_is_generated(registered: Tree) -> None:
    """Before that, the check names the missing page."""
    pages = ("kueue_dra_reports.behaviour_pages", "docs/behaviours")
    shutil.copytree(ROOT / "docs/behaviours", registered.folder / "docs/behaviours")
    checked = registered.run(pages[0], "--check", pages[1])
    assert "kueue-0.99.0.md is stale" in checked.stdout

    assert registered.run(*pages).returncode == 0
    assert (registered.folder / "docs/behaviours/kueue-0.99.0.md").is_file()
    assert registered.run(pages[0], "--check", pages[1]).returncode == 0


def test_a_range_without_an_end_has_to_be_closed(registered: Tree) -> None:
    """The suite finds the requirement that no longer holds; once its range is closed, the case does not apply."""
    assert registered.cases("pods").startswith("1 failed")

    catalogue = "kueue_dra_ref/requirements/device-class-mapping.toml"
    registered.change(catalogue, '"kueue-0.19.3.."', '"kueue-0.19.3..0.20"')

    assert " failed" not in registered.cases("pods")
    assert re.search(r"\d passed", registered.cases("test_mapping or pods or name"))


def test_a_pinned_release_becomes_the_default(registered: Tree) -> None:
    """Its program is found by its minor, and everything uses it unless another release is named."""
    binaries = registered.folder / "clusters/kueue_dra_clusters/binaries"
    shutil.copytree(binaries / "kueue-0.19", binaries / "kueue-0.99")
    pins = "clusters/kueue_dra_clusters/binaries/kueue-0.99/go.mod"
    registered.change(
        pins, "require sigs.k8s.io/kueue v0.19.2 // indirect", "require sigs.k8s.io/kueue v0.99.0 // indirect"
    )
    registered.change("kueue_dra_ref/behaviours/releases.py", 'provisional="it is made up",', "pinned=True,")
    (registered.folder / "probe.py").write_text(
        "from kueue_dra_clusters.releases import NEWEST, RELEASES\n"
        "from kueue_dra_cli.matrix import MINORS\n"
        "from kueue_dra_ref.behaviours import NAMES\n"
        "print(NEWEST, NAMES[0], MINORS[-1], RELEASES[NEWEST].component.version)\n",
        "utf-8",
    )

    assert registered.run("probe").stdout.split() == ["0.99", "kueue-0.99.0", "0.99", "v0.99.0"]
