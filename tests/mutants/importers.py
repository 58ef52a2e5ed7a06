"""Which modules of the reference import another: what their cases do shows what a table of it holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import PurePath

import grimp

from kueue_dra_differential.mutants.places import REFERENCE, ROOT


@cache
def _graph() -> grimp.ImportGraph:
    return grimp.build_graph(REFERENCE, cache_dir=None)


@cache
def importers(file: str) -> Sequence[str]:
    """Give the modules that import a module, as paths below the checkout; for a package, those that import it."""
    module = ".".join(PurePath(file.removesuffix("/__init__.py")).with_suffix("").parts)
    return [f"{each.replace('.', '/')}.py" for each in sorted(set(_importing(module)))]


def _importing(module: str) -> Iterator[str]:
    for each in _graph().find_modules_that_directly_import(module):
        if ROOT.joinpath(*each.split(".")).is_dir():
            yield from _importing(each)
        else:
            yield each
