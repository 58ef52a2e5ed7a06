"""URLs as Kubernetes' CEL library reads them, in so far as they are plain: ASCII, well formed, a simple host.

Kubernetes: k8s.io/apiserver/pkg/cel/library/urls.go (URLs)
"""

from __future__ import annotations

import re
from ipaddress import IPv6Address
from urllib.parse import parse_qs

from kueue_dra_ref.cel.model import Undecidable
from kueue_dra_ref.cel.value_types import is_valid

_ESCAPED = "%[0-9A-Fa-f]{2}"
_PLAIN = re.compile(
    rf"""(?:(?P<scheme>[a-z][a-z0-9+.-]*):)?
    (?P<authority>(?<=:)//(?:(?P<user>[A-Za-z0-9_.~-]+(?::[A-Za-z0-9_.~-]*)?)@)?
        (?P<host>(?:[A-Za-z0-9._~-]*|\[(?P<literal>[0-9a-f:]+)\])(?::(?P<port>[0-9]*))?))?
    (?P<path>(?:/(?:[A-Za-z0-9_.~$&+,;=:@-]|{_ESCAPED})*)*)
    (?:\?(?P<query>(?:[A-Za-z0-9_.~&=+/-]|%[2-7][0-9A-Fa-f])+))?
    (?P<fragment>(?<=.)\#[A-Za-z0-9_.~-]+)?""",
    re.VERBOSE,
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_PRINTABLE = re.compile(r"[!-~]*")


def is_url(text: str) -> bool:
    """Tell whether a text is an absolute URL or an absolute path."""
    return _read(text) is not None


def url(text: str) -> bytes:
    """Check a URL.

    Raises:
        ValueError: the text is not one.

    """
    if _read(text) is None:
        why = "invalid URI for request" if text else "empty url"
        raise ValueError(
            f'URL parse error during conversion from string: parse "{text}": {why}'
        )
    return text.encode()


def scheme(value: bytes) -> str:
    """Give the scheme, or nothing."""
    return _part(value, "scheme")


def host(value: bytes) -> str:
    """Give host and port."""
    return _part(value, "host")


def hostname(value: bytes) -> str:
    """Give the host without brackets and port."""
    return _part(value, "literal") or _part(value, "host").partition(":")[0]


def port(value: bytes) -> str:
    """Give the port, or nothing."""
    return _part(value, "port")


def path(value: bytes) -> str:
    """Give the path as it is written."""
    return _part(value, "path")


def query(value: bytes) -> dict[str, list[str]]:
    """Give the values of each key of the query."""
    text = _part(value, "query")
    if text.startswith("=") or "&=" in text:
        raise Undecidable("a query without a key")
    return parse_qs(text, keep_blank_values=True)


def _part(value: bytes, name: str) -> str:
    match = _read(value.decode())
    return (match[name] or "") if match else ""


def _read(text: str) -> re.Match[str] | None:
    """Read a URL; nothing where Kubernetes refuses it.

    Raises:
        Undecidable: the URL is not plain.

    """
    if not text or _is_refused(text):
        return None
    match = _PLAIN.fullmatch(text)
    if match is None or text.startswith("//") or _is_unusual(match):
        raise Undecidable(f"the URL {text}")
    return match


def _is_refused(text: str) -> bool:
    """Tell whether a text is printable and neither absolute nor a path."""
    if not _PRINTABLE.fullmatch(text):
        return False
    if text == "*" or text.startswith("/"):
        return False
    return not _SCHEME.match(text)


def _is_unusual(match: re.Match[str]) -> bool:
    """Tell whether a URL has a scheme without an authority or a path, or no IPv6 address in its brackets."""
    path = match["path"]
    is_odd = not path or path.startswith("//")
    if match["scheme"] and not match["authority"] and is_odd:
        return True
    literal = match["literal"]
    return bool(literal) and not is_valid(IPv6Address, literal)
