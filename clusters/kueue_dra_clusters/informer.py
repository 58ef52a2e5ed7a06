"""What an API server holds of the kinds that Kueue moves, kept up to date by watches: who waits asks it nothing.

A watch tells the changes of its kind in the order in which they were stored.  So whoever has seen one change of a
Workload in the mirror has seen every earlier change of any Workload; and who has written an object is answered only
when the mirror has come as far.
"""

from __future__ import annotations

import atexit
import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import urllib3
from kubernetes.client import ApiException, CustomObjectsApi
from kubernetes.watch import Watch

from kueue_dra_clusters import waiting
from kueue_dra_clusters.api_client import APIClient
from kueue_dra_clusters.fence_objects import KUEUE
from kueue_dra_clusters.waiting import NotYet, TimedOut
from kueue_dra_ref.target import Manifest, Ref

Seen = TypeVar("Seen")

TEMPLATE_VERSIONS = (
    "resource.k8s.io/v1",
    "resource.k8s.io/v1beta2",
    "resource.k8s.io/v1beta1",
)
PLURALS = {
    ("batch/v1", "Job"): "jobs",
    (KUEUE, "Workload"): "workloads",
    (KUEUE, "LocalQueue"): "localqueues",
    (KUEUE, "ClusterQueue"): "clusterqueues",
    (KUEUE, "ResourceFlavor"): "resourceflavors",
    **{
        (version, "ResourceClaimTemplate"): "resourceclaimtemplates"
        for version in TEMPLATE_VERSIONS
    },
}
"""The kinds that are watched; those of Kueue in one version whatever version they were written in."""

FAULTS = (
    ApiException,
    urllib3.exceptions.HTTPError,
    OSError,
    ValueError,
    KeyError,
    AttributeError,
)
PATIENCE = 0.25  # seconds: a change wakes who waits, so this is only how often time itself is looked at
AGAIN = 0.1  # seconds until a watch that broke is begun anew
TURN = 1200  # seconds after which a watch is begun anew, by a new listing


@dataclass(slots=True)
class Informer:
    """All objects of one kind, as they are in the version that they are held in."""

    api_version: str
    kind: str
    plural: str
    held: dict[tuple[str, str], Manifest] = field(default_factory=dict)
    revision: int = -1
    """How far the API server's history has been followed; -1 before the first listing has come."""
    watch: Any = field(default_factory=Watch)
    follower: threading.Thread | None = None

    @property
    def group(self) -> str:
        """The API group."""
        return self.api_version.partition("/")[0]

    def fill(self, listing: Manifest) -> None:
        """Hold exactly what a listing names."""
        about = {"apiVersion": self.api_version, "kind": self.kind}
        self.held = {_key(each): {**each, **about} for each in listing["items"]}
        self.revision = int(listing["metadata"]["resourceVersion"])

    def take(self, event: str, told: Manifest) -> None:
        """Follow one event of a watch; ValueError for one that says that the watch is no good any more."""
        if event == "ERROR":
            raise ValueError(told.get("message", "the watch ended"))
        if event == "DELETED":
            self.held.pop(_key(told), None)
        else:
            self.held[_key(told)] = told
        self.revision = int(told["metadata"]["resourceVersion"])


@dataclass(slots=True, kw_only=True)
class InformerCache:
    """Reads and lists as `Objects` does, and of the kinds that it watches without a request."""

    objects: APIClient
    _shelves: dict[tuple[str, str], Informer] = field(default_factory=dict)
    _moved: threading.Condition = field(default_factory=threading.Condition)
    _moves: int = 0
    _noticed: int = 0
    _closed: bool = False

    def read(self, ref: Ref) -> Manifest | None:
        """Give one object, or None."""
        shelf = self._shelf(ref)
        if shelf is None:
            return self.objects.read(ref)
        with self._moved:
            return shelf.held.get((ref.namespace, ref.name))

    def watches(self, ref: Ref) -> bool:
        """Whether an object is of a kind that is watched."""
        return (_version(ref.api_version), ref.kind) in PLURALS

    def list(self, api_version: str, kind: str, namespace: str = "") -> list[Manifest]:
        """Give all objects of a kind, of one namespace or of all."""
        shelf = self._shelf(
            Ref(api_version=api_version, kind=kind, name="", namespace=namespace)
        )
        if shelf is None:
            return self.objects.list(api_version, kind, namespace)
        with self._moved:
            return [
                each
                for (lives, _), each in shelf.held.items()
                if namespace in ("", lives)
            ]

    def eventually(
        self, probe: Callable[[], Seen], *, within: float, what: str
    ) -> Seen:
        """Ask ``probe`` again whenever something has changed until it does not raise `NotYet`; late: `TimedOut`."""
        return waiting.eventually(
            probe,
            within=within,
            what=what,
            every=PATIENCE,
            at_most=PATIENCE,
            pause=self._await_move,
        )

    def close(self) -> None:
        """End all watches; nothing can be read from here on."""
        atexit.unregister(self.close)
        self._closed = True
        with contextlib.suppress(
            TimedOut
        ):  # its thread does not keep the process from ending
            waiting.eventually(
                self._must_have_ended,
                within=self.objects.limits.request,
                what="the watches to end",
            )

    def _must_have_ended(self) -> None:
        """Stop every watch once more: one that was just about to begin does not hear of it."""
        if open_ones := [
            shelf
            for shelf in self._shelves.values()
            if shelf.follower and shelf.follower.is_alive()
        ]:
            for shelf in open_ones:
                shelf.watch.stop()
            raise NotYet(", ".join(shelf.plural for shelf in open_ones))

    def _shelf(self, ref: Ref) -> Informer | None:
        """Give the shelf of a kind, as new as what we ourselves have written; None for a kind that is not watched."""
        if not self.watches(ref):
            return None
        version = _version(ref.api_version)
        shelf = self._shelves.get((version, ref.kind)) or self._begin(version, ref.kind)
        wanted = self.objects.written(shelf.group, shelf.plural)
        if shelf.revision < max(wanted, 0):
            self._list(shelf, max(wanted, 0))
        return shelf

    def _list(self, shelf: Informer, wanted: int) -> None:
        def caught_up() -> None:
            if shelf.revision < wanted:
                raise NotYet(
                    f"the watch is at revision {shelf.revision}, what was written at {wanted}"
                )

        self.eventually(
            caught_up,
            within=self.objects.limits.ready,
            what=f"the watch of {shelf.plural}",
        )

    def _begin(self, version: str, kind: str) -> Informer:
        if not self._shelves:
            atexit.register(
                self.close
            )  # a watch that outlives the interpreter ends it with SIGABRT, in C++ of the CEL engine
        shelf = self._shelves[version, kind] = Informer(
            version, kind, PLURALS[version, kind]
        )
        shelf.follower = threading.Thread(
            target=self._watch,
            args=(shelf,),
            name=f"watch {shelf.plural}",
            daemon=True,
        )
        shelf.follower.start()
        return shelf

    def _watch(self, shelf: Informer) -> None:
        listed = CustomObjectsApi(self.objects.api).list_cluster_custom_object
        group, _, version = self.objects.version_asked(shelf.api_version).partition("/")
        again = threading.Event()
        while not self._closed:
            with contextlib.suppress(*FAULTS):
                listing: Any = listed(group, version, shelf.plural)
                self._notify(partial(shelf.fill, self.objects.as_ours(listing)))
                events: Iterator[Any] = shelf.watch.stream(
                    listed,
                    group,
                    version,
                    shelf.plural,
                    resource_version=str(shelf.revision),
                    timeout_seconds=TURN,
                    deserialize=False,
                )
                for event in events:
                    self._notify(
                        partial(
                            shelf.take,
                            event["type"],
                            self.objects.as_ours(event["object"]),
                        )
                    )
            again.wait(AGAIN)

    def _notify(self, change: Callable[[], None]) -> None:
        with self._moved:
            change()
            self._moves += 1
            self._moved.notify_all()

    def _await_move(self, seconds: float) -> None:
        """Return after a change that nobody was woken for yet, or after so many seconds; fail where none can come."""
        with self._moved:
            moved = self._moved.wait_for(
                lambda: self._moves != self._noticed, timeout=seconds
            )
            self._noticed = self._moves
        if not moved:
            self.objects.alive()


def _version(api_version: str) -> str:
    return (
        KUEUE if api_version.startswith(KUEUE.partition("/")[0] + "/") else api_version
    )


def _key(manifest: Manifest) -> tuple[str, str]:
    meta = manifest["metadata"]
    return meta.get("namespace", ""), meta["name"]
