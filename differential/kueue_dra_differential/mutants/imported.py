"""Imports one module of the reference from changed source, before anything else imports it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType


class _Changed(Loader):
    def __init__(self, file: Path, source: str) -> None:
        self.file, self.source = file, source

    def exec_module(self, module: ModuleType) -> None:
        """Run the changed source as the module."""
        code = compile(self.source, str(self.file), "exec")
        exec(code, module.__dict__)  # that is what an import does


class _Finder(MetaPathFinder):
    def __init__(self, name: str, file: Path, source: str) -> None:
        self.name, self.file, self.source = name, file, source

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """Give the changed module by its name."""
        if fullname != self.name:
            return None
        loader = _Changed(self.file, self.source)
        return spec_from_file_location(
            fullname,
            self.file,
            loader=loader,
        )


def put(root: Path, file: str, source: str) -> None:
    """Let the next import of a module give the changed source."""
    path = file.removesuffix(".py").removesuffix("/__init__")
    name = path.replace("/", ".")
    if name in sys.modules:
        raise RuntimeError(f"{name} is imported already")
    finder = _Finder(name, root / file, source)
    sys.meta_path.insert(0, finder)
