"""The informer cache of an API server: its contents, and when they change."""

from __future__ import annotations

import threading

import pytest

from kueue_dra_clusters.api_client import APIClient
from kueue_dra_clusters.controlplane import ControlPlane
from kueue_dra_clusters.informer import Informer, InformerCache
from kueue_dra_clusters.live_target import LiveTarget
from kueue_dra_clusters.waiting import NotYet, TimedOut
from kueue_dra_ref.target import Manifest, Ref
from tests.clusters_live.manifests import KUEUE, an_object

FLAVOR = Ref(api_version=KUEUE, kind="ResourceFlavor", name="mirrored")


def a_shelf(*versions: int) -> Informer:
    """Give a shelf that has just been filled with one flavor for each resourceVersion."""
    shelf = Informer(KUEUE, "ResourceFlavor", "resourceflavors")
    items = [{key: each[key] for key in ("metadata",)} for each in map(a_flavor, versions)]
    shelf.fill({"metadata": {"resourceVersion": "10"}, "items": items})
    return shelf


def a_flavor(version: int) -> Manifest:
    """Give a stored flavor that is named after its resourceVersion."""
    flavor = an_object(KUEUE, "ResourceFlavor", f"f{version}")
    flavor["metadata"]["resourceVersion"] = str(version)
    return flavor


def test_a_listing_is_held_with_the_kind_that_its_items_do_not_name() -> None:
    """Items of a list name neither version nor kind."""
    shelf = a_shelf(3, 4)

    assert shelf.revision == 10
    assert shelf.held["", "f3"] == {**a_flavor(3), "apiVersion": KUEUE, "kind": "ResourceFlavor"}


@pytest.mark.parametrize(
    ("event", "names"),
    [
        pytest.param("ADDED", ["f12", "f3"], id="added"),
        pytest.param("MODIFIED", ["f12", "f3"], id="modified"),
        pytest.param("DELETED", ["f3"], id="deleted"),
    ],
)
def test_events_are_followed(event: str, names: list[str]) -> None:
    """Each event brings the shelf as far as its resourceVersion."""
    shelf = a_shelf(3)

    shelf.take(event, a_flavor(12))

    assert sorted(name for _, name in shelf.held) == names
    assert shelf.revision == 12


def test_a_watch_that_ends_in_an_error_is_no_event() -> None:
    """Expired history has to be listed again."""
    with pytest.raises(ValueError, match="too old resource version"):
        a_shelf(3).take("ERROR", {"message": "too old resource version"})


@pytest.mark.live
def test_what_we_wrote_is_there_at_the_next_look(plane: ControlPlane, target: LiveTarget) -> None:
    """A write returns only after the watch has caught up."""
    informers = InformerCache(objects=APIClient(api=plane.api))
    for turn in range(20):
        informers.objects.create(an_object(KUEUE, "ResourceFlavor", FLAVOR.name, spec={}))
        assert informers.read(FLAVOR) is not None, turn
        changed = informers.objects.patch(FLAVOR, {"metadata": {"annotations": {"turn": str(turn)}}})
        assert informers.read(FLAVOR) == changed.body, turn
        informers.objects.delete(FLAVOR)
        informers.eventually(lambda: _must_be_gone(informers), within=10, what="the deleted flavor to be gone")
    informers.close()


@pytest.mark.live
def test_a_watch_that_breaks_is_begun_anew(plane: ControlPlane, target: LiveTarget) -> None:
    """Changes that were missed meanwhile are listed."""
    informers = InformerCache(objects=APIClient(api=plane.api))
    assert informers.read(FLAVOR) is None
    for shelf in informers._informers.values():
        shelf.watch.stop()

    informers.objects.create(an_object(KUEUE, "ResourceFlavor", FLAVOR.name, spec={}))

    assert informers.read(FLAVOR) is not None
    informers.objects.delete(FLAVOR)
    informers.close()


@pytest.mark.live
def test_a_change_wakes_who_waits_and_nothing_else_does(plane: ControlPlane, target: LiveTarget) -> None:
    """A wait is late by no pause, and a wait that times out reports the last state."""
    informers = InformerCache(objects=APIClient(api=plane.api))
    assert informers.read(FLAVOR) is None
    with pytest.raises(TimedOut, match="it is not there"):
        informers.eventually(lambda: _must_be_there(informers), within=0.3, what="a flavor that is never made")
    maker = threading.Timer(
        0.1, lambda: informers.objects.create(an_object(KUEUE, "ResourceFlavor", FLAVOR.name, spec={}))
    )
    maker.start()
    informers.eventually(lambda: _must_be_there(informers), within=10, what="the flavor")
    maker.join()
    informers.objects.delete(FLAVOR)
    informers.close()


@pytest.mark.live
def test_a_closed_mirror_leaves_no_thread(plane: ControlPlane, target: LiveTarget) -> None:
    """Its watches end although nothing changes any more."""
    before = set(threading.enumerate())
    informers = InformerCache(objects=APIClient(api=plane.api))
    informers.read(FLAVOR)
    mine = set(threading.enumerate()) - before

    informers.close()

    for thread in mine:
        thread.join(timeout=10)
    assert mine
    assert not any(thread.is_alive() for thread in mine)


def _must_be_there(informers: InformerCache) -> None:
    if informers.read(FLAVOR) is None:
        raise NotYet("it is not there")


def _must_be_gone(informers: InformerCache) -> None:
    if informers.read(FLAVOR) is not None:
        raise NotYet("it is still there")
