"""Generated objects with the answers of API servers, as recordings that need none.

    python -m tests.generated_objects

writes `golden/generated_objects.jsonl.gz` again. A Kubernetes with every gate of devices on answers for
resource.k8s.io, and one with Kueue for everything else.

The objects put a value of a wrong type into every field that the reference knows, kind by kind and version by version,
put other values into every field of accepted objects, one at a time, change these at random, or are written by hand
(`golden/object_questions.yaml`). Objects that the reference does not answer alike are left out: of Kubernetes' own
kinds, of work and of older versions it does not look at every field.
"""

from __future__ import annotations

import copy
import gzip
import json
import random
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from kueue_dra_clusters.api_client import Answer, APIClient
from kueue_dra_clusters.apiserver import ApiServer
from kueue_dra_clusters.binaries import binaries
from kueue_dra_clusters.controlplane import ControlPlane
from kueue_dra_clusters.live_target import LiveTarget
from kueue_dra_clusters.ports import Ports
from kueue_dra_clusters.processes import Processes
from kueue_dra_clusters.releases import NEWEST as NEWEST_KUEUE
from kueue_dra_clusters.waiting import TimedOut, WaitLimits
from kueue_dra_fixtures.frameworks import all_of
from kueue_dra_ref.api.scheme import KINDS
from kueue_dra_ref.apiserver import RejectedRequest
from kueue_dra_ref.apiserver.go_types import GoMap, GoScalar, GoSlice, GoStruct, GoType, Shape
from kueue_dra_ref.apiserver.request_handler import GROUP
from kueue_dra_ref.apiserver.schema_core import BUILT_IN
from kueue_dra_ref.apiserver.schema_kueue import schema as schema_of_kueue
from kueue_dra_ref.apiserver.schema_slices import schema as schema_of_devices
from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.target import Manifest, Ref
from tests.apiserver import answer_of, in_order_of, over
from tests.apiserver import rows as rows_of_the_table
from tests.object_grammar import Grammar, places, value_at
from tests.object_questions import questions
from tests.other_minors import flags, minor_of, spec_in_v1

GOLDEN = Path(__file__).parent / "golden"
FILE = GOLDEN / "generated_objects.jsonl.gz"
TAKEN: Sequence[Manifest] = yaml.safe_load((GOLDEN / "kueue_objects.yaml").read_text("utf-8"))
NAMESPACE: Manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}
CONFIGURATION: Manifest = {
    "resources": {"deviceClassMappings": [{"name": "whole-gpus", "deviceClassNames": ["gpu.example.com"]}]},
    "integrations": all_of("0.19"),
}
SEED = 20261127
DEVICES, KUEUES = 1600, 800
"""How many objects are changed at random: of resource.k8s.io, and of Kueue."""
LARGE = 3000
"""Rows of the table with more characters are limits of size, which it asks about."""
TAKEN_ANEW = 201
OTHER_NUMBERS = (0, -1, 1, 2**31 - 1)
OTHER_TEXTS = ("", "A", "a/b", "0", "-1", "500m", "x" * 63, "x" * 64)
REPEATED = (2, 9, 33)
REMOVED = object()
NEWEST, ALL = "1.36", "all"
"""The minor of Kubernetes and the set of its gates that answer for resource.k8s.io."""
CHANGED = 0.3
"""How often an object of Kueue is not new."""
PATIENCE = 2.0
"""Seconds after which a closed connection is one: the API server divides by zero."""
Steps = tuple[str | int, ...]

WRONG: dict[GoType, Sequence[Any]] = {
    GoType.TEXT: (5,),
    GoType.FLAG: ("no",),
    GoType.WHOLE: ("1", 1.5, 2.0, 1e19),
    GoType.QUANTITY: ("1Gb", True),
    GoType.TIME: ("not a time", 5),
    GoType.ANYTHING: (),
}
NO_LISTS: Sequence[Any] = ("a", [5], [None])
NO_MAPS: Sequence[Any] = ("a", {"": 5})
NO_OBJECTS: Sequence[Any] = ("a", [], {"unknown": 1})


class Generated(NamedTuple):
    """An object, the one that it replaces, and what an API server makes of it."""

    manifest: Manifest
    before: Manifest | None
    code: int
    says: Any
    """The message, or the spec that is stored of an object of resource.k8s.io; null where the reference differs."""
    is_ordered: bool = True
    """Whether the reference names the faults in the same order."""


def rows() -> Sequence[Generated]:
    """Read the recordings."""
    with gzip.open(FILE, "rt", encoding="utf-8") as lines:
        return [Generated(*json.loads(line)) for line in lines]


def shown(row: Generated) -> Generated:
    """Give what the reference makes of an object, without what its row leaves out."""
    code, says = _ours(row.manifest, row.before)
    if row.says is None:
        says = None
    elif not row.is_ordered:
        says = in_order_of(row.says, says)
    return row._replace(code=code, says=says)


def _is_of_devices(manifest: Manifest) -> bool:
    return KINDS[manifest["kind"]].group == GROUP


def _ours(manifest: Manifest, before: Manifest | None) -> tuple[int, Any]:
    if _is_of_devices(manifest):
        k = minor_of(NEWEST, ALL)
        found = answer_of(manifest, before, k)
        if isinstance(found, RejectedRequest):
            return found.code, found.message
        return _taken(before), spec_in_v1(found.obj, k)
    target = ReferenceTarget(behaviour("kueue-0.19.2"))
    target.start(CONFIGURATION)
    assert target.apply([NAMESPACE, *([before] if before else ())]) == []
    for rejection in target.apply([manifest]):
        return rejection.code, rejection.message
    return _taken(before), ""


def _taken(before: Manifest | None) -> int:
    return 200 if before else TAKEN_ANEW


def _paths(shape: Shape, path: Steps, seen: set[str]) -> Iterator[tuple[Steps, Any]]:
    """Give each place below a type, once for each struct, with each value of a wrong type for it."""
    match shape:
        case GoScalar(holds):
            wrong = (*WRONG[holds], shape.bound - 1, shape.bound) if holds is GoType.WHOLE else WRONG[holds]
            yield from ((path, value) for value in wrong)
        case GoSlice(element):
            yield from ((path, value) for value in NO_LISTS)
            yield from _paths(element, (*path, 0), seen)
        case GoMap(element):
            yield from ((path, value) for value in NO_MAPS)
            yield from _paths(element, (*path, "a/b"), seen)
        case GoStruct(go) if go not in seen:
            seen.add(go)
            yield from ((path, value) for value in NO_OBJECTS)
            yield path, {field.key: None for field in shape.fields}
            for field in shape.fields:
                yield from _paths(field.shape, (*path, field.key), seen)


def _at(path: Steps, value: Any) -> Any:
    """Give an object with nothing but a value at a place."""
    for step in reversed(path):
        value = [value] if step == 0 else {step: value}
    return value


def _merged(base: Any, more: Any) -> Any:
    """Put what is at a place of one object into another one."""
    if isinstance(base, dict) and isinstance(more, dict):
        made = dict(base)
        for key, value in more.items():
            made[key] = _merged(base[key], value) if key in base else value
        return made
    if isinstance(base, list) and isinstance(more, list) and base and more:
        return [_merged(base[0], more[0]), *base[1:]]
    return more


def _shapes() -> Iterator[tuple[str, str, GoStruct]]:
    taken = [each["kind"] for each in TAKEN]
    kinds = [kind for kind in KINDS.values() if not kind.optional]
    for kind in sorted(kinds, key=lambda kind: kind.name not in taken):
        for version in kind.versions:
            if version == "v1alpha3":
                continue
            if kind.group == GROUP:
                shape = schema_of_devices(kind.name, version)
            else:
                shape = BUILT_IN.get(kind.name) or schema_of_kueue(kind.name, version)
            yield kind.name, f"{kind.group}/{version}".lstrip("/"), shape


def systematic() -> Iterator[Manifest]:
    """Give each field that the reference knows with values of wrong types."""
    taken = {each["kind"]: each for each in TAKEN}
    built_in: set[str] = set()
    custom: set[str] = set()
    for kind, version, shape in _shapes():
        seen = built_in if kind in BUILT_IN or KINDS[kind].group == GROUP else custom
        for field in shape.fields:
            if field.key not in ("apiVersion", "kind", "metadata", "status"):
                for path, value in _paths(field.shape, (field.key,), seen):
                    yield _grafted(kind, version, taken.get(kind), _at(path, value))


def _grafted(kind: str, version: str, taken: Manifest | None, more: Manifest) -> Manifest:
    metadata = {"name": "probe", **({"namespace": "team"} if KINDS[kind].namespaced else {})}
    base = {"apiVersion": version, "kind": kind, "metadata": metadata}
    if taken and taken["apiVersion"] == version:
        base = {**taken, **base}
    made: Manifest = _merged(base, more)
    return made


def with_other_values() -> Iterator[Manifest]:
    """Give accepted objects with one field removed, repeated, or with another value of its type."""
    known: set[tuple[str, Steps]] = set()
    for manifest in (*TAKEN, *_devices(is_taken=True)):
        for path, value in places({"spec": manifest["spec"]}):
            general = tuple(step for step in path if isinstance(step, str))
            if not path or (manifest["kind"], general) in known:
                continue
            known.add((manifest["kind"], general))
            for other in _others(value):
                made = copy.deepcopy(manifest)
                *above, last = path
                holder = value_at(made, tuple(above))
                if other is REMOVED:
                    del holder[last]
                else:
                    holder[last] = other
                yield made


def _others(value: Any) -> Iterator[Any]:
    yield REMOVED
    match value:
        case bool():
            yield not value
        case int():
            yield from OTHER_NUMBERS
        case str():
            yield from OTHER_TEXTS
        case list():
            yield []
            yield from (value * times for times in REPEATED)
        case dict():
            yield {}


def _devices(*, is_taken: bool = False) -> list[Manifest]:
    """Give the objects of the table, all of them or those that are taken, without large ones."""
    found = []
    for row in rows_of_the_table():
        if row.manifest["metadata"].get("namespace", "team") != "team" or len(str(row.manifest)) > LARGE:
            continue
        if not is_taken or (row.code == TAKEN_ANEW and row.before is None):
            found.append(row.manifest)
    return found


def at_random(source: random.Random) -> Iterator[tuple[Manifest, Manifest | None]]:
    """Give accepted objects with one to three changes; some of them replace what they were made from."""
    devices = _devices()
    grammar = Grammar(source, devices)
    for _ in range(DEVICES):
        yield grammar.wrong(source.choice(devices)), None
    grammar = Grammar(source, TAKEN)
    for _ in range(KUEUES):
        taken = source.choice(TAKEN)
        is_change = taken["kind"] != "Job" and source.random() < CHANGED
        before = _stored(taken) if is_change else None
        yield grammar.wrong(before or taken), before


def _stored(manifest: Manifest) -> Manifest:
    return {**manifest, "metadata": {**manifest["metadata"], "name": f"stored-{manifest['kind'].lower()}"}}


def _asked(objects: APIClient, manifest: Manifest, before: Manifest | None) -> Answer:
    """Ask an API server about an object without storing it."""
    ref = Ref.of(manifest)
    if before is None:
        return objects.call("POST", f"{objects.path(ref, collection=True)}?dryRun=All", manifest)
    is_made = _is_of_devices(before)
    if is_made:
        assert objects.create(before).ok
    stored = objects.read(ref)
    assert stored is not None
    answer = objects.call("PUT", f"{objects.path(ref)}?dryRun=All", over(stored, manifest))
    if is_made:
        objects.delete(ref)
    return answer


def _recorded(manifest: Manifest, before: Manifest | None, objects: APIClient) -> Generated | None:
    """Give what an API server answers; None if it closes the connection, or the reference answers with another code."""
    try:
        answer = _asked(objects, manifest, before)
    except TimedOut:
        return None
    says: Any = "" if answer.ok else answer.message
    if answer.ok and _is_of_devices(manifest):
        says = spec_in_v1(answer.body, minor_of(NEWEST, ALL))
    code, ours = _ours(manifest, before)
    if code != answer.code:
        return None
    if ours == says:
        return Generated(manifest, before, code, says)
    is_known = isinstance(says, str) and in_order_of(says, ours) == says
    return Generated(manifest, before, code, says if is_known else None, is_ordered=False)


def _distinct(asked: Iterable[tuple[Manifest, Manifest | None]]) -> list[tuple[Manifest, Manifest | None]]:
    return list({json.dumps(each, sort_keys=True): each for each in asked}.values())


def _of_devices(held: ExitStack) -> APIClient:
    """Start an API server with every gate of devices on."""
    server = ApiServer(
        programs=binaries(NEWEST_KUEUE),
        processes=held.enter_context(Processes()),
        ports=held.enter_context(Ports()),
        limits=WaitLimits(),
        fixed=flags(minor_of(NEWEST, ALL), on=True),
    )
    server.await_answer("/readyz")
    objects = APIClient(api=server.api, limits=replace(WaitLimits(), ready=PATIENCE))
    objects.create(NAMESPACE)
    return objects


def main() -> None:
    """Write the recordings."""
    source = random.Random(SEED)
    made = (*systematic(), *with_other_values())
    asked = _distinct([*((each, None) for each in made), *at_random(source), *questions()])
    found = []
    with ExitStack() as held:
        devices = _of_devices(held)
        plane = held.enter_context(ControlPlane())
        target = LiveTarget(plane)
        target.start(CONFIGURATION)
        assert target.apply([NAMESPACE, *map(_stored, TAKEN)]) == []
        kueue = APIClient(api=plane.api)
        for manifest, before in asked:
            row = _recorded(manifest, before, devices if _is_of_devices(manifest) else kueue)
            found += [row] if row else []
        target.stop()
    print(f"{len(found)} of {len(asked)} objects are answered alike", file=sys.stderr)
    with gzip.open(FILE, "wt", encoding="utf-8") as lines:
        for row in found:
            lines.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
