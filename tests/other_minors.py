"""Asks a kube-apiserver of any minor each row of the table, and prints the answers that are not those of 1.36.

    python -m tests.other_minors 1.35 /path/to/kube-apiserver >tests/golden/apiserver-1.35.yaml

Each row is asked twice: with the feature gates as they are by default, and with all that the reference knows on.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from kueue_dra_clusters.api_client import Answer, APIClient
from kueue_dra_clusters.apiserver import FIXED_FLAGS, ApiServer
from kueue_dra_clusters.binaries import binaries
from kueue_dra_clusters.ports import Ports
from kueue_dra_clusters.processes import Processes
from kueue_dra_clusters.releases import NEWEST
from kueue_dra_clusters.waiting import WaitLimits
from kueue_dra_ref.apiserver import MINORS, Kubernetes
from kueue_dra_ref.apiserver.request_decoding import Decoder
from kueue_dra_ref.apiserver.resource_conversion import to_v1
from kueue_dra_ref.apiserver.schema_claims import is_flat
from kueue_dra_ref.apiserver.schema_slices import schema
from kueue_dra_ref.target import Manifest, Ref
from tests.apiserver import NAMESPACES, Row, labels_of, over, rows, slim

GOLDEN = Path(__file__).parent / "golden"
RECORDED = ("1.32", "1.33", "1.34", "1.35", "1.37")
"""The minors of which there is a record."""
SETS = {"default": False, "all": True}
_NEEDS = {32: ("DynamicResourceAllocation",), 33: ("DynamicResourceAllocation",)}
_ALSO_NEEDS = {37: ("DRAResourcePoolStatus",)}
_WHOLE = (
    r"Invalid value: (?!\")[^:]*?[\[{(].*?: (?=field is immutable|exactly one value must|must have exactly one node)"
)


def minor_of(name: str, gates: str) -> Kubernetes:
    """Give a minor with one of the two sets of gates."""
    k = MINORS[name]
    return k.with_gates(**dict.fromkeys(k.gates, True)) if SETS[gates] else k


def without_addresses(message: str, k: Kubernetes) -> str:
    """Leave whole values out of a message: up to 1.33 they are printed as Go's memory is, addresses included."""
    words = re.sub(r"Invalid value: (null|\[\]): (?=must have exactly one node)", "Invalid value: {}: ", message)
    return message if k.minor > 33 else re.sub(_WHOLE, "Invalid value: ...: ", words, flags=re.DOTALL)


def written(manifest: Manifest, k: Kubernetes) -> Manifest:
    """Write an object in its version, if the minor serves it, or else in the newest that it serves."""
    version = manifest["apiVersion"].rpartition("/")[2]
    if version in k.served:
        return manifest
    target = newest(k)
    made: Manifest = json.loads(json.dumps(manifest)) | {"apiVersion": f"resource.k8s.io/{target}"}
    if is_flat(target) and not is_flat(version):
        flattened(made)
    return made


def newest(k: Kubernetes) -> str:
    """Name the newest version of resource.k8s.io that a minor serves."""
    return max(k.served, key=lambda version: ("alpha" not in version, "beta" not in version, version))


def flattened(manifest: Manifest) -> None:
    """Write an object of v1 in the shape of an earlier version, in place."""
    spec = manifest["spec"] or {}
    if manifest["kind"] == "ResourceSlice" and isinstance(spec.get("devices"), list):
        spec["devices"] = [_boxed(device) for device in spec["devices"]]
    claim = spec.get("spec") or {} if manifest["kind"] == "ResourceClaimTemplate" else spec
    asked = (claim.get("devices") or {}).get("requests") if manifest["kind"].startswith("ResourceClaim") else None
    for request in asked if isinstance(asked, list) else ():
        if isinstance(request, dict) and isinstance(request.get("exactly"), dict):
            request.update(request.pop("exactly"))


def _boxed(device: dict[str, Any]) -> dict[str, Any]:
    name = {key: value for key, value in device.items() if key == "name"}
    return {**name, "basic": {key: value for key, value in device.items() if key != "name"}}


def spec_in_v1(obj: Manifest, k: Kubernetes) -> Any:
    """Give the spec of a stored object in v1's shape, without what says nothing."""
    version = obj["apiVersion"].rpartition("/")[2]
    found = Decoder(k.minor).decoded(obj, schema(obj["kind"], version)) | {"kind": obj["kind"]}
    to_v1(found, version, k)
    return slim(found.get("spec") or {})


def answers(server: ApiServer, k: Kubernetes) -> Iterator[dict[str, Any]]:
    """Ask each row, and give what is answered."""
    objects = APIClient(api=server.api)
    for name in NAMESPACES:
        metadata = {"name": name, "labels": labels_of(name, k)}
        objects.create({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
    yield from ({"case": row.case, **_answer(row, objects, k)} for row in rows())


def _answer(row: Row, objects: APIClient, k: Kubernetes) -> dict[str, Any]:
    answer, stored = ask(objects, written(row.manifest, k), row.before and written(row.before, k), k)
    if not answer.ok:
        return {"code": answer.code, "message": without_addresses(answer.message, k)}
    return {"stored": spec_in_v1(stored, k)}


def ask(objects: APIClient, manifest: Manifest, before: Manifest | None, k: Kubernetes) -> tuple[Answer, Manifest]:
    """Ask an API server about an object, new or over one that it takes; also what is stored then, and leave nothing."""
    ref = Ref.of({**manifest, "apiVersion": f"resource.k8s.io/{newest(k)}"})
    objects.delete(ref)
    if before is None:
        answer = objects.create(manifest)
    else:
        assert objects.create(before).ok
        answer = objects.replace(over(objects.read(ref), manifest))
    stored = objects.read(ref) if answer.ok else None
    objects.delete(ref)
    return answer, stored or {}


def flags(k: Kubernetes, *, on: bool) -> tuple[str, ...]:
    """Give the flags of our control planes, with the gates and the versions of a minor."""
    kept = [flag for flag in FIXED_FLAGS if not flag.startswith(("--feature-gates", "--runtime-config"))]
    gates = [*_NEEDS.get(k.minor, ()), *((*k.gates, *_ALSO_NEEDS.get(k.minor, ())) if on else ())]
    served = ",".join(f"resource.k8s.io/{version}=true" for version in sorted(k.served))
    return (*kept, f"--runtime-config={served}", *[f"--feature-gates={gate}=true" for gate in gates])


def recorded(name: str, binary: Path) -> dict[str, list[dict[str, Any]]]:
    """Ask a binary everything."""
    found, usual = {}, {row.case: row for row in rows()}
    for gates, on in SETS.items():
        k = minor_of(name, gates)
        with ExitStack() as held:
            server = ApiServer(
                programs=replace(binaries(NEWEST), kube_apiserver=binary),
                processes=held.enter_context(Processes()),
                ports=held.enter_context(Ports()),
                limits=WaitLimits(),
                fixed=flags(k, on=on),
            )
            server.await_answer("/readyz")
            found[gates] = [each for each in answers(server, k) if not _is_usual(each, usual[each["case"]])]
    return found


def _is_usual(answer: dict[str, Any], row: Row) -> bool:
    if "stored" in answer:
        return not row.message and (row.stored in ("anything", answer["stored"]))
    return (answer["code"], answer.get("message")) == (row.code, row.message)


def main(name: str, binary: str) -> None:
    """Print what a binary answered."""
    found = recorded(name, Path(binary))
    print(yaml.safe_dump(found, sort_keys=False, default_flow_style=None, width=10_000, allow_unicode=True), end="")


if __name__ == "__main__":
    main(*sys.argv[1:])
