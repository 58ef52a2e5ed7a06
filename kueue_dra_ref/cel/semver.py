"""Semantic versions (semver.org 2.0.0) as Kubernetes' CEL library reads, normalises and compares them.

Kubernetes: k8s.io/apiserver/pkg/cel/library/semverlib.go (SemverLib)
"""

from __future__ import annotations

import re

_IDENTIFIER = re.compile(r"[0-9A-Za-z-]+")
_NUMBER = re.compile(r"[0-9]+")
_MAX = 2**64 - 1


class BadVersion(ValueError):
    """The text is not a semantic version; the message is Kubernetes'."""


def canonical(text: str) -> str:
    """Check a version and drop its build metadata, which no comparison sees.

    Raises:
        BadVersion: the text is not a semantic version.

    """
    if not text:
        raise BadVersion("Version string empty")
    parts = text.split(".", 2)
    if len(parts) != 3:
        raise BadVersion("No Major.Minor.Patch elements found")
    major, minor, last = parts
    rest, plus, build = last.partition("+")
    patch, dash, prerelease = rest.partition("-")
    _check_number("major", major)
    _check_number("minor", minor)
    _check_number("patch", patch)
    if dash:
        for identifier in prerelease.split("."):
            _check_prerelease(identifier)
    if plus:
        for identifier in build.split("."):
            _check_build(identifier)
    return f"{major}.{minor}.{rest}"


def normalized(text: str) -> str:
    """Drop a "v", add missing numbers as 0 and strip leading zeros.

    Raises:
        BadVersion: the text has build metadata or a prerelease after fewer than three numbers.

    """
    numbers = text.removeprefix("v").split(".", 2)
    parts = [_stripped(part) for part in numbers]
    if len(parts) < 3 and re.search(r"[+-]", parts[-1]):
        raise BadVersion("short version cannot contain PreRelease/Build meta data")
    while len(parts) < 3:
        parts.append("0")
    return ".".join(parts)


def compare(one: str, other: str) -> int:
    """Order two canonical versions: -1, 0 or 1."""
    left = _precedence(one)
    right = _precedence(other)
    return (left > right) - (left < right)


def numbers(version: str) -> tuple[int, int, int]:
    """Give major, minor and patch of a canonical version."""
    core, _, _ = version.partition("-")
    major, minor, patch = map(int, core.split("."))
    return major, minor, patch


def _precedence(
    version: str,
) -> tuple[tuple[int, ...], bool, list[tuple[bool, int | str]]]:
    """Give what orders a version: its numbers, then whether it is released, then the parts of its prerelease."""
    _, dash, prerelease = version.partition("-")
    parts = map(_part_precedence, prerelease.split("."))
    return numbers(version), not dash, list(parts)


def _part_precedence(part: str) -> tuple[bool, int | str]:
    """Order numbers by value, and before any other part."""
    if _NUMBER.fullmatch(part):
        return False, int(part)
    return True, part


def _stripped(part: str) -> str:
    if len(part) <= 1:
        return part
    bare = part.lstrip("0")
    if _NUMBER.match(bare):
        return bare
    return f"0{bare}"


def _check_number(word: str, number: str) -> None:
    if not number:
        raise BadVersion('strconv.ParseUint: parsing "": invalid syntax')
    if not _NUMBER.fullmatch(number):
        raise BadVersion(f'Invalid character(s) found in {word} number "{number}"')
    if _has_leading_zero(number):
        raise BadVersion(
            f'{word.capitalize()} number must not contain leading zeroes "{number}"'
        )
    if int(number) > _MAX:
        raise BadVersion(f'strconv.ParseUint: parsing "{number}": value out of range')


def _has_leading_zero(number: str) -> bool:
    return len(number) > 1 and number.startswith("0")


def _check_prerelease(identifier: str) -> None:
    if not identifier:
        raise BadVersion("Prerelease is empty")
    if not _IDENTIFIER.fullmatch(identifier):
        raise BadVersion(f'Invalid character(s) found in prerelease "{identifier}"')
    if _NUMBER.fullmatch(identifier) and _has_leading_zero(identifier):
        raise BadVersion(
            f'Numeric PreRelease version must not contain leading zeroes "{identifier}"'
        )


def _check_build(identifier: str) -> None:
    if not identifier:
        raise BadVersion("Build meta data is empty")
    if not _IDENTIFIER.fullmatch(identifier):
        raise BadVersion(
            f'Invalid character(s) found in build meta data "{identifier}"'
        )
