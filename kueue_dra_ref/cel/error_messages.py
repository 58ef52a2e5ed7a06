"""What Kubernetes' CEL says when it refuses or fails, as far as the engine's own words lead there.

Kubernetes: k8s.io/dynamic-resource-allocation/cel/compile.go (CompileCELExpression)
"""

from __future__ import annotations

import re

from kueue_dra_ref.cel.validators import CONVERSIONS, ValidatorError

_OVERLOAD = re.compile(
    r"(<input>:(\d+):(\d+): found no matching overload for '(\w+)' applied to ')\(([^\n]*)\)'"
)
_SELECTED = re.compile(
    r"expression of type '([^\n]+)' cannot be the operand of a select operation"
)
_UNKNOWN_FIELD = re.compile(
    r"device\s*\.\s*(?!(?:driver|attributes|capacity|allowMultipleAllocations)\b)(\w+)"
)
_TOKEN = re.compile(r"token recognition error at: '.*'")
_SAID_OTHERWISE = (
    ("cannot be the range of a comprehension", "cannot be range of a comprehension"),
    ("has() argument must be a field selection", "invalid argument to has() macro"),
    ("'\\u003F'", "'?'"),
)
_UNDECLARED = re.compile(
    r"ERROR: <input>:(?P<line>\d+):(?P<column>\d+): "
    r"(?P<words>undeclared reference to '(?P<name>\.?\w+(?:\.\w+)+)' .*)\n.*\n.*"
)
_PLACE = re.compile(r"^ERROR: <input>:(\d+):(\d+): ")
_UNBOUND = re.compile(r"\bT%\d+")
_ECHOES = (
    "'*error*'",
    "<input>:-1",
    "WARNING: ",
)  # the engine goes on after a fault and trips over it again


def issue(expression: str, fault: ValidatorError) -> str:
    """Print an issue as CEL does: place, message, the line and a pointer."""
    before = expression[: fault.offset]
    line, column = before.count("\n") + 1, fault.offset - (before.rfind("\n") + 1)
    text = expression.split("\n")[line - 1]
    pointer = "".join("." if each.isascii() else "\uff0e" for each in text[:column])
    return (
        f"ERROR: <input>:{line}:{column + 1}: {fault.detail}\n | {text}\n | {pointer}^"
    )


def refusal(expression: str, message: str) -> str:
    """Say the engine's refusal in Kubernetes' words."""
    found = re.split(r"\n?(?=^(?:ERROR|WARNING): )", message, flags=re.MULTILINE)
    issues = [
        _pointed(expression, each)
        for each in found
        if each and not any(echo in each for echo in _ECHOES)
    ]
    issues.sort(key=_place)
    text = "\n".join(issues)
    for ours, theirs in _SAID_OTHERWISE:
        text = text.replace(ours, theirs)
    text = _UNBOUND.sub("dyn", text.replace("null_type", "null"))
    text = _TOKEN.sub(lambda match: match[0].replace("\\n", "\n"), text)
    text = _SELECTED.sub(lambda match: _selected(expression, match[1]), text)
    return _OVERLOAD.sub(lambda match: _overload(expression, match), text)


def _place(message: str) -> list[tuple[int, int]]:
    """Give the line and the column of an issue, by which CEL sorts them."""
    return [(int(line), int(column)) for line, column in _PLACE.findall(message)]


def _pointed(expression: str, message: str) -> str:
    """Point into an empty line as well, and at nothing of an empty expression."""
    if not expression:
        return message.replace("ERROR: <input>:1:1:", "ERROR: <input>:1:0:")
    undeclared = _UNDECLARED.fullmatch(message)
    if undeclared:
        return _undeclared(expression, undeclared)
    return message if "\n | " in message else f"{message}\n | \n | ^"


def _undeclared(expression: str, message: re.Match[str]) -> str:
    """Name the first part of an undeclared name, where it begins; a message's whole name, at its brace."""
    parts = message["name"].removeprefix(".").split(".")
    name = re.compile(r"\s*\.\s*".join(parts) + r"(?P<brace>\s*\{)?")
    before = expression.split("\n")[: int(message["line"]) - 1]
    offset = sum(len(line) + 1 for line in before) + int(message["column"])
    found = next(
        (each for each in name.finditer(expression) if each.end() > offset), None
    )
    if found is None:  # a comment stands in the name
        return message.group()
    if found["brace"]:
        return issue(
            expression, ValidatorError(offset=found.end() - 1, detail=message["words"])
        )
    words = message["words"].replace("." + ".".join(parts[1:]) + "'", "'")
    return issue(expression, ValidatorError(offset=found.start(), detail=words))


def _selected(expression: str, kind: str) -> str:
    name = _UNKNOWN_FIELD.search(expression)
    if kind == "kubernetes.DRADevice" and name:
        return f"undefined field '{name[1]}'"
    if kind.startswith("kubernetes."):
        return f"unexpected failed resolution of '{kind}'"
    return f"type '{kind}' does not support field selection"


def _overload(expression: str, match: re.Match[str]) -> str:
    """Write the receiver of a member call before its arguments."""
    line, column = expression.split("\n")[int(match[2]) - 1], int(match[3]) - 1
    if not re.search(rf"\.\s*{match[4]}\s*$", line[:column]):
        return match[0]
    target, _, rest = match[5].partition(", ")
    return f"{match[1]}{target}.({rest})'"


_EVALUATION = (
    (re.compile(r'Key not found in map : "?(.*?)"?$', re.DOTALL), r"no such key: \1"),
    (re.compile(r"Index error: index=(-?\d+).*"), r"index out of bounds: \1"),
    (re.compile(r"divide by zero"), "division by zero"),
    (re.compile(r"\w+ out of int64 range"), "integer overflow"),
    (re.compile(r"\w+ out of uint64 range"), "unsigned integer overflow"),
    (
        re.compile(r"String to Duration conversion failed"),
        "type conversion error from 'string' to 'google.protobuf.Duration'",
    ),
    (
        re.compile(r"malformed UTF-8 bytes"),
        "invalid UTF-8 in bytes, cannot convert to string",
    ),
    (
        re.compile(r"cannot convert string to (\w+)"),
        r"type conversion error from 'string' to '\1'",
    ),
    (
        re.compile(r"Type conversion error from 'string' to '(\w+)'"),
        r"type conversion error from 'string' to '\1'",
    ),
)
_NO_OVERLOAD = re.compile(
    r"No matching overloads found : (?:\((?P<target>\w+)\)\.)?(?P<name>[\w<>=!+*/%&|.@-]+)(?:\((?P<args>.*)\))?"
)
_KINDS = {
    "int64": "int",
    "uint64": "uint",
    "map": "kubernetes.Semver",
    "bytes": "kubernetes.Quantity",
}
_NUMBERS = frozenset({"int", "uint", "double"})
_RECEIVERS = frozenset({"string", "timestamp", "duration"})
# What can stand left of an operator; CEL names the operator only to what cannot.
_LEFT = {
    **dict.fromkeys(("_<_", "_<=_", "_>_", "_>=_"), _NUMBERS | _RECEIVERS | {"bool"}),
    **dict.fromkeys(("_+_", "_-_", "_*_", "_/_", "matches"), _NUMBERS | _RECEIVERS),
    "_%_": _RECEIVERS | {"int", "uint"},
    "size": frozenset[str](),
}
_TYPED = CONVERSIONS | {
    "compareTo",
    "isGreaterThan",
    "isLessThan",
    "quantity",
    "semver",
    "isQuantity",
    "isSemver",
}


def evaluation(message: str) -> str:
    """Say an error of the engine's evaluation in Kubernetes' words, where they are known."""
    match = _NO_OVERLOAD.fullmatch(message)
    if match:
        return _no_overload(match)
    for pattern, words in _EVALUATION:
        match = pattern.fullmatch(message)
        if match:
            return match.expand(words)
    return message


def _no_overload(match: re.Match[str]) -> str:
    name, args = (
        match["name"],
        [each for each in (match["args"] or "").split(", ") if each],
    )
    kinds = [
        _KINDS.get(kind, kind)
        for kind in ([match["target"]] if match["target"] else []) + args
    ]
    if name in _TYPED:
        return f"no such overload: {name}({', '.join(kinds)})"
    if name in _LEFT and kinds and kinds[0] not in _LEFT[name]:
        return f"no such overload: {name}"
    return "no such overload"
