"""Files in, manifests out: folders, many documents in a file, List kinds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from kueue_dra_ref.api.files import STANDARD_INPUT, DocumentError, text_of
from kueue_dra_ref.api.json_documents import parsed_json
from kueue_dra_ref.api.yaml_text import TextSpan, parsed, steps, written
from kueue_dra_ref.target import Manifest

__all__ = [
    "DocumentError",
    "ManifestDocument",
    "identified",
    "parse",
    "read",
    "written",
]
SUFFIXES = (".yaml", ".yml", ".json")
CHART = "Chart.yaml"
"""The file that makes a folder a Helm chart; its templates are below `TEMPLATES`."""
TEMPLATES = "templates"
_ACTION = "{{"
"""How an action of a Helm template begins."""
_RENDERED = "rendered manifests (helm template prints them)"


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestDocument:
    """One manifest and where it stands."""

    manifest: Manifest
    file: str
    number: int
    """Which document of the file, from 1."""
    span: TextSpan = field(repr=False, compare=False)
    is_template: bool = False
    """Whether this is a file of a Helm chart that is not rendered, which has no manifest."""

    @property
    def line(self) -> int:
        """Give the line on which the manifest begins."""
        return self.span.line + 1

    def line_of(self, path: str) -> int:
        """Give the line of a field such as ``spec.items[0].name``, or of the deepest part of it that exists."""
        return self.span.line_of(steps(path))

    def depth_of(self, path: str) -> int:
        """Tell how many steps of a path lead somewhere in this document."""
        return self.span.depth_of(steps(path))

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
    """Read a file, the standard input, or every YAML and JSON file below a folder by name, List kinds taken apart.

    In a folder, a document that is no mapping has an empty manifest, and so have a Helm template and a dangling link.

    Raises:
        DocumentError: a file cannot be read, is no YAML, repeats a key or holds something else than objects.

    """
    if str(path) == STANDARD_INPUT or not _is_folder(path):
        return _read_file(path)
    if not (files := _files_below(path)):
        found = f"no file that ends in {', '.join(SUFFIXES)}"
        raise DocumentError(
            file=str(path), found=found, expected="manifests in this directory"
        )
    return tuple(each for file in files for each in _read_in_folder(file))


def _is_folder(path: Path) -> bool:
    """Whether a path is a folder that can be listed."""
    try:
        next(path.iterdir(), None)
    except PermissionError:
        raise DocumentError(
            file=str(path), found="permission denied", expected="a readable directory"
        ) from None
    except OSError:
        return False
    return True


def _files_below(folder: Path) -> list[Path]:
    """List the YAML and JSON files of a folder and of the folders in it; hidden ones are not listed."""
    files = []
    for file in sorted(folder.rglob("*")):
        inside = file.relative_to(folder)
        is_hidden = any(part.startswith(".") for part in inside.parts)
        if file.suffix in SUFFIXES and not is_hidden and not file.is_dir():
            files.append(file)
    return files


def _read_file(path: Path) -> tuple[ManifestDocument, ...]:
    return _read_text(text_of(path), str(path), only_objects=True)


def _read_in_folder(file: Path) -> tuple[ManifestDocument, ...]:
    """Read a file of a folder, in which not every file has manifests."""
    if file.is_symlink() and not file.exists():
        return (_without_manifest(file),)
    text = text_of(file)
    if _ACTION in text and _is_template(file, text):
        return (_template(file, text),)
    return _read_text(text, str(file), only_objects=False)


def _is_template(file: Path, text: str) -> bool:
    """Whether a file with actions is a template: one of a chart, or one that is no YAML as it stands."""
    if _is_in_chart(file):
        return True
    try:
        tuple(parsed(text, str(file)))
    except DocumentError:
        return True
    return False


def _read_text(
    text: str, file: str, *, only_objects: bool
) -> tuple[ManifestDocument, ...]:
    """Read a file; one that is no YAML because it is a Helm template is reported as such."""
    try:
        return tuple(_parsed(text, file, 0, only_objects=only_objects))
    except DocumentError:
        if _ACTION not in text:
            raise
    line = _line_of(text, _ACTION)
    raise DocumentError(
        file=file, line=line, found="a Helm template", expected=_RENDERED
    )


def _is_in_chart(file: Path) -> bool:
    """Whether a file is a template of a Helm chart."""
    holders = [folder for folder in file.parents if folder.name == TEMPLATES]
    return any((each.parent / CHART).is_file() for each in holders)


def _template(file: Path, text: str) -> ManifestDocument:
    shift = _line_of(text, _ACTION) - 1
    return replace(_without_manifest(file, shift), is_template=True)


def _without_manifest(file: Path, shift: int = 0) -> ManifestDocument:
    (empty,) = parsed("{}", str(file), shift)
    return ManifestDocument(manifest={}, file=str(file), number=1, span=empty.span)


def _line_of(text: str, part: str) -> int:
    return text.count("\n", 0, text.index(part)) + 1


def parse(text: str, file: str, shift: int = 0) -> tuple[ManifestDocument, ...]:
    """Read every document of a text, List kinds taken apart; ``shift`` counts the lines before the text in its file.

    Raises:
        DocumentError: the text is no YAML, repeats a key or holds something else than objects.

    """
    return tuple(_parsed(text, file, shift, only_objects=True))


def identified(
    documents: Iterable[ManifestDocument],
) -> tuple[ManifestDocument, ...]:
    """Give documents, each of which has apiVersion, kind and a name.

    Raises:
        DocumentError: one of the three is missing.

    """
    picked = tuple(documents)
    for document in picked:
        _check_identity(document)
    return picked


def _parsed(
    text: str, file: str, shift: int, *, only_objects: bool
) -> Iterator[ManifestDocument]:
    whole = parsed_json(text, shift)
    for found in [whole] if whole else parsed(text, file, shift):
        document = ManifestDocument(
            manifest={}, file=file, number=found.number, span=found.span
        )
        if isinstance(found.value, dict):
            document = replace(document, manifest=found.value)
            yield from _flattened(document, found.items)
        elif only_objects:
            expected = "an object with apiVersion, kind and metadata"
            raise document.fault("", found.span.kind, expected)
        else:
            yield document


def _flattened(
    document: ManifestDocument, spans: Sequence[TextSpan]
) -> Iterator[ManifestDocument]:
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
        span = spans[index] if spans else document.span.part(["items", str(index)])
        manifest = _of_the_list(document.manifest) | item
        yield replace(document, manifest=manifest, span=span)


def _of_the_list(manifest: Manifest) -> Manifest:
    """Give the apiVersion and kind that the items of a List kind inherit."""
    kind = manifest["kind"]
    if kind == "List":
        return {}
    return {"apiVersion": manifest.get("apiVersion"), "kind": kind[:-4]}


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
