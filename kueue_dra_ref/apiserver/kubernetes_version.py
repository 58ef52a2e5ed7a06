"""One minor of Kubernetes as a value: what of resource.k8s.io it serves, drops and allows, and how it words it.

Kubernetes: pkg/features/kube_features.go (defaultVersionedKubernetesFeatureGates)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceAPILimits:
    """How much of something an object may have; None is no limit of its own."""

    taints: int = 4
    devices: int = 128
    devices_with_features: int | None = None
    """Devices in a slice some of which have taints, consume counters or (from 1.36 on) have lists as attributes."""
    attribute_values: int | None = None
    counter_sets: int | None = None
    counters_per_set: int | None = None
    consumptions: int | None = None
    counters_per_consumption: int | None = None
    shared_counters: int | None = 32
    counters_per_device: int | None = 32
    counters_per_slice: int | None = 1024


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Kubernetes:
    """One minor of Kubernetes, with its feature gates as they are by default or as an administrator set them.

    Each is equal to itself alone, so that what comes of a document can be remembered by it.
    """

    minor: int
    served: frozenset[str]
    """Versions of resource.k8s.io that it can serve, some only when asked to by ``--runtime-config``."""
    served_by_default: frozenset[str] = frozenset()
    gates: Mapping[str, bool] = field(default_factory=dict)
    locked: frozenset[str] = frozenset()
    """The gates that are generally available, and cannot be switched off."""
    lifetimes: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """The minors from which a version is deprecated, and from which it is served no more."""
    limits: ResourceAPILimits = ResourceAPILimits()
    admin_label: str = ""
    """The namespace label that admin access needs; without one, anybody has it."""
    has_flat_paths: bool
    """Errors name the fields of the flat shape, whatever version the object is written in."""
    defaults_without_class: bool
    """A request of the flat shape gets its defaults even when it names no class."""
    stops_at_sizes: bool = False
    """Whether a list that is too long is the only error of the list."""
    stops_at_unions: bool = False
    """Whether a request that is both exact and a list of alternatives has no other errors."""
    stops_at_missing_drivers: bool = False
    """Whether the missing name of a driver has no other errors."""
    names_duplicates: bool = True
    """The path of a duplicate ends in the field that is there twice."""
    checks_stored_specs: bool = True
    """An immutable spec is looked at again in an update."""
    checks_old_capacity: bool = True
    """The capacity of a device is looked at again in an update that leaves it as it is."""
    keys_have_paths: bool = True
    """The path of a bad key of a map has the key in it."""
    checks_counter_references: bool = True
    warns_of_capitals: bool = False
    """A driver's name in capitals is warned of."""
    too_long: str = "may not be more than {} bytes"
    null: str = "null"
    """How what is unset is printed."""
    counts_bytes: bool = False
    """Errors of labels that are too long count bytes, no longer characters."""
    unqualified: str = "must include a domain"
    unset_attribute: str = "Required value"
    empty_part: str = "Required value"
    not_an_object: str = "must be a valid JSON object"
    request_reference: str = "must be the name of a request in the claim"
    effects: tuple[str, ...] = ("NoExecute", "NoSchedule")
    steps_are_checked: bool = False
    """A step of zero is refused; before that, the API server divides by it."""
    default_has_path: bool = False
    """The error of a default out of range is at ``default``, no longer at the bound."""
    knows_pod_resources: bool = False
    """A pod may ask for resources as a whole."""
    restart_policies: str = "initial"
    """Which containers may say when they are started again: those that run before the others, or any.

    Dropped is what a container says, unless it is an initial one that goes on.
    """
    quotes_words: bool = False
    """Texts of a type of their own are printed in quotes, as plain ones are."""
    knows_comparing_tolerations: bool = False
    """Errors list the tolerations that compare numbers among the supported ones, though they need a gate."""
    is_declarative: bool = False
    """Errors of the declarations come last, in their words and with the paths of the version."""

    @property
    def name(self) -> str:
        """The minor as it is written."""
        return f"1.{self.minor}"

    @property
    def unstopped(self) -> Kubernetes:
        """The minor as it would be if it went on where a list or a union is wrong as such."""
        return replace(self, stops_at_sizes=False, stops_at_unions=False)

    def on(self, gate: str) -> bool:
        """Tell whether a feature gate is on; what a minor does not know is off."""
        return self.gates.get(gate, False)

    def with_gates(self, **gates: bool) -> Kubernetes:
        """Give the minor with some of its gates, which it has to have, set otherwise."""
        assert not gates.keys() - self.gates.keys()
        return replace(self, gates=MappingProxyType({**self.gates, **gates}))
