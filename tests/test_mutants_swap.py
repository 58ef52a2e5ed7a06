"""`make mutants` puts changed functions into a process that has imported the module unchanged."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from tests.mutants.swap import Cache, changes_import, compiled, live_functions, swap

SOURCE = """
LIMIT = 3
def table():
    return [each for each in range(LIMIT)]
class Quota:
    borrowed: int = 0
    def is_within(self, used):
        def asked():
            return used <= LIMIT
        return asked()
    @property
    def label(self):
        return "quota"
HELD = {"table": table, "lambda": lambda used: used < LIMIT}
"""


@pytest.fixture
def module(tmp_path: Path) -> ModuleType:
    """Give a module that was imported unchanged."""
    made = ModuleType("mutated")
    made.__file__ = str(tmp_path / "mutated.py")
    exec(compiled(Path(made.__file__), SOURCE), made.__dict__)
    return made


def _swapped(module: ModuleType, before: str, after: str) -> int:
    file = Path(str(module.__file__))
    live = live_functions(file.parent)[str(file)]
    return swap(live, compiled(file, SOURCE), compiled(file, SOURCE.replace(before, after, 1)))


def test_a_method_gets_other_code(module: ModuleType) -> None:
    """What is nested in a method changes with it, for objects that exist already."""
    quota = module.Quota()
    assert quota.is_within(3)

    assert _swapped(module, "used <= LIMIT", "used < LIMIT") == 1

    assert not quota.is_within(3)


def test_what_a_table_holds_gets_other_code(module: ModuleType) -> None:
    """A function keeps its identity, so a table that holds it gives the changed one."""
    assert _swapped(module, "used < LIMIT", "used > LIMIT") == 1

    assert module.HELD["lambda"](4)


def test_unchanged_code_stays(module: ModuleType) -> None:
    """Without a change nothing is swapped."""
    assert _swapped(module, "LIMIT = 3", "LIMIT = 3") == 0


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param("used <= LIMIT", "used < LIMIT", False, id="nested-function"),
        pytest.param("range(LIMIT)", "range(1)", False, id="function"),
        pytest.param("used < LIMIT", "used > LIMIT", False, id="lambda"),
        pytest.param("LIMIT = 3", "LIMIT = 4", True, id="constant"),
        pytest.param("borrowed: int = 0", "borrowed: int = 1", True, id="default-of-a-class"),
        pytest.param("(self, used)", "(self, used=3)", True, id="default-of-an-argument"),
        pytest.param("@property", "@staticmethod", True, id="decorator"),
    ],
)
def test_what_the_import_runs(tmp_path: Path, before: str, after: str, *, expected: bool) -> None:
    """Only a change outside of functions needs another import."""
    file = tmp_path / "mutated.py"
    changed = SOURCE.replace(before, after, 1)

    assert changes_import(compiled(file, SOURCE), compiled(file, changed)) is expected


@pytest.mark.parametrize(
    ("module", "changed", "expected"),
    [
        pytest.param("kueue_dra_ref.dra.selectors", "kueue_dra_ref/model/slots.py", True, id="any"),
        pytest.param("kueue_dra_ref.cel.engine", "kueue_dra_ref/model/slots.py", False, id="lasts"),
        pytest.param("kueue_dra_ref.cel.engine", "kueue_dra_ref/cel/library.py", True, id="of-its-folder"),
        pytest.param("kueue_dra_ref.features", "kueue_dra_ref/cel/library.py", False, id="of-another-folder"),
    ],
)
def test_a_cache_is_emptied_if_a_change_may_show_in_it(module: str, changed: str, *, expected: bool) -> None:
    """The engine of selectors takes long to build, so only mutants of its folder build it again."""
    assert Cache(module=module, clear=lambda: None).depends_on(changed) is expected
