"""The words of a case and those of a cluster."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.translation import NotHere, Translation

WORDS = {"whole-gpus": "gpu.corp/devices", "gpu.example.com": "gpu.corp", "nics": "corp"}


def a_translation(**more: str) -> Translation:
    """Give the translation of a new case."""
    return Translation(
        words=WORDS, missing={"shared-gpus": "a pair", **more}, resources={"gpu.example.com": "whole-gpus"}
    )


def test_what_a_case_writes_comes_back_in_its_words() -> None:
    """In keys, values and messages; the longest word first."""
    found = a_translation()
    written = {"requests": {"whole-gpus": "2"}, "names": ["gpu.example.com", 3, None]}

    assert found.to_cluster(written) == {"requests": {"gpu.corp/devices": "2"}, "names": ["gpu.corp", 3, None]}
    assert found.to_case(found.to_cluster(written)) == written
    message = "insufficient quota for gpu.corp/devices in flavor f: class gpu.corp, corp."
    assert found.to_case(message) == "insufficient quota for whole-gpus in flavor f: class gpu.example.com, corp."


def test_a_class_makes_its_resource_known() -> None:
    """An answer may name a resource that the case has not written."""
    found = a_translation()
    found.to_cluster("gpu.example.com")

    assert found.to_case("gpu.corp/devices") == "whole-gpus"


@pytest.mark.parametrize(
    ("written", "translated"),
    [
        ("a.gpu.example.com", "a.gpu.corp"),
        ("gpu.example.com.org", "gpu.corp.org"),
        ("gpu.example.community", "gpu.example.community"),
        ("my-gpu.example.com", "my-gpu.example.com"),
        ("whole-gpus-2", "whole-gpus-2"),
        ("for whole-gpus.", "for gpu.corp/devices."),
        ("nics", "corp"),
        ("nics.example.com", "nics.example.com"),
    ],
)
def test_only_whole_words_are_translated(written: str, translated: str) -> None:
    """A name with a dot also inside a longer one, so that near names stay near."""
    assert a_translation().to_cluster(written) == translated


def test_a_word_that_the_cluster_does_not_fill_is_a_reason() -> None:
    """It names what the cluster lacks."""
    with pytest.raises(NotHere, match="it needs a pair, and the cluster's mapping has none"):
        a_translation().to_cluster({"a": ["shared-gpus"]})


def test_two_words_for_one_thing_are_a_reason() -> None:
    """A case that needs both apart would see one in place of the other."""
    found = Translation(words={"a": "x", "b": "x"})
    found.to_cluster("a")

    with pytest.raises(NotHere, match="it needs a and b apart, and the cluster has only x for both"):
        found.to_cluster("b")
