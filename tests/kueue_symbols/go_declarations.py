"""Read from the Go files of a Kueue module which symbols they declare.

It needs no Go toolchain, because gofmt fixes the layout that it reads: each declaration starts at the margin, and each
member of a group or of an interface starts one tab to the right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOTS = ("pkg", "apis", "cmd/kueue")
SKIPPED_FILE = re.compile(r"_test\.go$|^zz_generated|test_utils?\.go$|\.pb\.go$")
SKIPPED_DIRECTORY = re.compile(r"(^|/)(testing[a-z]*|testdata|mocks|openapi)(/|$)")
GENERATED = re.compile(r"^// Code generated .* DO NOT EDIT\.$", re.MULTILINE)

QUOTED = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\''
RAW_OR_COMMENT = r"`[^`]*`|//[^\n]*|/\*.*?\*/"
TOKEN = re.compile(f"{QUOTED}|{RAW_OR_COMMENT}", re.DOTALL)

FUNCTION = re.compile(r"^func (?:\([^)]*\) )?(\w+)")
TYPE = re.compile(r"^(?:type |\t)(\w+)(?=[ \[])")
INTERFACE = re.compile(r"^(?:type |\t)\w+(?:\[.*\])? interface \{$")
METHOD = re.compile(r"^\t+(\w+)\(")
VALUE = re.compile(r"^(?:const |var |\t)(\w+(?:, \w+)*)(?: |$)")
GROUP = re.compile(r"^(type|const|var) \($")
MEMBER = re.compile(r"^\t\w")

OPENING = ("{", "(", "[")
CLOSING = ("}", ")")
NAMELESS = {"_", "init"}


def symbols_of_module(module: Path, only: frozenset[str] = frozenset()) -> dict[str, list[str]]:
    """Return the sorted symbols of each Go file, by its path within the module."""
    listed: dict[str, list[str]] = {}
    for path in go_files(module):
        name = path.relative_to(module).as_posix()
        if only and name not in only:
            continue
        text = path.read_text(encoding="utf-8")
        if GENERATED.search(text):
            continue
        if found := symbols_of_file(text):
            listed[name] = sorted(found)
    return listed


def go_files(module: Path) -> Iterator[Path]:
    """Yield the Go files of the module without tests and test helpers, by path."""
    for root in ROOTS:
        for path in sorted((module / root).rglob("*.go")):
            directory = path.parent.relative_to(module).as_posix()
            if SKIPPED_DIRECTORY.search(directory):
                continue
            if SKIPPED_FILE.search(path.name):
                continue
            yield path


def symbols_of_file(text: str) -> set[str]:
    """Return the names of all top-level declarations and interface methods."""
    lines = without_comments(text).splitlines()
    lines = [line.rstrip() for line in lines]
    found: set[str] = set()
    position = 0
    while position < len(lines):
        end = end_of_declaration(lines, position)
        found |= symbols_of_declaration(lines[position:end])
        position = end
    return found - NAMELESS


def without_comments(text: str) -> str:
    """Return the text without comments and raw strings, which may look like code."""
    return TOKEN.sub(kept_if_quoted, text)


def kept_if_quoted(token: re.Match[str]) -> str:
    """Return a quoted string as it is, and nothing for another token."""
    return token[0] if token[0][0] in "\"'" else ""


def end_of_declaration(lines: list[str], start: int) -> int:
    """Return the index after the line that closes the declaration at the margin."""
    if not lines[start].endswith(OPENING):
        return start + 1
    for position in range(start + 1, len(lines)):
        line = lines[position]
        if line.startswith(CLOSING) and not line.endswith(OPENING):
            return position + 1
    return len(lines)


def symbols_of_declaration(lines: list[str]) -> set[str]:
    """Return the names that one declaration at the margin of a file declares."""
    first = lines[0]
    if function := FUNCTION.match(first):
        return {function[1]}
    if group := GROUP.match(first):
        return symbols_of_group(group[1], lines[1:-1])
    if first.startswith("type "):
        return symbols_of_type(lines)
    if first.startswith(("const ", "var ")):
        return names_of_values(first)
    return set()


def symbols_of_group(keyword: str, members: list[str]) -> set[str]:
    """Return the names in a `type (`, `const (` or `var (` group."""
    found: set[str] = set()
    for position, line in enumerate(members):
        if not MEMBER.match(line):
            continue
        if keyword == "type":
            found |= symbols_of_type(members[position:])
        else:
            found |= names_of_values(line)
    return found


def symbols_of_type(lines: list[str]) -> set[str]:
    """Return the name of the type on the first line, and an interface's methods."""
    found: set[str] = set()
    if declared := TYPE.match(lines[0]):
        found.add(declared[1])
    if INTERFACE.match(lines[0]):
        found |= methods_of_interface(lines)
    return found


def methods_of_interface(lines: list[str]) -> set[str]:
    """Return the names of the methods that the interface on the first line lists."""
    inside = depth(lines[0]) + 1
    found: set[str] = set()
    for line in lines[1:]:
        if line.strip() == "}":
            break
        method = METHOD.match(line)
        if method and depth(line) == inside:
            found.add(method[1])
    return found


def depth(line: str) -> int:
    """Return the number of tabs at the start of the line."""
    return len(line) - len(line.lstrip("\t"))


def names_of_values(line: str) -> set[str]:
    """Return the names of the constants or variables that the line declares."""
    declared = VALUE.match(line)
    return set(declared[1].split(", ")) if declared else set()
