"""Puts the functions of a changed module into a process that has imported the module unchanged.

A function keeps its identity and gets other code, so tables of rules, imports and caches that hold it need no change.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import _lru_cache_wrapper
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from kueue_dra_ref.api.deepcopy import MemoizedCopy

AT_ONCE = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})
"""Code that runs where it is written, unlike that of a function."""
LASTING = {
    "kueue_dra_ref.cel.engine": "kueue_dra_ref/cel/",
    "kueue_dra_ref.features": "kueue_dra_ref/features/",
    "kueue_dra_ref.requirements": "kueue_dra_ref/requirements/",
}
"""Modules with caches of what takes long to read or to build, and the folder of modules that each depends on."""
Codes = dict[str, list[CodeType]]
Live = Mapping[str, Sequence[FunctionType]]


def compiled(file: Path, source: str) -> CodeType:
    """Compile a module."""
    code: CodeType = compile(source, str(file), "exec", dont_inherit=True)
    return code


def changes_import(old: CodeType, new: CodeType) -> bool:
    """Whether two versions of a module differ in what runs at the import: not in the body of a function."""
    return _at_import(old) != _at_import(new)


def _at_import(code: CodeType) -> tuple[Any, ...]:
    constants = []
    for each in code.co_consts:
        constant = _constant(each)
        constants.append(constant)
    return code.co_code, code.co_names, tuple(constants)


def _constant(each: object) -> object:
    if not isinstance(each, CodeType):
        return type(each), repr(each)
    if each.co_name in AT_ONCE or not each.co_flags & CO_OPTIMIZED:
        return _at_import(each)
    return each.co_qualname


def live_functions(package: Path) -> Mapping[str, Live]:
    """Find the functions of a package that this process holds: by file, then by qualified name."""
    found: dict[str, dict[str, list[FunctionType]]] = {}
    for each in gc.get_objects():
        if type(each) is FunctionType and each.__code__.co_filename.startswith(str(package)):
            names = found.setdefault(each.__code__.co_filename, {})
            names.setdefault(each.__code__.co_qualname, []).append(each)
    return found


def swap(live: Live, old: CodeType, new: CodeType) -> int:
    """Give functions the code of the changed module; gives how many have other code now.

    Raises:
        ValueError: a function would need other variables of the function around it.

    """
    before, after, count = _by_name(old), _by_name(new), 0
    for name, functions in live.items():
        pairs = dict(zip(before.get(name, []), after.get(name, []), strict=False))
        for function in functions:
            changed = pairs.get(function.__code__)
            if changed is not None and changed != function.__code__:
                function.__code__ = changed
                count += 1
    return count


def _by_name(code: CodeType) -> Codes:
    found: Codes = {}
    for each in _inside(code):
        found.setdefault(each.co_qualname, []).append(each)
    return found


def _inside(code: CodeType) -> Iterator[CodeType]:
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from _inside(each)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cache:
    """A cache of one module."""

    module: str
    clear: Callable[[], None]

    def depends_on(self, file: str) -> bool:
        """Whether a changed module may change what it holds."""
        folders = [folder for module, folder in LASTING.items() if self.module.startswith(module)]
        return file.startswith(tuple(folders)) if folders else True


def caches(package: str) -> list[Cache]:
    """Find each cache of a package."""
    found: list[Cache] = []
    for each in gc.get_objects():
        if isinstance(each, MemoizedCopy):
            found.append(Cache(module=each.__module__, clear=each._held.clear))
        elif isinstance(each, _lru_cache_wrapper) and each.__module__.startswith(package):
            found.append(Cache(module=each.__module__, clear=each.cache_clear))
    return found
