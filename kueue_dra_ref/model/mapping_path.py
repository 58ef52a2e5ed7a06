"""Field paths of the validation of device class mappings (Configuration API Extension for DRA).

Kubernetes: k8s.io/apimachinery/pkg/util/validation/field/path.go (Path)
"""

from __future__ import annotations

from dataclasses import dataclass

from kueue_dra_ref.api.configuration import DeviceClassMapping
from kueue_dra_ref.target import Manifest

ROOT = "resources.deviceClassMappings"


@dataclass(frozen=True, slots=True, kw_only=True)
class MappingPath:
    """The path of what is validated: the list of mappings, a mapping, one of its class names, or one of its sources."""

    mappings: tuple[DeviceClassMapping, ...]
    index: int = 0
    class_index: int = 0
    source_index: int = 0

    @property
    def mapping(self) -> DeviceClassMapping:
        """Give the mapping under validation."""
        return self.mappings[self.index]

    @property
    def device_class(self) -> str:
        """Give the class name under validation."""
        return self.mapping.device_classes[self.class_index]

    @property
    def source(self) -> Manifest:
        """Give the source under validation."""
        return self.mapping.sources[self.source_index]

    @property
    def mapping_field(self) -> str:
        """Give the path of the mapping."""
        return f"{ROOT}[{self.index}]"

    @property
    def source_field(self) -> str:
        """Give the path of the source."""
        return f"{self.mapping_field}.sources[{self.source_index}]"

    @property
    def name_field(self) -> str:
        """Give the path of the mapping's name."""
        return f"{self.mapping_field}.name"

    @property
    def classes_field(self) -> str:
        """Give the path of the mapping's class names."""
        return f"{self.mapping_field}.deviceClassNames"

    @property
    def class_field(self) -> str:
        """Give the path of the class name."""
        return f"{self.classes_field}[{self.class_index}]"

    def earlier_in_mapping(self) -> tuple[str, ...]:
        """List the class names before this one in the same mapping."""
        return self.mapping.device_classes[: self.class_index]

    def owner(self) -> DeviceClassMapping:
        """Give the first mapping that names the class, which may be the one under validation."""
        return next(
            each for each in self.mappings if self.device_class in each.device_classes
        )
