"""Generated drivers on real components: what the checks and the generated mapping predict is what these decide.

    python -m tests.vendor_agreement stored --seed 1 --objects 2000
    python -m tests.vendor_agreement stored --kubernetes 1.35 --binary PATH    another minor, with your kube-apiserver
    python -m tests.vendor_agreement charged --seed 1 --budget 540
    python -m tests.vendor_agreement published

`stored` asks an API server about classes and slices of the vendors, most of them changed in one to three places:
which it refuses, which fields it drops or does not know, and which versions it serves by default. `charged` gives
drivers of a seed, with the mapping and queues that ``vendor mapping`` writes, to the reference and to a real Kueue.
`published` gives the demos of every data set to a real Kueue, and compares its answers with the files. All print each
difference, and exit with 1 if there is one.
"""

from __future__ import annotations

import argparse
import copy
import itertools
import json
import math
import random
import re
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from kueue_dra_clusters.api_client import Answer, APIClient
from kueue_dra_clusters.apiserver import FIXED_FLAGS, ApiServer
from kueue_dra_clusters.binaries import binaries
from kueue_dra_clusters.controlplane import ControlPlane
from kueue_dra_clusters.live_target import LiveTarget
from kueue_dra_clusters.ports import Ports
from kueue_dra_clusters.processes import Processes
from kueue_dra_clusters.releases import NEWEST
from kueue_dra_clusters.waiting import WaitLimits
from kueue_dra_ref.api.conditions import message_of
from kueue_dra_ref.apiserver import MINORS, Kubernetes
from kueue_dra_ref.apiserver.schema_claims import is_flat
from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.target import Manifest, Ref, Target
from kueue_dra_ref.verdict import verdict
from kueue_dra_vendor.admissions import STORED, DemoAnswer, VendorAnswer
from kueue_dra_vendor.checks_served import GATES
from kueue_dra_vendor.demos import Demo, submitted
from kueue_dra_vendor.files import INVALID, VendorFiles, VendorObject, load
from kueue_dra_vendor.inventory import Inventory
from kueue_dra_vendor.mapping import KUEUE, documents, mapped, queues
from tests.commands import kueue_dra
from tests.generated_drivers import GeneratedDriver, a_generated_driver
from tests.object_grammar import Grammar
from tests.other_minors import flattened
from tests.vendor_examples import DATA_SETS, answered, expected, in_words

UNCHANGED = 0.2
"""How often an object is as the vendor publishes it."""
STRICT = re.compile(r'unknown field "([^"]+)"')
ENOUGH = "4Ei"
QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
TOGETHER = 5
"""How many drivers one Kueue has at once: Kueue takes at most 16 mappings."""
DEMOS = 4
"""How many times the usual number of demos each driver has where charges are compared."""
ORDERS = 120
"""How many orders of the slices are tried to explain a difference."""
COMPILE = "does not compile, or costs too much"
GROUP = "resource.k8s.io"
Facts = dict[str, set[tuple[str, ...]]]
"""By what is claimed: the objects, each with what is claimed of it."""


def generated_objects(source: random.Random, number: int, versions: Sequence[str]) -> Iterator[Manifest]:
    """Give classes and slices of the vendors, most of them with one to three changes, each with a name of its own."""
    published = list(_published())
    grammar = Grammar(source, published)
    for index in range(number):
        made = copy.deepcopy(source.choice(published))
        version = source.choice(versions)
        made["apiVersion"] = f"{GROUP}/{version}"
        if is_flat(version):
            flattened(made)
        if source.random() > UNCHANGED:
            made = grammar.wrong(made)
        made["metadata"]["name"] = f"generated-{index}"
        yield made


def _published() -> Iterator[Manifest]:
    for data_set in DATA_SETS:
        for file in ("classes.yaml", "slices.yaml"):
            for each in yaml.safe_load_all((data_set / file).read_text("utf-8")):
                yield each | {"apiVersion": f"{GROUP}/v1"}


def predicted(objects: Sequence[Manifest], minor: str) -> Facts:
    """Run the checks over one file of JSON per object: some values have no form in YAML that reads back the same."""
    with tempfile.TemporaryDirectory() as folder:
        for each in objects:
            (Path(folder) / f"{_name(each)}.json").write_text(json.dumps(each))
        done = kueue_dra("vendor", "check", folder, "--kubernetes", minor, "-o", "json")
    facts: Facts = defaultdict(set)
    for each in json.loads(done.stdout)["findings"]:
        name = each["object"].rpartition(" ")[2]
        _note(facts, each["check"], name, each["text"])
    return facts


def _note(facts: Facts, check: str, name: str, text: str) -> None:
    if check == "VENDOR-001":
        facts["refused"].add((name,))
    elif check == "VENDOR-013" or (check == "VENDOR-002" and "ailed" in text):
        facts[COMPILE].add((name,))
    elif check == "VENDOR-017":
        facts["unknown"].add((name, text.partition("the field ")[2].partition(" in ")[0]))
    elif check == "VENDOR-018" and "does not have it" in text:
        facts["unknown"].add((name, text.partition(" is dropped")[0]))
    elif check == "VENDOR-018":
        facts["dropped"].add((name, text.partition(" is dropped")[0]))
    elif check == "VENDOR-019":
        facts["not served by default"].add((name,))


@dataclass(slots=True, kw_only=True)
class ServerFacts:
    """What an API server says of objects, each asked about with dry runs."""

    client: APIClient
    kubernetes: Kubernetes

    def of(self, objects: Sequence[Manifest], claims: Facts) -> Facts:
        """Ask about each object; of some claims only whether they hold."""
        found: Facts = defaultdict(set)
        for each in objects:
            self._ask(each, found)
        found[COMPILE] = {one for one in claims[COMPILE] if one in found["refused"]}
        return found

    def _ask(self, manifest: Manifest, found: Facts) -> None:
        name = _name(manifest)
        answered = self._post(manifest, "Ignore")
        if not answered.ok:
            found["refused"].add((name,))
        if not answered.ok and answered.code != INVALID:
            return
        unknown = set(STRICT.findall(self._post(manifest, "Strict").message))
        found["unknown"] |= {(name, path) for path in unknown}
        if not answered.ok:
            return
        if manifest["apiVersion"].rpartition("/")[2] not in self.kubernetes.served_by_default:
            found["not served by default"].add((name,))
        written, stored = _gated(manifest.get("spec")), _gated(answered.body.get("spec"))
        fields = {path.rpartition(".")[2] for path in unknown}
        off = [key for key in written if key not in fields and not self.kubernetes.on(GATES[key])]
        dropped = [key for key in off if stored[key] < written[key]]
        found["dropped"] |= {(name, key) for key in dropped}

    def _post(self, manifest: Manifest, validation: str) -> Answer:
        path = self.client.path(Ref.of(manifest), collection=True)
        return self.client.call("POST", f"{path}?dryRun=All&fieldValidation={validation}", manifest)


def _gated(value: Any) -> Counter[str]:
    """Count the fields behind a gate that are set."""
    found: Counter[str] = Counter()
    if isinstance(value, list):
        for each in value:
            found += _gated(each)
    elif isinstance(value, dict):
        for key, inside in value.items():
            if key in GATES and inside not in (None, [], False):
                found[key] += 1
            found += _gated(inside)
    return found


def _name(manifest: Manifest) -> str:
    return str(manifest["metadata"]["name"])


@contextmanager
def an_api_server(kubernetes: Kubernetes, binary: Path | None = None) -> Iterator[APIClient]:
    """Run an API server with the feature gates that it has by default, and every version that it can serve."""
    fixed = [each for each in FIXED_FLAGS if not each.startswith(("--feature-gates", "--runtime-config"))]
    served = ",".join(f"{GROUP}/{version}=true" for version in sorted(kubernetes.served))
    programs = binaries(NEWEST)
    if binary:
        programs = replace(programs, kube_apiserver=binary)
    with ExitStack() as held:
        server = ApiServer(
            programs=programs,
            processes=held.enter_context(Processes()),
            ports=held.enter_context(Ports()),
            limits=WaitLimits(),
            fixed=(*fixed, f"--runtime-config={served}"),
        )
        server.await_answer("/readyz")
        yield APIClient(api=server.api)


def stored(options: argparse.Namespace) -> list[str]:
    """Ask one API server about generated objects."""
    kubernetes = MINORS[options.kubernetes]
    objects = list(generated_objects(random.Random(options.seed), options.objects, sorted(kubernetes.served)))
    with an_api_server(kubernetes, options.binary) as client:
        lines, numbers = disagreements(objects, kubernetes, client)
    for claim, number in sorted(numbers.items()):
        print(f"Kubernetes {options.kubernetes}: {number} {claim}, of {len(objects)} objects")
    return lines


def disagreements(
    objects: Sequence[Manifest], kubernetes: Kubernetes, client: APIClient
) -> tuple[list[str], dict[str, int]]:
    """Name what a check claims and an API server does not confirm, and the reverse; count what it confirms."""
    claims = predicted(objects, kubernetes.name)
    asked = ServerFacts(client=client, kubernetes=kubernetes).of(objects, claims)
    lines = []
    for claim in sorted({*claims, *asked}):
        lines += [f"{claim}: only the check: {each}" for each in sorted(claims[claim] - asked[claim])]
        lines += [f"{claim}: only the API server: {each}" for each in sorted(asked[claim] - claims[claim])]
    return lines, {claim: len(found) for claim, found in asked.items()}


def published(_: argparse.Namespace) -> list[str]:
    """Give the demos of every data set to a real Kueue, with the mapping and queues that are written for them."""
    lines, demos = [], 0
    with ControlPlane() as plane:
        target = LiveTarget(plane)
        for data_set in DATA_SETS:
            found, wanted = answered(data_set, target), expected(data_set).demos
            lines += [f"{data_set.name}: rejected: {each}" for each in found.rejections]
            for demo in found.demos:
                demos += 1
                if in_words(demo) != wanted.get(demo.demo):
                    lines.append(f"{data_set.name}: {demo.demo}: {in_words(demo)}; expected {wanted.get(demo.demo)}")
            target.clean()
        target.close()
    print(f"{len(DATA_SETS)} data sets, {demos} demos, each decided by a real Kueue 0.19")
    return lines


@dataclass(slots=True, kw_only=True)
class Tally:
    """How much was compared."""

    drivers: int = 0
    objects: int = 0
    demos: int = 0
    by_chance: int = 0
    """Demos that are decided as predicted with another order of the slices."""
    charged: Counter[str] = field(default_factory=Counter)
    """Demos that are charged, by what kind of mapping."""

    def count(self, question: Question, found: VendorAnswer) -> None:
        """Add what a target was asked, and what it charged."""
        self.objects += len(question.files.classes) + len(question.files.slices)
        for demo in found.demos:
            self.demos += 1
            self.charged.update({question.ways[each] for each in demo.amounts if each in question.ways})

    def __str__(self) -> str:
        kinds = ", ".join(f"{count} by {kind}" for kind, count in sorted(self.charged.items()))
        numbers = f"{self.drivers} drivers, {self.objects} classes and slices, {self.demos} demos"
        return f"{numbers}; charges: {kinds}; {self.by_chance} demos decided by the order of slices"


def charged(options: argparse.Namespace) -> list[str]:
    """Give generated drivers to the reference and to a real Kueue until the budget is spent, and compare."""
    source, tally, lines = random.Random(options.seed), Tally(), list[str]()
    ends = time.monotonic() + options.budget
    with ControlPlane() as plane:
        target = LiveTarget(plane)
        while time.monotonic() < ends:
            found = compared(some_drivers(source, TOGETHER, DEMOS), target, tally)
            lines += [f"seed {options.seed}, up to driver {tally.drivers}: {each}" for each in found]
            target.clean()
            print(f"seed {options.seed}: {tally}", file=sys.stderr, flush=True)
        target.close()
    print(f"seed {options.seed}: {tally}")
    return lines


def some_drivers(source: random.Random, number: int, times: int = 1) -> list[GeneratedDriver]:
    """Generate drivers with names of their own, that can be installed together; more ``times``, more demos."""
    return [a_generated_driver(source, f"d{index}-", times) for index in range(number)]


def compared(drivers: Sequence[GeneratedDriver], target: Target, tally: Tally) -> list[str]:
    """Let the reference and a target decide about the Jobs of drivers, and name what they decide differently.

    The target has all drivers at once; so has the reference. A difference that another order of the slices explains
    is looked for in one driver alone.
    """
    question = a_question(drivers)
    tally.drivers += len(drivers)
    if not question:
        return []
    theirs = question.of(target)
    tally.count(question, theirs)
    ours = question.of(ReferenceTarget(behaviour()))
    found = [f"rejected by one only: {each}" for each in rejected_by_one(ours, theirs)]
    for one, other in zip(ours.demos, theirs.demos, strict=True):
        if one.agrees(other):
            continue
        alone = files_of(list(with_demo_only(drivers, other.demo)))
        if replace(question, files=alone).explains(other):
            tally.by_chance += 1
        else:
            found.append(f"{one.demo}: predicted {_worded(one)}; Kueue {_worded(other)}")
    return found


def with_demo_only(drivers: Sequence[GeneratedDriver], title: str) -> Iterator[GeneratedDriver]:
    """Give the driver whose Job a demo is, without its other Jobs."""
    for driver in drivers:
        if jobs := [each for each in driver.jobs if _name(each) == title.rpartition("/")[2]]:
            yield replace(driver, jobs=jobs)


def files_of(drivers: Sequence[GeneratedDriver]) -> VendorFiles:
    """Give what drivers publish as the files of one vendor."""
    with tempfile.TemporaryDirectory() as folder:
        manifests = [each for driver in drivers for each in driver.manifests]
        (Path(folder) / "driver.yaml").write_text(yaml.safe_dump_all(manifests))
        return load([Path(folder)], "1.36")


def a_question(drivers: Sequence[GeneratedDriver]) -> Question | None:
    """Give what is asked about drivers together, with the mapping that is written for them; None without one."""
    files = files_of(drivers)
    inventory = Inventory.of(files)
    declared = {name: way for driver in drivers for name, way in driver.declared.items()}
    chosen, _ = mapped(inventory, declared)
    if not chosen:
        return None
    configuration, *_ = documents(inventory, chosen)
    resources = {each.resource: each.nominal for each in chosen}
    ways = {each.resource: next(iter(each.source), "count") for each in chosen}
    return Question(files=files, configuration=configuration, queues=ample(queues(inventory, resources)), ways=ways)


def ample(queues: Sequence[Manifest]) -> Sequence[Manifest]:
    """Give queues whose quota all demos together do not exceed, so that each charge is seen."""
    for each in queues:
        if each["kind"] == "ClusterQueue":
            for flavor in each["spec"]["resourceGroups"][0]["flavors"]:
                for quota in flavor["resources"]:
                    quota["nominalQuota"] = ENOUGH
    return queues


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What the reference and a target are asked about."""

    files: VendorFiles
    configuration: Manifest
    queues: Sequence[Manifest]

    ways: Mapping[str, str]
    """By resource: count, counter or capacity."""

    def of(self, target: Target) -> VendorAnswer:
        """Let a target decide about all demos at once: there is quota for all, so that each charge is seen."""
        assert not target.start(self.configuration)
        demos = list(submitted(self.files))
        queues = one_each(self.queues, demos)
        objects = [*queues, *(each.document.manifest for kind in STORED for each in self.files.of(kind))]
        rejections = target.apply(objects)
        refused = {str(each.ref): each.message for each in target.apply([each.manifest for each in demos])}
        target.settle()
        found = {name: each for each in target.list(KUEUE, "Workload") for name in _owners(each)}
        answers = tuple(_answer(each, found, refused) for each in demos)
        return VendorAnswer(rejections=tuple(rejections), demos=answers)

    def explains(self, theirs: DemoAnswer) -> bool:
        """Whether a demo is decided so with some order of the slices.

        Kueue reads slices in the order of its cache, which is another one each time, and stops once enough devices
        match: where a selector fails on some devices, the order decides.
        """
        for files in _orders(self.files):
            ours = replace(self, files=files).of(ReferenceTarget(behaviour()))
            if any(each.demo == theirs.demo and each.agrees(theirs) for each in ours.demos):
                return True
        return False


def one_each(queues: Sequence[Manifest], demos: Sequence[Demo]) -> Iterator[Manifest]:
    """Give each demo queues of its own: Jobs of one ClusterQueue are created a second apart, for their order."""
    for queue in queues:
        if queue["kind"] not in ("ClusterQueue", "LocalQueue"):
            yield queue
    (shared,) = (each for each in queues if each["kind"] == "ClusterQueue")
    (local,) = (each for each in queues if each["kind"] == "LocalQueue")
    for index, demo in enumerate(demos):
        name = f"queue-{index}"
        demo.manifest["metadata"]["labels"][QUEUE_LABEL] = name
        yield {**shared, "metadata": {**shared["metadata"], "name": name}}
        yield {**local, "metadata": {**local["metadata"], "name": name}, "spec": {"clusterQueue": name}}


def _owners(workload: Manifest) -> list[str]:
    return [str(each["name"]) for each in workload["metadata"].get("ownerReferences") or ()]


def _answer(demo: Demo, workloads: Mapping[str, Manifest], refused: Mapping[str, str]) -> DemoAnswer:
    ref = Ref.of(demo.manifest)
    workload = workloads.get(ref.name)
    if message := refused.get(str(ref)):
        return DemoAnswer(demo=demo.title, message=message)
    if workload is None:
        return DemoAnswer(demo=demo.title, message="Kueue creates no Workload")
    return DemoAnswer(demo=demo.title, verdict=verdict(workload), message=message_of(workload, "QuotaReserved"))


def _orders(files: VendorFiles) -> Iterator[VendorFiles]:
    """Give the files with their slices in up to `ORDERS` other orders: the reference reads them by name."""
    slices = files.slices
    others = tuple(each for each in files.objects if each.kind != "ResourceSlice")
    for order in _permutations(len(slices)):
        renamed = [_renamed(slices[index], f"slice-{place}") for place, index in enumerate(order)]
        yield replace(files, objects=(*others, *renamed), _by_kind={})


def _permutations(number: int) -> Iterator[Sequence[int]]:
    """Give all orders of a few; of more, `ORDERS` of a fixed seed, which begin with any of them."""
    if math.factorial(number) <= ORDERS:
        yield from itertools.permutations(range(number))
        return
    source, order = random.Random(number), list(range(number))
    for _ in range(ORDERS):
        source.shuffle(order)
        yield tuple(order)


def _renamed(slice_: VendorObject, name: str) -> VendorObject:
    manifest = {**slice_.document.manifest, "metadata": {"name": name}}
    return replace(slice_, name=name, document=replace(slice_.document, manifest=manifest))


def rejected_by_one(ours: VendorAnswer, theirs: VendorAnswer) -> list[str]:
    """Name the objects that one of two targets rejects."""
    return sorted({str(each.ref) for each in ours.rejections} ^ {str(each.ref) for each in theirs.rejections})


def _worded(demo: DemoAnswer) -> str:
    return f"{demo.word} {demo.amounts or demo.message}"


COMPARISONS = {"stored": stored, "charged": charged, "published": published}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.vendor_agreement")
    parser.add_argument("what", choices=list(COMPARISONS))
    parser.add_argument("--seed", type=int, default=20261126)
    parser.add_argument("--objects", type=int, default=2000)
    parser.add_argument("--kubernetes", default="1.36", choices=list(MINORS))
    parser.add_argument("--binary", type=Path)
    parser.add_argument("--budget", type=float, default=540.0)
    return parser.parse_args()


def main() -> None:
    """Run one of the two comparisons."""
    options = _options()
    lines = COMPARISONS[options.what](options)
    for each in lines:
        print(each)
    print(f"{len(lines)} disagreements")
    sys.exit(1 if lines else 0)


if __name__ == "__main__":
    main()
