"""The names that Kueue gives Workloads.

Kueue: pkg/controller/jobframework/workload_names.go (GenerateWorkloadNameWithExtra, GetWorkloadNameForVariant)
"""

from __future__ import annotations

import hashlib

LONGEST = 253
"""How many characters the name of an object has at most."""
_DIGITS = 5


def hashed_name(prefix: str, *owner: str, longest: int) -> str:
    """Name a Workload: as much of a prefix as there is room for, and a hash that distinguishes owners."""
    written = "\n".join(owner).encode()
    digest = hashlib.sha1(written, usedforsecurity=False)
    ending = f"-{digest.hexdigest()[:_DIGITS]}"
    room = longest - len(ending)
    return prefix[:room] + ending
