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
    rest, plus, build = parts[2].partition("+")
    patch, dash, prerelease = rest.partition("-")
    for word, number in zip(
        ("major", "minor", "patch"), (parts[0], parts[1], patch), strict=True
    ):
        _check_number(word, number)
    for identifier in prerelease.split(".") if dash else ():
        _check_prerelease(identifier)
    for identifier in build.split(".") if plus else ():
        _check_build(identifier)
    return f"{parts[0]}.{parts[1]}.{rest}"


def normalized(text: str) -> str:
    """Drop a "v", fill up missing numbers with 0 and strip leading zeros.

    Raises:
        BadVersion: the text has build metadata or a prerelease after fewer than three numbers.

    """
    parts = [_stripped(part) for part in text.removeprefix("v").split(".", 2)]
    if len(parts) < 3 and re.search(r"[+-]", parts[-1]):
        raise BadVersion("short version cannot contain PreRelease/Build meta data")
    return ".".join(parts + ["0"] * (3 - len(parts)))


def compare(one: str, other: str) -> int:
    """Order two canonical versions: -1, 0 or 1."""
    (numbers, prerelease), (others, other_prerelease) = _split(one), _split(other)
    if numbers != others:
        return 1 if numbers > others else -1
    if not prerelease or not other_prerelease:
        return bool(other_prerelease) - bool(prerelease)
    return (prerelease > other_prerelease) - (prerelease < other_prerelease)


def numbers(version: str) -> tuple[int, int, int]:
    """Give major, minor and patch of a canonical version."""
    major, minor, patch = _split(version)[0]
    return major, minor, patch


def _split(version: str) -> tuple[list[int], list[tuple[int, int, str]]]:
    core, dash, prerelease = version.partition("-")
    identifiers = prerelease.split(".") if dash else []
    ordered = [
        (0, int(part), "") if _NUMBER.fullmatch(part) else (1, 0, part)
        for part in identifiers
    ]
    return [int(part) for part in core.split(".")], ordered


def _stripped(part: str) -> str:
    if len(part) <= 1:
        return part
    bare = part.lstrip("0")
    return bare if _NUMBER.match(bare) else f"0{bare}"


def _check_number(word: str, number: str) -> None:
    if not _NUMBER.fullmatch(number) and number:
        raise BadVersion(f'Invalid character(s) found in {word} number "{number}"')
    if len(number) > 1 and number[0] == "0":
        raise BadVersion(
            f'{word.capitalize()} number must not contain leading zeroes "{number}"'
        )
    if not number:
        raise BadVersion('strconv.ParseUint: parsing "": invalid syntax')
    if int(number) > _MAX:
        raise BadVersion(f'strconv.ParseUint: parsing "{number}": value out of range')


def _check_prerelease(identifier: str) -> None:
    if not identifier:
        raise BadVersion("Prerelease is empty")
    if not _IDENTIFIER.fullmatch(identifier):
        raise BadVersion(f'Invalid character(s) found in prerelease "{identifier}"')
    if _NUMBER.fullmatch(identifier) and len(identifier) > 1 and identifier[0] == "0":
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
