"""Validation of objectRetentionPolicies in a Configuration.

Kueue: pkg/config/validation.go (validateObjectRetentionPolicies)
"""

from __future__ import annotations

from collections.abc import Iterator

from kueue_dra_ref.api.configuration import Configuration
from kueue_dra_ref.api.crd_validation import invalid
from kueue_dra_ref.api.names import printed
from kueue_dra_ref.api.retention import SECTION
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import FieldError

_WORKLOADS = f"{SECTION}.workloads"
_NEGATIVE = "must be greater than or equal to 0"


@rule("RETAIN-010")
def retention_is_not_negative(configuration: Configuration) -> Iterator[FieldError]:
    """Kueue rejects a negative time in objectRetentionPolicies.

    Kueue: pkg/config/validation.go (validateObjectRetentionPolicies)
    """
    retention = configuration.retention
    times = {
        "afterFinished": retention.after_finished,
        "afterDeactivatedByKueue": retention.after_deactivated,
    }
    for name, seconds in times.items():
        if seconds is not None and seconds < 0:
            written = configuration.document[SECTION]["workloads"][name]
            yield invalid(f"{_WORKLOADS}.{name}", _NEGATIVE, printed(written))
