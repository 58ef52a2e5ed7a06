"""`find` and `findAll` for the patterns that mean the same in Python's `re` and in RE2.

Kubernetes: k8s.io/apiserver/pkg/cel/library/regex.go (Regex)
"""

from __future__ import annotations

import re

from kueue_dra_ref.cel.model import Undecidable

_SHARED = re.compile(
    r"""(?: [\w ,:;=@/#%&!<>~"'_.|^$*+?-]          # literal characters, and the plain operators
          | \\[.dw+*?()|{}/\[\]\\^$-]            # escapes; \s and \b differ
          | \[\^?(?:[\w .,:;=@/+*-]|\\[.dw-])+\]   # classes without nested brackets
          | \((?!\?) | \(\?: | \) | \{\d{1,3}(?:,\d{0,3})?\}
        )*""",
    re.VERBOSE | re.ASCII,
)
_STACKED = re.compile(r"[*+?}][*+{]")  # possessive in Python, an error in RE2
_PRINTABLE = re.compile(r"[ -~]*")


def find(text: str, pattern: str) -> str:
    """Give the first match, or nothing."""
    match = _compiled(text, pattern).search(text)
    if match is None:
        return ""
    return match.group()


def find_some(text: str, pattern: str, limit: int) -> list[str]:
    """Give the matches in order, at most `limit` unless that is negative."""
    found = find_all(text, pattern)
    return found if limit < 0 else found[:limit]


def find_all(text: str, pattern: str) -> list[str]:
    """Give the matches in order."""
    found: list[str] = []
    end: int | None = None
    for match in _compiled(text, pattern).finditer(text):
        # Go drops an empty match that touches the one before.
        if match.group() or match.start() != end:
            found.append(match.group())
        end = match.end()
    return found


def _compiled(text: str, pattern: str) -> re.Pattern[str]:
    shared = _SHARED.fullmatch(pattern) and not _STACKED.search(pattern)
    if not shared or not _PRINTABLE.fullmatch(text):
        raise Undecidable(f"find() of {pattern}")
    try:
        return re.compile(pattern, re.ASCII)
    except re.error as error:
        raise Undecidable(f"find() of {pattern}") from error
