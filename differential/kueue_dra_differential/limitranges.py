"""The LimitRanges of generated scenarios."""

from __future__ import annotations

from collections.abc import Mapping

FREE = ""
"""No LimitRange."""
RANGES: Mapping[str, Mapping[str, Mapping[str, Mapping[str, str]]]] = {
    "gives": {"Container": {"defaultRequest": {"cpu": "2"}}},
    "limits": {"Container": {"default": {"cpu": "1"}}},
    "bounds containers": {"Container": {"max": {"cpu": "1"}}},
    "demands": {"Container": {"min": {"cpu": "2"}, "default": {"cpu": "2"}}},
    "bounds pods": {"Pod": {"max": {"cpu": "1800m"}}},
}
"""By the effect on pods that request no CPU, one, or two: bounds and defaults for each type."""
