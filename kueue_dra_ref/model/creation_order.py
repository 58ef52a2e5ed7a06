"""The order of creation: by the second of creation or of an eviction, then by the place of the object in its store.

Kueue: pkg/workload/workload.go (GetQueueOrderTimestamp)
"""

from __future__ import annotations

import uuid

PLACES = uuid.UUID("ffffffff-ffff-ffff-ffff-ffffffffffff").int
"""The number of places in the order of creation.

Later objects have lower UIDs, so that a test of creation order cannot pass by the order of the UIDs.
"""


def ordered_by(second: int, place: int) -> int:
    """Give a number that orders by a second, then by a place."""
    return second * PLACES + place


def second_of(order: int) -> int:
    """Give the second that such a number orders by."""
    return order // PLACES
