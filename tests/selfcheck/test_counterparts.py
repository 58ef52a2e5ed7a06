"""Each deciding module and each rule names its counterpart, and each symbol of Kueue is in the pinned release."""

from __future__ import annotations

import os
import textwrap
from pathlib import Path

import pytest

from kueue_dra_ref.behaviours import NAMES, behaviour
from kueue_dra_ref.behaviours.behaviour import rules_of
from tests.kueue_symbols.__main__ import cited_files, rendered
from tests.kueue_symbols.counterparts import (
    LISTS,
    Documented,
    Malformed,
    Place,
    documented,
    list_of,
    pinned,
    places,
    stored_symbols,
)

DECIDING = (
    "apiserver",
    "cache",
    "cel",
    "controllers",
    "controlplane",
    "dra",
    "explain",
    "features",
    "reference",
    "rules",
    "scheduler",
    "workload",
)
"""Packages of the reference in which each module decides something, or says why it has no counterpart."""
VERSIONS = sorted(pinned().values())
EVERYTHING = tuple(documented())


def test_each_deciding_module_and_each_rule_names_one_counterpart() -> None:
    """Several places are one paragraph, so that readers find them together."""
    without = [f"{each.place}: {len(each.counterparts)} counterparts" for each in EVERYTHING if _lacks_one(each)]

    assert not without, "\n".join(without)


@pytest.mark.parametrize("name", NAMES)
def test_each_rule_in_force_gives_its_counterpart(name: str) -> None:
    """`kueue-dra behaviour` prints the last paragraph of its docstring."""
    wrong = [f"{each.name}: {each.counterpart!r}" for each in rules_of(behaviour(name)) if _problems(each.counterpart)]

    assert not wrong, "\n".join(wrong)


def test_there_are_rules_and_modules_to_check() -> None:
    """The check above would pass on an empty tree."""
    assert sum(each.is_rule for each in EVERYTHING) > 400
    assert sum(_decides(each) for each in EVERYTHING) > 100


def test_each_counterpart_is_in_the_pinned_release() -> None:
    """A symbol that Kueue renames fails here when its pin changes; `make symbols` refreshes the lists first."""
    wrong = [
        f"{each.place}: {problem}"
        for each in EVERYTHING
        for counterpart in each.counterparts
        for problem in _problems(counterpart)
    ]

    assert not wrong, "\n".join(wrong)


def test_there_is_a_list_for_each_pinned_release_and_no_other() -> None:
    """A pin that moves needs `make symbols`."""
    assert {path.name for path in LISTS.glob("kueue-*.txt")} == {list_of(version).name for version in VERSIONS}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_list_holds_the_cited_files_and_no_others(version: str) -> None:
    """A file that is cited for the first time needs `make symbols`."""
    assert set(stored_symbols(version)) == cited_files()[version]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_list_is_what_the_pinned_source_declares(version: str) -> None:
    """Checked where Go's module cache has the source."""
    module = _module_cache() / "sigs.k8s.io" / f"kueue@v{version}"
    if not module.is_dir():
        pytest.skip(f"Go's module cache has no {module.name}; `make symbols` downloads it")

    assert list_of(version).read_text("utf-8") == rendered(module, cited_files()[version])


@pytest.mark.parametrize(
    ("counterpart", "expected"),
    [
        pytest.param("No counterpart: explanation only.", [], id="none"),
        pytest.param("Kueue: pkg/a.go (b, c)", [Place("0.19.2", "pkg/a.go", ("b", "c"))], id="newest"),
        pytest.param(
            "Kueue 0.17: pkg/a.go (b); pkg/c.go (d); Kubernetes: pkg/e.go (f)",
            [
                Place("0.17.1", "pkg/a.go", ("b",)),
                Place("0.17.1", "pkg/c.go", ("d",)),
                Place("", "pkg/e.go", ("f",)),
            ],
            id="several",
        ),
    ],
)
def test_a_counterpart_names_places(counterpart: str, expected: list[Place]) -> None:
    """A file without a project has the one before it."""
    assert places(counterpart) == expected


@pytest.mark.parametrize(
    "counterpart",
    [
        pytest.param("No counterpart: ", id="no-reason"),
        pytest.param("Kueue: pkg/a.go", id="no-symbol"),
        pytest.param("Kueue: pkg/a.go (b c)", id="no-comma"),
        pytest.param("Kueue 0.13: pkg/a.go (b)", id="not-pinned"),
        pytest.param("pkg/a.go (b)", id="no-project"),
    ],
)
def test_a_malformed_counterpart_is_refused(counterpart: str) -> None:
    """So that no symbol escapes the check by its form."""
    with pytest.raises(Malformed):
        places(counterpart)


def test_a_symbol_that_kueue_does_not_declare_is_named() -> None:
    """And so is a file that Kueue does not have."""
    known = "Kueue: pkg/scheduler/scheduler.go (schedule)"

    assert _problems(known) == []
    assert _problems(known.replace("schedule)", "planned)")) == ["Kueue 0.19.2 pkg/scheduler/scheduler.go: no planned"]
    assert _problems("Kueue: pkg/planner.go (plan)") == ["Kueue 0.19.2 pkg/planner.go: no such file in the list"]


def test_rules_and_modules_without_a_counterpart_are_found(tmp_path: Path) -> None:
    """In a tree with one of each."""
    module = tmp_path / "kueue_dra_ref" / "rules" / "dra.py"
    module.parent.mkdir(parents=True)
    source = '''
        """Rules about devices."""

        @rule("DEV-001")
        def charged():
            """Charge a device.

            Kueue: pkg/dra/capacity.go (chargeForDevice)
            """

        @rule("DEV-002")
        def not_charged():
            """Charge nothing."""
        '''
    module.write_text(textwrap.dedent(source), "utf-8")

    assert [each.name for each in documented(tmp_path) if _lacks_one(each)] == ["", "not_charged"]


def _lacks_one(each: Documented) -> bool:
    return (each.is_rule or _decides(each)) and len(each.counterparts) != 1


def _decides(each: Documented) -> bool:
    """Whether it is a module of a deciding package; a package itself needs no counterpart."""
    _, package, *inside = each.path.split("/")
    return not each.name and package in DECIDING and bool(inside) and inside[-1] != "__init__.py"


def _problems(counterpart: str) -> list[str]:
    try:
        named = [place for place in places(counterpart) if place.version]
    except Malformed as problem:
        return [str(problem)]
    found = []
    for place in named:
        declared = stored_symbols(place.version).get(place.file)
        where = f"Kueue {place.version} {place.file}"
        if declared is None:
            found.append(f"{where}: no such file in the list")
        else:
            found += [f"{where}: no {symbol}" for symbol in place.symbols if symbol not in declared]
    return found


def _module_cache() -> Path:
    home = os.environ.get("GOPATH", "").split(os.pathsep)[0] or str(Path.home() / "go")
    return Path(os.environ.get("GOMODCACHE") or Path(home) / "pkg" / "mod")
