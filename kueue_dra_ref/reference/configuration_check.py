"""Validates a Configuration as Kueue does before it starts: its fields, its feature gates, its mappings.

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

Faults = Sequence[FieldError]
Loaded = tuple[Configuration, Mapping[str, bool]]
"""A valid Configuration, and whether each feature gate is on."""


def checked(
    behaviour: Behaviour,
    document: Manifest,
) -> Loaded | Faults:
    """Load a Configuration and validate its feature gates and mappings; a list of faults when it is rejected."""
    return _checked(behaviour, pickle.dumps(document))


@lru_cache(maxsize=128)
def _checked(
    behaviour: Behaviour,
    written: bytes,
) -> Loaded | Faults:
    """Validate each Configuration once, because most scenarios use the same."""
    document: Manifest = pickle.loads(written)
    configuration = load(document, behaviour.versions)
    if isinstance(configuration, tuple):
        return list(configuration)
    gates = effective(behaviour.gates, configuration.gates)
    if isinstance(gates, tuple):
        if not behaviour.gates.last:
            return list(gates)
        faults = validate(configuration, behaviour.mapping)
        return list(faults or gates)
    running = behaviour.under(gates)
    faults = validate(configuration, running.mapping)
    if faults:
        return list(faults)
    return configuration, gates
