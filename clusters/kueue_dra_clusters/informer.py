"""Informers: a cache of the kinds that Kueue changes, kept up to date by watches, so that waiting needs no requests.

A watch reports the changes of its kind in the order in which they were stored.  So a client that has observed one
change of a Workload has observed every earlier change of any Workload; and a read after a write waits until the cache
has the write.
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
from kubernetes.client import ApiException, CoreV1Api, CustomObjectsApi
from kubernetes.watch import Watch

from kueue_dra_clusters import waiting
from kueue_dra_clusters.api_client import APIClient
from kueue_dra_clusters.fence_objects import KUEUE
from kueue_dra_clusters.waiting import NotYet, TimedOut
from kueue_dra_ref.api.job_kinds import JOB_KINDS
from kueue_dra_ref.api.pod_owners import POD_OWNERS
from kueue_dra_ref.target import Manifest, Ref

Seen = TypeVar("Seen")

TEMPLATE_VERSIONS = (
    "resource.k8s.io/v1",
    "resource.k8s.io/v1beta2",
    "resource.k8s.io/v1beta1",
)
PLURALS = {
    **{(each.api_version, each.name): each.plural for each in JOB_KINDS.values()},
    **{(each.api_version, each.name): each.plural for each in POD_OWNERS.values()},
    (KUEUE, "Workload"): "workloads",
    (KUEUE, "LocalQueue"): "localqueues",
    (KUEUE, "ClusterQueue"): "clusterqueues",
    (KUEUE, "ResourceFlavor"): "resourceflavors",
    **{
        (version, "ResourceClaimTemplate"): "resourceclaimtemplates"
        for version in TEMPLATE_VERSIONS
    },
}
"""The watched kinds; those of Kueue in one version, whatever version they were written in."""

FAULTS = (
    ApiException,
    urllib3.exceptions.HTTPError,
    OSError,
    ValueError,
    KeyError,
    AttributeError,
)
PATIENCE = 0.25  # seconds between checks of the timeout; a change of the cache wakes the waiting thread
AGAIN = 0.1  # seconds until a broken watch is started again
TURN = 1200  # seconds after which a watch is started again with a new list


@dataclass(slots=True)
class Informer:
    """All objects of one kind in one API version."""

    api_version: str
    kind: str
    plural: str
    held: dict[tuple[str, str], Manifest] = field(default_factory=dict)
    revision: int = -1
    """The newest observed resourceVersion; -1 before the first list."""
    watch: Any = field(default_factory=Watch)
    follower: threading.Thread | None = None

    @property
    def group(self) -> str:
        """The API group."""
        group, slash, _ = self.api_version.partition("/")
        return group if slash else ""

    def fill(self, listing: Manifest) -> None:
        """Replace the cache by a list."""
        about = {"apiVersion": self.api_version, "kind": self.kind}
        self.held = {_key(each): {**each, **about} for each in listing["items"]}
        self.revision = int(listing["metadata"]["resourceVersion"])

    def take(self, event: str, changed: Manifest) -> None:
        """Apply one event of a watch; ValueError for an error event."""
        if event == "ERROR":
            raise ValueError(changed.get("message", "the watch ended"))
        if event == "DELETED":
            self.held.pop(_key(changed), None)
        else:
            self.held[_key(changed)] = changed
        self.revision = int(changed["metadata"]["resourceVersion"])


@dataclass(slots=True, kw_only=True)
class InformerCache:
    """Reads and lists as `APIClient` does; for the watched kinds without a request."""

    objects: APIClient
    _informers: dict[tuple[str, str], Informer] = field(default_factory=dict)
    _moved: threading.Condition = field(default_factory=threading.Condition)
    _moves: int = 0
    _noticed: int = 0
    _closed: bool = False

    def read(self, ref: Ref) -> Manifest | None:
        """Give one object, or None."""
        informer = self._informer(ref)
        if informer is None:
            return self.objects.read(ref)
        with self._moved:
            return informer.held.get((ref.namespace, ref.name))

    def watches(self, ref: Ref) -> bool:
        """Whether the kind of an object is watched."""
        return (_version(ref.api_version), ref.kind) in PLURALS

    def list(self, api_version: str, kind: str, namespace: str = "") -> list[Manifest]:
        """Give all objects of a kind, of one namespace or of all."""
        informer = self._informer(
            Ref(api_version=api_version, kind=kind, name="", namespace=namespace)
        )
        if informer is None:
            return self.objects.list(api_version, kind, namespace)
        with self._moved:
            return [
                each
                for (lives, _), each in informer.held.items()
                if namespace in ("", lives)
            ]

    def eventually(
        self, probe: Callable[[], Seen], *, within: float, what: str
    ) -> Seen:
        """Call ``probe`` after each change of the cache until it does not raise `NotYet`; late: `TimedOut`."""
        return waiting.eventually(
            probe,
            within=within,
            what=what,
            every=PATIENCE,
            at_most=PATIENCE,
            pause=self._await_move,
        )

    def close(self) -> None:
        """Stop all watches; nothing can be read afterwards."""
        atexit.unregister(self.close)
        self._closed = True
        # A thread that does not stop in time does not block the exit of the process.
        with contextlib.suppress(TimedOut):
            waiting.eventually(
                self._stop_watches,
                within=self.objects.limits.request,
                what="the watches to end",
            )

    def _stop_watches(self) -> None:
        """Stop every watch again: one that is about to start does not notice an earlier stop."""
        if open_ones := [
            informer
            for informer in self._informers.values()
            if informer.follower and informer.follower.is_alive()
        ]:
            for informer in open_ones:
                informer.watch.stop()
            raise NotYet(", ".join(informer.plural for informer in open_ones))

    def _informer(self, ref: Ref) -> Informer | None:
        """Give the informer of a kind, as new as our own last write; None for a kind that is not watched."""
        if not self.watches(ref):
            return None
        version = _version(ref.api_version)
        informer = self._informers.get((version, ref.kind)) or self._begin(
            version, ref.kind
        )
        wanted = self.objects.written(informer.group, informer.plural)
        if informer.revision < max(wanted, 0):
            self._list(informer, max(wanted, 0))
        return informer

    def _list(self, informer: Informer, wanted: int) -> None:
        def caught_up() -> None:
            if informer.revision < wanted:
                raise NotYet(
                    f"the watch is at revision {informer.revision}, the last write at {wanted}"
                )

        self.eventually(
            caught_up,
            within=self.objects.limits.ready,
            what=f"the watch of {informer.plural}",
        )

    def _begin(self, version: str, kind: str) -> Informer:
        if not self._informers:
            # A watch that outlives the interpreter crashes it with SIGABRT, in C++ of the CEL engine.
            atexit.register(self.close)
        informer = self._informers[version, kind] = Informer(
            version, kind, PLURALS[version, kind]
        )
        informer.follower = threading.Thread(
            target=self._watch,
            args=(informer,),
            name=f"watch {informer.plural}",
            daemon=True,
        )
        informer.follower.start()
        return informer

    def _watch(self, informer: Informer) -> None:
        asked = self.objects.version_asked(informer.api_version)
        lists, watches = self._lister(asked, informer.plural)
        again = threading.Event()
        while not self._closed:
            with contextlib.suppress(*FAULTS):
                self._notify(partial(informer.fill, self.objects.as_ours(lists())))
                events: Iterator[Any] = informer.watch.stream(
                    *watches,
                    resource_version=str(informer.revision),
                    timeout_seconds=TURN,
                    deserialize=False,
                )
                for event in events:
                    changed = self.objects.as_ours(event["object"])
                    self._notify(partial(informer.take, event["type"], changed))
            again.wait(AGAIN)

    def _lister(
        self, version: str, plural: str
    ) -> tuple[Callable[[], Any], tuple[Any, ...]]:
        """Give what lists a kind, and the method that watches it with its arguments; of the core group, only pods."""
        group, slash, number = version.partition("/")
        if not slash:
            watched = CoreV1Api(self.objects.api).list_pod_for_all_namespaces
            path = f"/api/{version}/{plural}"
            return lambda: self.objects.call("GET", path).body, (watched,)
        custom = CustomObjectsApi(self.objects.api).list_cluster_custom_object
        kind = (group, number, plural)
        return partial(custom, *kind), (custom, *kind)

    def _notify(self, change: Callable[[], None]) -> None:
        with self._moved:
            change()
            self._moves += 1
            self._moved.notify_all()

    def _await_move(self, seconds: float) -> None:
        """Wait for a change since the last call, or for so many seconds; fail if the API server or Kueue has exited."""
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
