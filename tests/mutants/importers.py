"""Which modules of the reference import another: what their cases do shows what a table of it holds."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import PurePath

import grimp

from kueue_dra_differential.mutants.places import REFERENCE


@cache
def _graph() -> grimp.ImportGraph:
    return grimp.build_graph(REFERENCE, cache_dir=None)


@cache
def importers(file: str) -> Sequence[str]:
    """Give the modules that import a module, as paths below the checkout; a package is none."""
    module = ".".join(PurePath(file.removesuffix("/__init__.py")).with_suffix("").parts)
    found = sorted(_graph().find_modules_that_directly_import(module))
    return [f"{each.replace('.', '/')}.py" for each in found]
