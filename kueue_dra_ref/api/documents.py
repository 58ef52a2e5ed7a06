"""Files in, manifests out: many documents in a file, List kinds, Configurations inside ConfigMaps."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kueue_dra_ref.api.files import STANDARD_INPUT, DocumentError, text_of
from kueue_dra_ref.api.yaml_text import Node, found_at, kind_of, parsed, steps, written
from kueue_dra_ref.target import Manifest

__all__ = [
    "DocumentError",
    "ManifestDocument",
    "configurations",
    "objects",
    "parse",
    "read",
    "written",
]
SUFFIXES = (".yaml", ".yml", ".json")
CONFIGURATION_KEYS = ("config.yaml", "controller_manager_config.yaml")
"""Keys of a ConfigMap that hold a Configuration: the KEP's, and that of Kueue's release."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestDocument:
    """One manifest and where it stands."""

    manifest: Manifest
    file: str
    number: int
    """Which document of the file, from 1."""
    node: Node = field(repr=False, compare=False)
    shift: int = field(default=0, repr=False, compare=False)
    """Lines of the file before the text that ``node`` was read from."""

    @property
    def line(self) -> int:
        """Give the line on which the manifest begins."""
        return self.shift + int(self.node.start_mark.line) + 1

    def line_of(self, path: str) -> int:
        """Give the line of a field such as ``spec.items[0].name``, or of the deepest part of it that exists."""
        return self.shift + found_at(self.node, steps(path))[1].start_mark.line + 1

    def depth_of(self, path: str) -> int:
        """Tell how many steps of a path lead somewhere in this document."""
        parts = steps(path)
        places = [
            found_at(self.node, parts[:depth])[1] for depth in range(len(parts) + 1)
        ]
        return sum(here is not there for here, there in itertools.pairwise(places))

    def fault(self, path: str, found: str, expected: str) -> DocumentError:
        """Report what is wrong with a field of this document."""
        return DocumentError(
            file=self.file,
            document=self.number,
            line=self.line_of(path),
            field=path,
            found=found,
            expected=expected,
        )


def read(path: Path) -> tuple[ManifestDocument, ...]:
    """Read a file, the standard input, or every YAML and JSON file of a directory by name, List kinds taken apart.

    Raises:
        DocumentError: a file cannot be read, is no YAML, repeats a key or holds something else than objects.

    """
    inside = None if str(path) == STANDARD_INPUT else _inside(path)
    if inside is None:
        return parse(text_of(path), str(path))
    if not (files := [file for file in inside if file.suffix in SUFFIXES]):
        found = f"no file that ends in {', '.join(SUFFIXES)}"
        raise DocumentError(
            file=str(path), found=found, expected="manifests in this directory"
        )
    return tuple(each for file in files for each in read(file))


def _inside(path: Path) -> list[Path] | None:
    """List a directory by name; None for what is none."""
    try:
        return sorted(path.iterdir())
    except PermissionError:
        raise DocumentError(
            file=str(path), found="permission denied", expected="a readable directory"
        ) from None
    except OSError:
        return None


def parse(text: str, file: str, shift: int = 0) -> tuple[ManifestDocument, ...]:
    """Read every document of a text, List kinds taken apart; ``shift`` counts the lines before the text in its file.

    Raises:
        DocumentError: the text is no YAML, repeats a key or holds something else than objects.

    """
    return tuple(
        document
        for number, node, manifest in parsed(text, file, shift)
        for document in _flattened(
            _document(
                manifest,
                ManifestDocument(
                    manifest={}, file=file, number=number, node=node, shift=shift
                ),
            )
        )
    )


def configurations(
    documents: Iterable[ManifestDocument],
) -> tuple[ManifestDocument, ...]:
    """Pick Kueue Configurations, those inside a ConfigMap too; what has no kind can only be one.

    Raises:
        DocumentError: what a ConfigMap holds is no YAML.

    """
    return tuple(found for document in documents for found in _configurations(document))


def objects(documents: Iterable[ManifestDocument]) -> tuple[ManifestDocument, ...]:
    """Pick what is not a Configuration, each with apiVersion, kind and a name.

    Raises:
        DocumentError: one of the three is missing.

    """
    picked = tuple(
        each
        for each in documents
        if each.manifest.get("kind") != "Configuration" and not _held(each)
    )
    for document in picked:
        _check_identity(document)
    return picked


def _document(value: Any, empty: ManifestDocument) -> ManifestDocument:
    if not isinstance(value, dict):
        raise empty.fault(
            "", kind_of(empty.node), "an object with apiVersion, kind and metadata"
        )
    return replace(empty, manifest=value)


def _flattened(document: ManifestDocument) -> Iterator[ManifestDocument]:
    kind = document.manifest.get("kind")
    items = document.manifest.get("items")
    is_list = isinstance(kind, str) and kind.endswith("List")
    if not is_list or not isinstance(items, list):
        yield document
        return
    for index, item in enumerate(items):
        if not isinstance(item, dict):
            found = f"{item!r} in a {kind}"
            raise document.fault(f"items[{index}]", found, "an object")
        yield replace(
            document,
            manifest=_of_the_list(document.manifest) | item,
            node=found_at(document.node, ["items", str(index)])[0],
        )


def _of_the_list(manifest: Manifest) -> Manifest:
    """Give the apiVersion and kind that the items of a List kind inherit."""
    kind = manifest["kind"]
    if kind == "List":
        return {}
    return {"apiVersion": manifest.get("apiVersion"), "kind": kind[:-4]}


def _held(document: ManifestDocument) -> str:
    """Name the key of a ConfigMap that holds a Configuration; empty when none does."""
    data = document.manifest.get("data")
    if document.manifest.get("kind") != "ConfigMap" or not isinstance(data, dict):
        return ""
    return next(
        (key for key in CONFIGURATION_KEYS if isinstance(data.get(key), str)), ""
    )


def _configurations(document: ManifestDocument) -> Sequence[ManifestDocument]:
    if document.manifest.get("kind") in (None, "", "Configuration"):
        return (document,)
    if not (key := _held(document)):
        return ()
    # Kueue reads the first document of its file and ignores what follows.
    text, above = (
        document.manifest["data"][key],
        found_at(document.node, ["data", key])[0].start_mark.line + 1,
    )
    return parse(text, document.file, document.shift + above)[:1]


def _check_identity(document: ManifestDocument) -> None:
    meta = document.manifest.get("metadata")
    named = meta.get("name") if isinstance(meta, dict) else None
    identity = {
        "apiVersion": document.manifest.get("apiVersion"),
        "kind": document.manifest.get("kind"),
    }
    for path, value in (identity | {"metadata.name": named}).items():
        if not isinstance(value, str) or not value:
            found = f"no {path}" if value in (None, "") else f"{path} {value!r}"
            raise document.fault(path, found, f"{path} as a string")
