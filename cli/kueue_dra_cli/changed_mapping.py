"""Read ``--mapping FILE``: another Configuration, or only its deviceClassMappings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kueue_dra_cli.errors import located, place_of, readable
from kueue_dra_cli.inputs import read_configuration, with_gates
from kueue_dra_ref.api.documents import ManifestDocument
from kueue_dra_ref.target import FieldError, Manifest

MAPPINGS = "deviceClassMappings"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedConfiguration:
    """The Configuration of a change, and the document that it is from."""

    manifest: Manifest
    document: ManifestDocument

    def line(self, error: FieldError) -> str:
        """Give an error with its place."""
        if MAPPINGS in self.document.manifest:
            field = error.field.removeprefix("resources.")
            place = self.document.file, self.document.line_of(field)
        else:
            place = place_of(error, self.document)
        return located(*place, error)


def changed_configuration(
    file: Path, current: Manifest, gates: Mapping[str, bool]
) -> ChangedConfiguration:
    """Read a Configuration, or mappings that replace those of the current one; ``gates`` are on top of its own.

    Raises:
        CliError: the file cannot be read, or holds neither.

    """
    with readable():
        document = read_configuration(file)
    return of_document(document, current, gates)


def of_document(
    document: ManifestDocument, current: Manifest, gates: Mapping[str, bool]
) -> ChangedConfiguration:
    """Give the Configuration of a document; mappings alone replace those of the current one."""
    found = document.manifest
    resources = {MAPPINGS: found[MAPPINGS]} if MAPPINGS in found else {}
    if not resources and found.keys() == {"resources"}:
        resources = found["resources"]
    if not resources:
        manifest = with_gates(document, gates)
        return ChangedConfiguration(manifest=manifest, document=document)
    before = current.get("resources") or {}
    merged = {**current, "resources": {**before, **resources}}
    return ChangedConfiguration(manifest=merged, document=document)
