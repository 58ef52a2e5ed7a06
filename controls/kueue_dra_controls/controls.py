"""The controls: for each fault, which of the same few rows have to fail; all others have to pass."""

from __future__ import annotations

from dataclasses import dataclass

ROWS = (
    "quota/test_fits.py::test_devices_are_admitted_up_to_the_quota",
    "quota/test_fits.py::test_devices_are_admitted_up_to_what_is_left",
    "quota/test_fits.py::test_no_published_device_is_needed",
    "quota/test_fits.py::test_a_resource_that_the_queue_does_not_cover_keeps_a_workload_out",
    "quota/test_detection.py::test_a_workload_without_claims_needs_ordinary_resources_only",
    "quota/test_detection.py::test_a_workload_without_claims_waits_for_ordinary_resources",
    "quota/test_groups.py",
    "status/test_local_queue.py::test_a_local_queue_whose_cluster_queue_can_admit_is_ready",
    "status/test_local_queue.py::test_a_stopped_local_queue_is_not_active",
    "status/test_permissions.py::test_the_role_allows_reading",
    "claims/test_unmapped_classes.py::test_an_unmapped_class_is_refused_by_name",
)
"""The rows of each control: devices that fit and that do not, ordinary work, rejections, and Kueue's role."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """A fault with the rows that have to fail; a test without a row means all of its rows."""

    fault: str
    red: tuple[str, ...]
    rows: tuple[str, ...] = ROWS


DEVICES = (
    "quota/test_fits::test_devices_are_admitted_up_to_the_quota",
    "quota/test_fits::test_devices_are_admitted_up_to_what_is_left",
    "quota/test_fits::test_no_published_device_is_needed",
    "quota/test_fits::test_a_resource_that_the_queue_does_not_cover_keeps_a_workload_out",
)
"""The rows about devices of a mapped class."""
UNMAPPED = "claims/test_unmapped_classes::test_an_unmapped_class_is_refused_by_name"

CONTROLS = (
    Control(fault="class-mapped-wrong", red=DEVICES),
    Control(
        fault="quota-doubled",
        red=(
            "quota/test_fits::test_devices_are_admitted_up_to_the_quota[one-too-many]",
            "quota/test_fits::test_devices_are_admitted_up_to_what_is_left[one-more-than-is-left]",
            "quota/test_detection::test_a_workload_without_claims_waits_for_ordinary_resources",
        ),
    ),
    Control(fault="gate-off", red=(*DEVICES, UNMAPPED)),
    Control(
        fault="templates-forbidden",
        red=(
            *DEVICES,
            UNMAPPED,
            "status/test_permissions::test_the_role_allows_reading[resourceclaimtemplates]",
        ),
    ),
    Control(
        fault="webhooks-absent",
        red=(
            "quota/test_groups::test_groups_of_a_cluster_queue_share_nothing[a-resource-in-common]",
            "quota/test_groups::test_groups_of_a_cluster_queue_share_nothing[a-flavor-in-common]",
        ),
    ),
)
"""Every control, in the order in which they run: the one that cannot be undone is the last."""
