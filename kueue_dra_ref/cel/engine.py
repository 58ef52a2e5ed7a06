"""The CEL engine (cel-expr-python), the one place that imports it, and only when an expression is compiled.

No counterpart: the binding of the CEL engine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from itertools import product
from typing import Any

from kueue_dra_ref.cel import error_messages
from kueue_dra_ref.cel.library import Overload, overloads
from kueue_dra_ref.cel.model import EvaluationError, Undecidable, Undecided
from kueue_dra_ref.cel.source import NO_OVERLOAD

_ENVIRONMENT = """
extensions:
  - {name: optional}
  - {name: bindings}
  - {name: strings, version: 2}
  - {name: lists, version: 2}
  - {name: sets}
  - {name: two-var-comprehensions}
variables:
"""
# `any` as Kubernetes declares attributes: compared with anything, and nothing to iterate over.
_KUBERNETES = {
    "device": "kubernetes.DRADevice",
    "device.driver": "string",
    "device.allowMultipleAllocations": "bool",
    "device.attributes": "map<string,map<string,any>>",
    "device.capacity": "map<string,map<string,kubernetes.Quantity>>",
}
_ENGINE = {
    "device.driver": "string",
    "device.allowMultipleAllocations": "bool",
    "device.attributes": "map<string,map<string,dyn>>",
    "device.capacity": "map<string,map<string,bytes>>",
    "kueue_dra_probe": "dyn",
}
_ENGINE_KINDS = {
    "kubernetes.Quantity": "bytes",
    "kubernetes.Semver": "map<string,string>",
    "kubernetes.URL": "bytes",
    "net.IP": "bytes",
    "net.CIDR": "bytes",
}
_ANY_KIND = (
    "bool",
    "int",
    "uint",
    "double",
    "string",
    "bytes",
    "list<dyn>",
    "map<string,string>",
    "null",
)
_STATUS = re.compile(r"^[A-Z_]+: ")
_LIMITS = re.compile(
    "Expression recursion limit|Iteration budget exceeded|CANCELLED|RESOURCE_EXHAUSTED"
)
Evaluate = Callable[[Mapping[str, Any]], Any]


class CompileRejected(Exception):
    """The engine does not compile the expression; the message is its text."""


def checked(expression: str) -> bytes:
    """Type an expression as Kubernetes declares the environment, and give the engine's serialised typed tree.

    Raises:
        CompileRejected: the expression is not valid there.

    """
    try:
        return bytes(_kubernetes().compile(expression).serialize())
    except RuntimeError as error:
        raise CompileRejected(_plain(str(error))) from error


def program(source: str) -> Evaluate:
    """Compile a rewritten expression.

    Raises:
        CompileRejected: the engine cannot.

    """
    try:
        compiled = _engine().compile(source)
    except RuntimeError as error:
        raise CompileRejected(_plain(str(error))) from error
    return lambda data: _answer(compiled, data)


def is_regex(pattern: str) -> bool:
    """Tell whether RE2 takes a pattern."""
    return not isinstance(
        program('"".matches(kueue_dra_probe)')({"kueue_dra_probe": pattern}),
        EvaluationError,
    )


def converts(function: str, value: Any) -> bool:
    """Tell whether a conversion such as int() takes a constant."""
    return not isinstance(
        program(f"{function}(kueue_dra_probe)")({"kueue_dra_probe": value}),
        EvaluationError,
    )


def _answer(compiled: Any, data: Mapping[str, Any]) -> Any:
    """Evaluate to a plain value, a fault, or nothing when the engine itself gives up."""
    Undecidable.raised.clear()
    try:
        result = compiled.eval(data=data)
        value = result.plain_value()
    except (RuntimeError, ValueError) as error:
        return Undecided(reason=f"the engine stopped: {_plain(str(error))}")
    if result.type().name() != "ERROR":
        return value
    text = str(value)
    for reason in Undecidable.raised:
        return Undecided(reason=reason)
    if _LIMITS.search(text):
        return Undecided(reason=f"the engine stopped: {_plain(text)}")
    return EvaluationError(detail=error_messages.evaluation(_plain(text)))


def _plain(text: str) -> str:
    """Drop the engine's status words around a message."""
    return _STATUS.sub("", re.sub(r" \[[A-Z_]+\]$", "", text))


@cache
def _cel() -> Any:
    from cel_expr_python import cel

    return cel


@cache
def _kubernetes() -> Any:
    """Build the environment that expressions are typed in."""
    named: dict[str, list[Any]] = {}
    cel = _cel()
    for number, each in enumerate(overloads()):
        takes = [cel.Type(text) for text in each.takes]
        named.setdefault(each.name, []).append(
            cel.Overload(f"k{number}", cel.Type(each.gives), takes, each.member)
        )
    return _environment(_KUBERNETES, named)


@cache
def _engine() -> Any:
    """Build the environment that rewritten expressions are evaluated in, functions chosen by run-time kind alone."""
    cel = _cel()
    chosen: dict[tuple[str, bool, tuple[str, ...]], Overload] = {}
    for each in overloads():
        for takes in product(*map(_engine_kinds, each.takes)):
            chosen.setdefault((each.name, each.member, takes), each)
    named: dict[str, list[Any]] = {}
    for number, ((name, member, takes), each) in enumerate(chosen.items()):
        gives = cel.Type(_ENGINE_KINDS.get(each.gives, "dyn"))
        kinds = [cel.Type(text) for text in takes]
        named.setdefault(name, []).append(
            cel.Overload(f"e{number}", gives, kinds, member, impl=each.answer)
        )
    name = NO_OVERLOAD.removesuffix("()")
    named[name] = [cel.Overload(name, cel.Type("bool"), [], False, impl=_no_overload)]
    return _environment(_ENGINE, named)


def _engine_kinds(text: str) -> tuple[str, ...]:
    if text == "dyn":
        return _ANY_KIND
    return (
        ("list<dyn>",) if text.startswith("list<") else (_ENGINE_KINDS.get(text, text),)
    )


def _environment(
    variables: Mapping[str, str], functions: Mapping[str, list[Any]]
) -> Any:
    cel = _cel()
    declared = "".join(
        f'  - {{name: {name}, type: "{kind}"}}\n' for name, kind in variables.items()
    )
    declarations = [cel.FunctionDecl(name, forms) for name, forms in functions.items()]
    return cel.NewEnv(
        None,
        config=cel.NewEnvConfigFromYaml(_ENVIRONMENT + declared),
        functions=declarations,
    )


def _no_overload() -> bool:
    raise ValueError("no such overload")
