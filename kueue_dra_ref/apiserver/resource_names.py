"""Names in resource.k8s.io: drivers, pools, requests, devices, counters, attributes, labels; the faults of each.

Kubernetes: pkg/apis/resource/validation/validation.go (validateQualifiedName, validateFullyQualifiedName,
    validateCIdentifier, validatePoolName)
"""

from __future__ import annotations

import re

from kueue_dra_ref.api import names
from kueue_dra_ref.apiserver.fielderrors import Errors, invalid, required, too_long
from kueue_dra_ref.apiserver.kubernetes_version import Kubernetes
from kueue_dra_ref.target import FieldError

MAX_DOMAIN, MAX_IDENTIFIER = 63, 32
MAX_ANNOTATIONS = 256 * 1024
LONGEST_KEY = MAX_DOMAIN + 1 + MAX_IDENTIFIER
_IDENTIFIER = "[A-Za-z_][A-Za-z0-9_]*"
_IDENTIFIER_WORDS = (
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters "
    f"or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '{_IDENTIFIER}')"
)


def label(name: str, path: str) -> Errors:
    """Check a DNS label, such as the name of a request, a device or a counter."""
    for fault in names.dns_label_faults(name):
        yield invalid(path, name, names.in_characters(fault))


def subdomain(name: str, path: str) -> Errors:
    """Check a DNS subdomain, such as the name of an object, a class or a node."""
    for fault in names.dns_subdomain_faults(name):
        yield invalid(path, name, names.in_characters(fault))


def label_key(name: str, path: str, k: Kubernetes) -> Errors:
    """Check a label key, such as the key of a taint or a binding condition."""
    is_qualified = not k.counts_bytes
    check = names.qualified_name_faults if is_qualified else names.label_key_faults
    for fault in check(name):
        yield invalid(path, name, fault)


def label_value(value: str, path: str, k: Kubernetes) -> Errors:
    """Check a label value."""
    for fault in names.label_value_faults(value):
        yield invalid(path, value, counted(fault, k))


def counted(fault: str, k: Kubernetes) -> str:
    """Give the error text of a label's value in the unit of the minor."""
    return fault if k.counts_bytes else names.in_characters(fault)


def driver(name: str, path: str, k: Kubernetes) -> Errors:
    """Check a driver's name, which may be written in capitals."""
    if not name:
        yield required(path)
        if k.stops_at_missing_drivers:
            return
    if names.size(name) > MAX_DOMAIN:
        yield too_long(path, MAX_DOMAIN, k)
    for fault in names.dns_subdomain_faults(name.lower()):
        yield invalid(path, name, names.in_characters(fault))


def pool(name: str, path: str, k: Kubernetes) -> Errors:
    """Check a pool's name: subdomains joined by slashes."""
    if not name:
        yield required(path)
        return
    if names.size(name) > names.MAX_SUBDOMAIN:
        yield too_long(path, names.MAX_SUBDOMAIN, k)
    for part in name.split("/"):
        yield from subdomain(part, path)


def qualified(name: str, path: str, k: Kubernetes) -> Errors:
    """Check the name of an attribute or a capacity; Kubernetes accepts every name with two slashes."""
    if not name and k.empty_part == "Required value":
        yield required(path, "name required")
        return
    match name.split("/"):
        case [identifier]:
            yield from _identifier(identifier, path, k)
        case [domain, identifier]:
            if domain:
                yield from driver(domain, path, k)
            else:
                yield _empty(path, "the domain must not be empty", k)
            if identifier:
                yield from _identifier(identifier, path, k)
            else:
                yield _empty(path, "the name must not be empty", k)


def fully_qualified(name: str, path: str, k: Kubernetes) -> Errors:
    """Check the name of an attribute that must have its domain."""
    yield from qualified(name, path, k)
    if "/" not in name and (name or k.empty_part != "Required value"):
        yield invalid(path, name, k.unqualified)


def key_path(path: str, key: str, longest: int) -> str:
    """Give the path of a map's entry; a key that is too long is shortened in its middle."""
    if len(key) > longest:
        kept = longest - 3
        start = key[: (kept + 1) // 2]
        end = key[len(key) - kept // 2 :]
        key = f"{start}...{end}"
    return f"{path}[{key}]"


def label_map(found: dict[str, str] | None, path: str, k: Kubernetes) -> Errors:
    """Check labels."""
    for key, value in sorted((found or {}).items()):
        yield from label_key(key, path, k)
        yield from label_value(value, path, k)


def annotation_map(found: dict[str, str] | None, path: str, k: Kubernetes) -> Errors:
    """Check annotations, whose keys may be in capitals."""
    total = 0
    for key, value in sorted((found or {}).items()):
        total += names.size(key) + names.size(value)
        for fault in names.label_key_faults(key.lower()):
            yield invalid(path, key, fault)
    if total > MAX_ANNOTATIONS:
        yield too_long(path, MAX_ANNOTATIONS, k)


def _identifier(name: str, path: str, k: Kubernetes) -> Errors:
    if names.size(name) > MAX_IDENTIFIER:
        yield too_long(path, MAX_IDENTIFIER, k)
    if not re.fullmatch(_IDENTIFIER, name):
        yield invalid(path, name, _IDENTIFIER_WORDS)


def _empty(path: str, detail: str, k: Kubernetes) -> FieldError:
    if k.empty_part == "Required value":
        return required(path, detail)
    return invalid(path, "", detail)
