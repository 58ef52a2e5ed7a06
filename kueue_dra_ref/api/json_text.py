"""JSON read as strictly as YAML is: each key once, and no number that JSON does not have."""

from __future__ import annotations

import json
from typing import Any


class NoJson(Exception):
    """A text that is no JSON; the message names what was found."""


def json_value(text: str) -> Any:
    """Read one value.

    Raises:
        NoJson: the text is no JSON, repeats a key, or has a number or a depth that no client means.

    """
    try:
        return json.loads(
            text,
            object_pairs_hook=_each_key_once,
            parse_constant=_no_number,
        )
    except json.JSONDecodeError as trouble:
        raise NoJson(f"{trouble.msg} at column {trouble.colno}") from None
    except RecursionError:
        raise NoJson("far too many levels inside each other") from None
    except ValueError:
        raise NoJson("a number with thousands of digits") from None


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise NoJson(f'key "{key}" twice')
        found[key] = value
    return found


def _no_number(text: str) -> Any:
    raise NoJson(text)
