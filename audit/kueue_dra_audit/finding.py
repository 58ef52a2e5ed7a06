"""A finding of an audit: what the cluster says, what follows instead, how sure that is, and how to look further."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Sure(StrEnum):
    """How sure a finding is."""

    CERTAIN = "certain"
    LAG = "may lag"
    """A controller writes the figure a moment after the decision."""
    TEMPLATE = "template changed since"
    SLICES = "slices changed since"
    CLASS = "class changed since"
    QUOTA = "quota changed since"
    """The quota was changed after it was created; Kueue evicts nothing when it is lowered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One promise that a cluster does not keep."""

    requirement: str
    """The ID in the catalogue."""
    subject: str
    """The object, such as ``Workload team/job-a``."""
    field: str
    """The field of the object that is wrong, or what part of it."""
    says: str
    follows: str
    cause: str
    sure: Sure
    look: str
    """The command that shows more."""

    @property
    def key(self) -> tuple[str, ...]:
        """What makes two findings of two moments the same one."""
        return self.requirement, self.subject, self.field, self.says, self.follows

    def as_json(self) -> Mapping[str, Any]:
        """Give the fields for programs."""
        return {
            "requirement": self.requirement,
            "object": self.subject,
            "field": self.field,
            "says": self.says,
            "follows": self.follows,
            "cause": self.cause,
            "sure": str(self.sure),
            "look": self.look,
        }


@dataclass(slots=True)
class Notes:
    """What is no finding, such as what could not be checked: each remark once, with the objects that it is about."""

    _subjects: dict[str, dict[str, None]] = field(default_factory=dict)

    def add(self, remark: str, subject: str = "") -> None:
        """Make a remark, about an object if one is given."""
        subjects = self._subjects.setdefault(remark, {})
        if subject:
            subjects[subject] = None

    def __iter__(self) -> Iterator[tuple[str, list[str]]]:
        """Give each remark with its objects."""
        for remark, subjects in self._subjects.items():
            yield remark, list(subjects)
