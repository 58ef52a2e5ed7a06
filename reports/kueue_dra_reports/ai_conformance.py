"""What a report says of CNCF's Kubernetes AI conformance (checklist 1.37), and what it does not prove."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kueue_dra_ref.explain.step import named
from kueue_dra_reports.document import Report, RequirementEntry
from kueue_dra_reports.wording import subject

CHECKLIST = "v1.37"
FILES = ("e2e.log", "junit.xml", "results.json")
DECIDED = ("proven", "failed", "questioned")
NO_ENTRY = "The checklist of Kubernetes 1.37 has no entry for it; those of 1.33 to 1.36 have dra_support."


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """A requirement of the programme: which of ours concern it, what they show, and what they do not prove."""

    id: str
    category: str
    level: str
    title: str
    ours: Sequence[str]
    """Requirements by ID, or all of a heading."""
    shows: str
    unproven: str


TOPICS = (
    Topic(
        id="gang_scheduling",
        category="schedulingOrchestration",
        level="MUST",
        title="Gang scheduling",
        ours=("COUNT-006", "COUNT-011", "EXT-027", "QUOTA-001", "QUOTA-002", "QUOTA-003"),
        shows="Kueue reserves quota for the devices of all pods of a workload, or admits no pod of it.",
        unproven="That the pods of an admitted workload start together on nodes: the cases observe admission, and "
        "their Jobs start no pods.",
    ),
    Topic(
        id="gpu_sharing",
        category="accelerators",
        level="SHOULD",
        title="Sharing of accelerators",
        ours=("COUNTER", "CAPACITY", "SOURCE"),
        shows="Kueue charges partitions by their counters, and shares of a device by their capacity.",
        unproven="That an accelerator of the platform is partitioned or shared: the cases publish their own devices.",
    ),
    Topic(
        id="robust_controller",
        category="operator",
        level="MUST",
        title="Robust controller",
        ours=("OBJECT", "QUEUE", "STATUS", "WORK"),
        shows="Kueue's CRDs and webhooks accept and deny objects as its release does, and Kueue reconciles them.",
        unproven="That the pods of Kueue restart and recover, and anything about another operator, such as KubeRay.",
    ),
    Topic(
        id="dra_support",
        category="",
        level="",
        title="Dynamic Resource Allocation",
        ours=("CLAIM", "COUNT", "DET", "MAP"),
        shows="The API server serves claims and templates, and Kueue counts their devices.",
        unproven="That a driver allocates devices and that containers get them.",
    ),
)  # fmt: skip


def requirements_of(topic: Topic, report: Report) -> Sequence[RequirementEntry]:
    """Give our requirements that concern a topic and that the run decided."""
    found = []
    for one in report["requirements"]:
        names = (one["id"], one["id"].rpartition("-")[0])
        if one["verdict"] in DECIDED and any(name in topic.ours for name in names):
            found.append(one)
    return found


def spoken_to(report: Report) -> Sequence[Topic]:
    """Give the topics about which the run decided something."""
    return [topic for topic in TOPICS if requirements_of(topic, report)]


def has_failed(topic: Topic, report: Report) -> bool:
    """Whether one of our requirements does not hold."""
    return any(one["verdict"] != "proven" for one in requirements_of(topic, report))


def file_of(topic: Topic) -> str:
    """Give the name of the page about a topic."""
    return f"{topic.id}.md"


def sentence(topic: Topic, report: Report) -> str:
    """Say how many of our requirements hold, and which do not."""
    mine = requirements_of(topic, report)
    counts = Counter(one["verdict"] for one in mine)
    text = f"{counts['proven']} of {named(len(mine), 'requirement')} proven on {subject(report)}"
    wrong = [one["id"] for one in mine if one["verdict"] != "proven"]
    return f"{text}; not: {', '.join(wrong)}" if wrong else text


def notes(topic: Topic, report: Report) -> str:
    """Give the notes of an entry: what was found, and what the vendor has to prove otherwise."""
    return f"{topic.shows} {sentence(topic, report)}. Not proven: {topic.unproven}"


def entry(topic: Topic, report: Report) -> dict[str, Any]:
    """Give the fields of an entry that a vendor fills in; the status is the vendor's claim, so it stays empty."""
    return {
        "status": "",
        "evidence": [*FILES, file_of(topic)],
        "notes": notes(topic, report),
    }


def fragment(report: Report) -> dict[str, Any]:
    """Give the part of a PRODUCT.yaml that the report speaks to."""
    spec: dict[str, list[dict[str, Any]]] = {}
    for topic in spoken_to(report):
        if topic.category:
            head = {"id": topic.id, "level": topic.level}
            entries = spec.setdefault(topic.category, [])
            entries.append({**head, **entry(topic, report)})
    return {"metadata": {"kubernetesVersion": CHECKLIST}, "spec": spec}


def filled(product: dict[str, Any], report: Report) -> dict[str, Any]:
    """Fill in a PRODUCT.yaml or a checklist: evidence is added, notes and a status that are there remain.

    Raises:
        KeyError: the document has no such entry; its argument is the place.

    """
    for topic in spoken_to(report):
        if topic.category:
            found = _entry_in(product, topic)
            new = entry(topic, report)
            old = found.get("evidence") or []
            found["evidence"] = list(dict.fromkeys([*old, *new["evidence"]]))
            found["notes"] = found.get("notes") or new["notes"]
    return product


def _entry_in(product: Mapping[str, Any], topic: Topic) -> dict[str, Any]:
    spec = product.get("spec")
    entries = spec.get(topic.category) if isinstance(spec, dict) else None
    for one in entries if isinstance(entries, list) else ():
        if isinstance(one, dict) and one.get("id") == topic.id:
            return one
    raise KeyError(f"spec.{topic.category}[id={topic.id}]")


def page(topic: Topic, report: Report) -> str:
    """Give the page about a topic."""
    return "\n".join(_lines(topic, report)) + "\n"


def _lines(topic: Topic, report: Report) -> Iterator[str]:
    yield f"# {topic.title}"
    yield ""
    if topic.category:
        yield f"Requirement `{topic.id}` ({topic.level}) of Kubernetes AI Conformance {CHECKLIST}."
    else:
        yield NO_ENTRY
    yield ""
    yield f"**Shown:** {topic.shows} {sentence(topic, report)}."
    yield ""
    yield f"**Not proven by this:** {topic.unproven}"
    yield ""
    yield "| Requirement | Level | Result | Cases |"
    yield "| --- | --- | --- | --: |"
    for one in requirements_of(topic, report):
        number = len(one["cases"])
        text = one["text"].replace("|", "\\|")
        yield f"| {one['id']}: {text} | {one['level']} | {one['verdict']} | {number} |"
    yield ""
    command = report["target"]["reproduce"]["command"]
    yield f"To repeat it: `{command}`. The cases are in {', '.join(FILES)}."
