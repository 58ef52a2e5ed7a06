"""The named formats of Kubernetes' CEL library, whose answers are optional lists that the engine cannot type.

What is asked of them is whether a text keeps to one, so `format.NAME().validate(TEXT).hasValue()` is read as one call.

Kubernetes: k8s.io/apiserver/pkg/cel/library/format.go (Format)
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date

from kueue_dra_ref.cel import urls
from kueue_dra_ref.cel.model import Undecidable
from kueue_dra_ref.cel.source import Source

_LABEL = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(?:\.{_LABEL})*"
_QUALIFIED = r"(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_HEX = "[0-9a-fA-F]"
_UUID = rf"{_HEX}{{8}}(?:-?{_HEX}{{4}}){{3}}-?{_HEX}{{12}}"


def breaks(name: str, text: str) -> bool:
    """Tell whether a text does not keep to a named format."""
    return not FORMATS[name](text)


def is_named(name: str) -> bool:
    """Tell whether there is a format of a name."""
    return name in FORMATS


def in_one_call(source: Source, text: str) -> str:
    """Rewrite what is asked of formats to calls of `breaks` and `is_named`, where the engine can type it so."""
    for index in reversed(range(len(source.tokens))):
        if source.text(index) != "format" or source.text(index - 1) == ".":
            continue
        text = _one_call(source, index, text)
    return text


def _one_call(source: Source, index: int, text: str) -> str:
    name, argument = source.text(index + 2), index + 7
    if name == "named":
        closed = source.pair.get(index + 3)
        return (
            _replaced(source, index, (index + 3, closed), text, "kueue_dra_is_format")
            if closed
            else text
        )
    validates = source.texts(index + 3, 5) == ["(", ")", ".", "validate", "("]
    closed = source.pair.get(argument)
    if name not in FORMATS or not validates or not closed:
        return text
    return _replaced(
        source,
        index,
        (argument, closed),
        text,
        "kueue_dra_breaks_format",
        f'"{name}", ',
    )


def _replaced(
    source: Source,
    index: int,
    call: tuple[int, int],
    text: str,
    ours: str,
    first: str = "",
) -> str:
    """Put a call of ours in place of a call and of the `.hasValue()` that must follow it."""
    opened, closed = call
    if source.texts(closed + 1, 4) != [".", "hasValue", "(", ")"]:
        return text
    start, inner = source.tokens[index].start, source.tokens[opened].start + 1
    stop, end = source.tokens[closed].start, source.tokens[closed + 4].start + 1
    return f"{text[:start]}{ours}({first}{text[inner:stop]}){text[end:]}"


def _matching(pattern: str, longest: int) -> Callable[[str], bool]:
    compiled = re.compile(pattern)
    return lambda text: (
        len(text.encode()) <= longest and compiled.fullmatch(text) is not None
    )


def _prefix(rule: Callable[[str], bool]) -> Callable[[str], bool]:
    """Make the rule of what may be followed by more: a dash at the end is taken for a letter."""
    return lambda text: rule(
        f"{text[:-2]}a" if len(text) > 1 and text.endswith("-") else text
    )


def _is_qualified(text: str) -> bool:
    before, slash, name = text.rpartition("/")
    if slash and not _IS_SUBDOMAIN(before):
        return False
    return _matching(_QUALIFIED, 63)(name)


def _is_date(text: str) -> bool:
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        return False
    if text.startswith("0000"):
        raise Undecidable("a date of the year 0")
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _unknown(name: str) -> Callable[[str], bool]:
    def refuse(_: str) -> bool:
        raise Undecidable(f"the format {name}")

    return refuse


_IS_LABEL = _matching(_LABEL, 63)
_IS_SUBDOMAIN = _matching(_SUBDOMAIN, 253)
_IS_OLD_LABEL = _matching("[a-z](?:[-a-z0-9]*[a-z0-9])?", 63)
FORMATS: dict[str, Callable[[str], bool]] = {
    "dns1123Label": _IS_LABEL,
    "dns1123Subdomain": _IS_SUBDOMAIN,
    "dns1035Label": _IS_OLD_LABEL,
    "dns1123LabelPrefix": _prefix(_IS_LABEL),
    "dns1123SubdomainPrefix": _prefix(_IS_SUBDOMAIN),
    "dns1035LabelPrefix": _prefix(_IS_OLD_LABEL),
    "qualifiedName": _is_qualified,
    "labelValue": _matching(f"(?:{_QUALIFIED})?", 63),
    "uri": urls.is_url,
    "uuid": lambda text: re.fullmatch(_UUID, text) is not None,
    "date": _is_date,
    "byte": _unknown("byte"),
    "datetime": _unknown("datetime"),
}
