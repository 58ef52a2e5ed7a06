"""The grammars of Kubernetes names, each with the error texts of apimachinery 0.36 (content validation)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

MAX_LABEL = 63
MAX_SUBDOMAIN = 253

LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
SUBDOMAIN = rf"{LABEL}(\.{LABEL})*"
_LABEL_1035 = "[a-z]([-a-z0-9]*[a-z0-9])?"
_KEY = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE = f"({_KEY})?"

_LABEL_WORDS = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
    "and must start and end with an alphanumeric character"
)
_SUBDOMAIN_WORDS = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character"
)
_LABEL_1035_WORDS = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', "
    "start with an alphabetic character, and end with an alphanumeric character"
)
_KEY_WORDS = (
    "must consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character"
)
_VALUE_WORDS = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character"
)
_EMPTY = "must be non-empty"


def size(text: str) -> int:
    """Count bytes, which is what Kubernetes' limits on characters count."""
    return len(text.encode("utf-8", "surrogatepass"))


def dns_label_faults(name: str) -> Sequence[str]:
    """Report why ``name`` is no DNS-1123 label; nothing when it is one."""
    faults = _too_long(name, MAX_LABEL)
    if re.fullmatch(LABEL, name):
        return faults
    if re.fullmatch(SUBDOMAIN, name):
        return [*faults, "must not contain dots"]
    return [*faults, _regex(_LABEL_WORDS, LABEL, "my-name", "123-abc")]


def dns_1035_label_faults(name: str) -> Sequence[str]:
    """Report why ``name`` is no DNS-1035 label, the grammar of Services; nothing when it is one."""
    faults = _too_long(name, MAX_LABEL)
    if re.fullmatch(_LABEL_1035, name):
        return faults
    return [*faults, _regex(_LABEL_1035_WORDS, _LABEL_1035, "my-name", "abc-123")]


def dns_subdomain_faults(name: str) -> Sequence[str]:
    """Report why ``name`` is no DNS-1123 subdomain; nothing when it is one."""
    faults = _too_long(name, MAX_SUBDOMAIN)
    if re.fullmatch(SUBDOMAIN, name):
        return faults
    return [*faults, _regex(_SUBDOMAIN_WORDS, SUBDOMAIN, "example.com")]


def label_key_faults(key: str) -> Sequence[str]:
    """Report why ``key`` is no label key (a qualified name); nothing when it is one."""
    match key.split("/"):
        case [name]:
            return _key_name_faults(name)
        case [prefix, name]:
            return [
                *(f"prefix part {fault}" for fault in _prefix_faults(prefix)),
                *_key_name_faults(name),
            ]
        case _:
            words = _regex(_KEY_WORDS, _KEY, "MyName", "my.name", "123-abc")
            return [
                f"a valid label key {words} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            ]


def qualified_name_faults(name: str) -> Sequence[str]:
    """Report why ``name`` is no label key, in the words of apimachinery 0.34, to which it was a qualified name."""
    found = (
        fault.replace("a valid label key", "a qualified name", 1)
        for fault in label_key_faults(name)
    )
    return [
        re.sub(
            "^((prefix|name) part must be no more than [0-9]+) bytes$",
            r"\1 characters",
            each,
        )
        for each in found
    ]


def label_value_faults(value: str) -> Sequence[str]:
    """Report why ``value`` is no label value; nothing when it is one."""
    faults = _too_long(value, MAX_LABEL)
    if re.fullmatch(_VALUE, value):
        return faults
    return [*faults, _regex(_VALUE_WORDS, _VALUE, "MyValue", "my_value", "12345")]


def in_characters(words: str) -> str:
    """Count characters where newer releases of apimachinery count bytes."""
    return re.sub(r"(no more than \d+) bytes", r"\1 characters", words)


def printed(value: Any) -> str:
    """Print a value as Go's JSON does inside field errors: keys sorted, ``<``, ``>`` and ``&`` escaped."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return re.sub("[<>&\u2028\u2029]", lambda found: f"\\u{ord(found[0]):04x}", text)


def aggregated(errors: Iterable[str]) -> str:
    """Join errors as Kubernetes does: several in brackets.

    Kubernetes: k8s.io/apimachinery/pkg/util/errors/errors.go (aggregate)
    """
    texts = list(errors)
    together = ", ".join(texts)
    return together if len(texts) == 1 else f"[{together}]"


def quoted(text: str) -> str:
    """Print a text as Go's %q does, as field errors do for plain texts: in quotes, what cannot be seen escaped."""
    return f'"{"".join(_seen(each) for each in text)}"'


def _seen(character: str) -> str:
    if character in _ESCAPED or character.isprintable():
        return _ESCAPED.get(character, character)
    code = ord(character)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


_ESCAPED = {'"': '\\"', "\\": "\\\\"} | dict(
    zip("\a\b\f\n\r\t\v", (f"\\{c}" for c in "abfnrtv"), strict=True)
)


def _prefix_faults(prefix: str) -> Sequence[str]:
    return dns_subdomain_faults(prefix) if prefix else [_EMPTY]


def _key_name_faults(name: str) -> Sequence[str]:
    faults = [_EMPTY] if not name else list(_too_long(name, MAX_LABEL))
    if not re.fullmatch(_KEY, name):
        faults.append(_regex(_KEY_WORDS, _KEY, "MyName", "my.name", "123-abc"))
    return [f"name part {fault}" for fault in faults]


def _too_long(text: str, limit: int) -> list[str]:
    return [f"must be no more than {limit} bytes"] if size(text) > limit else []


def _regex(words: str, grammar: str, *examples: str) -> str:
    # Each example is followed by a comma and the joining " or " keeps its own spaces: Kubernetes prints it so.
    listed = " or ".join(f"'{example}', " for example in examples)
    return f"{words} (e.g. {listed}regex used for validation is '{grammar}')"
