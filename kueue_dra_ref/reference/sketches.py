"""An API server that accepts sketches: Jobs and pods without fields that do not affect quota.

No counterpart: inputs that a user writes by hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from kueue_dra_ref.controlplane.apiserver import ApiServer
from kueue_dra_ref.target import FieldError, Manifest

_MISSING = re.compile(
    r"spec\.(template\.spec\.)?(restartPolicy|(c|initC)ontainers\[\d+]\.(name|image|resources\.limits))"
)


@dataclass(slots=True, kw_only=True)
class SketchServer(ApiServer):
    """Warns of what a Job or a pod lacks that does not affect quota: names, images, limits, restartPolicy."""

    def rejecting(
        self, obj: Manifest, faults: Iterable[FieldError]
    ) -> tuple[FieldError, ...]:
        """Give the faults that reject an object; those that a sketch of a Job may have become warnings."""
        kind, name = obj["kind"], obj["metadata"]["name"]
        if kind not in ("Job", "Pod"):
            return tuple(faults)
        rejecting = []
        for fault in faults:
            if _is_missing(fault):
                warning = (
                    f"{kind} {name}: an API server would refuse it for this: {fault}"
                )
                self.warnings.append(warning)
            else:
                rejecting.append(fault)
        return tuple(rejecting)


def _is_missing(fault: FieldError) -> bool:
    if fault.type != "Required value":
        return False
    return _MISSING.fullmatch(fault.field) is not None
