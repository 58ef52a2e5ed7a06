"""Checking a Configuration as Kueue does before it starts: its fields, its gates, its mappings.

Kueue: pkg/config/validation.go (Validate, LoadAndValidateFeatureGates); pkg/config/config.go (Load)
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from functools import lru_cache

from kueue_dra_ref.api.configuration import Configuration, load
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.features.kube_features import effective
from kueue_dra_ref.rules.config.device_class_mappings import validate
from kueue_dra_ref.target import FieldError, Manifest


def checked(
    behaviour: Behaviour, document: Manifest
) -> tuple[Configuration, Mapping[str, bool]] | Sequence[FieldError]:
    """Load a Configuration and check its gates, then its mappings; a list of faults when it is refused."""
    return _checked(behaviour, pickle.dumps(document))


@lru_cache(maxsize=128)
def _checked(
    behaviour: Behaviour, written: bytes
) -> tuple[Configuration, Mapping[str, bool]] | Sequence[FieldError]:
    """Check each Configuration once: most worlds run under the same."""
    document: Manifest = pickle.loads(written)
    found = load(document, behaviour.versions)
    if isinstance(found, tuple):
        return list(found)
    gates = effective(behaviour.gates, found.gates)
    if isinstance(gates, tuple) and not behaviour.gates.last:
        return list(gates)
    faults = validate(
        found,
        (behaviour if isinstance(gates, tuple) else behaviour.under(gates)).mapping,
    )
    if isinstance(gates, tuple):
        return list(faults or gates)
    return list(faults) if faults else (found, gates)
