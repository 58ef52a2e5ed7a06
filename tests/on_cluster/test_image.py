"""The images: without root, with a file system that is read-only, without network."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kueue_dra_clusters.kind.provider import Provider
from tests.container_image import left_over

pytestmark = [pytest.mark.live, pytest.mark.pods]
CONFINED = ("run", "--rm", "--network=none", "--read-only", "--cap-drop=all")
SCRATCH = ("--tmpfs=/tmp", "--tmpfs=/work:mode=1777")


def confined(podman: Provider, image: str, *words: str) -> str:
    """Run the image's command."""
    return podman.run(*CONFINED, *SCRATCH, image, *words)


@pytest.mark.parametrize("target", ["kueue-dra", "kueue-dra-kueue"])
def test_the_command_is_in_the_image_and_needs_no_root(
    target: str, images: Mapping[str, str], podman: Provider
) -> None:
    """As an installed package, not as a checkout."""
    assert confined(podman, images[target], "--version").startswith("kueue-dra 0.")
    assert podman.run(*CONFINED, "--entrypoint=id", images[target], "-u") == "65532\n"
    assert "glibc" in podman.run(*CONFINED, "--entrypoint=getconf", images[target], "GNU_LIBC_VERSION")


def test_the_core_passes_on_the_reference(images: Mapping[str, str], podman: Provider) -> None:
    """All rows that prove what a text asks for."""
    ran = confined(podman, images["kueue-dra"], "run", "--core")

    assert "target: reference" in ran
    assert " passed" in ran


def test_the_second_image_runs_a_real_kueue(images: Mapping[str, str], podman: Provider) -> None:
    """Two at once, each with an etcd and an API server of its own."""
    ran = confined(podman, images["kueue-dra-kueue"], "run", "quota/test_fits", "--target", "kueue", "-n", "2")

    assert "target: kueue (kueue v0.19.2, kubernetes v1.36" in ran
    assert " passed" in ran


def test_a_build_leaves_no_layers(images: Mapping[str, str], podman: Provider) -> None:
    """Images that the build needed on the way are gone, also those of earlier builds."""
    assert images
    assert left_over(podman) == []
