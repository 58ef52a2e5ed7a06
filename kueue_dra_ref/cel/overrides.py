"""Functions of the engine whose results differ from Kubernetes', under names of ours.

No counterpart: replaces functions of the engine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kueue_dra_ref.cel import formats
from kueue_dra_ref.cel.model import Undecidable
from kueue_dra_ref.cel.value_types import equal

_LONGEST = 1000


def index_of(text: str, wanted: str, start: int = 0) -> int:
    """Find a text from a place on; -1 where the place is beyond the end."""
    if not wanted:
        return start
    if start < 0:
        raise ValueError(f"index out of range: {start}")
    return text.find(wanted, start)


def last_index_of(text: str, wanted: str, *start: int) -> int:
    """Find the last place of a text that begins at or before `start`."""
    if not start:
        return text.rfind(wanted)
    (last,) = start
    if not wanted:
        return last
    if last < 0:
        raise ValueError(f"index out of range: {last}")
    if last >= len(text):
        return -1
    return text.rfind(wanted, 0, last + len(wanted))


def place_of(values: list[Any], wanted: Any) -> int:
    """Find an element of a list; -1 for none."""
    for place, value in enumerate(values):
        if equal(value, wanted):
            return place
    return -1


def last_place_of(values: list[Any], wanted: Any) -> int:
    """Find an element of a list from its end; -1 for none."""
    for place in reversed(range(len(values))):
        if equal(values[place], wanted):
            return place
    return -1


def numbers_up_to(end: int) -> list[int]:
    """Give the numbers from 0 to below `end`."""
    if not 0 <= end <= _LONGEST:
        raise Undecidable(f"lists.range() of {end}")
    return list(range(end))


def substring(text: str, start: int, *end: int) -> str:
    """Cut a text; both places may be its end."""
    stop, *_ = *end, len(text)
    if start > stop and end:
        raise ValueError(f"invalid substring range. start: {start}, end: {stop}")
    for place in (start, stop):
        if not 0 <= place <= len(text):
            raise ValueError(f"index out of range: {place}")
    return text[start:stop]


_OF_TEXTS: dict[str, Callable[..., Any]] = {
    ".kueue_dra_index_of(string, string) -> int": index_of,
    ".kueue_dra_index_of(string, string, int) -> int": index_of,
    ".kueue_dra_last_index_of(string, string) -> int": last_index_of,
    ".kueue_dra_last_index_of(string, string, int) -> int": last_index_of,
    "kueue_dra_range(int) -> list<int>": numbers_up_to,
    ".kueue_dra_substring(string, int) -> string": substring,
    ".kueue_dra_substring(string, int, int) -> string": substring,
    "kueue_dra_text(ip) -> string": lambda value: value.decode(),
    "kueue_dra_text(cidr) -> string": lambda value: value.decode(),
    "kueue_dra_breaks_format(string, string) -> bool": formats.breaks,
    "kueue_dra_is_format(string) -> bool": formats.is_named,
}
_OF_LISTS: dict[str, Callable[..., Any]] = {
    f".kueue_dra_{name}(list<{element}>, {element}) -> int": answer
    for element in ("int", "uint", "double", "bool", "string", "bytes")
    for name, answer in (("index_of", place_of), ("last_index_of", last_place_of))
}
FUNCTIONS = _OF_TEXTS | _OF_LISTS
