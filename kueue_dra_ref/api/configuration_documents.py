"""Where Kueue's Configuration is: alone, in a ConfigMap, in values of Kueue's chart, in OpenShift's Kueue object.

No counterpart: reads files that people have. What tells Kueue's Configuration from others is its apiVersion.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from kueue_dra_ref.api.documents import ManifestDocument, parse
from kueue_dra_ref.api.openshift_kueue import configuration_of_operator, is_operator
from kueue_dra_ref.api.schema_config import GROUP
from kueue_dra_ref.api.unstructured import part
from kueue_dra_ref.target import Manifest

CONFIGURATION_KEYS = ("config.yaml", "controller_manager_config.yaml")
"""Keys of a ConfigMap that hold a Configuration: the KEP's, and that of Kueue's release."""
_OF_KUEUE = re.compile(
    rf"""^[^#\n]*apiVersion["']?\s*:\s*["']?{re.escape(GROUP)}/""", re.MULTILINE
)
_WITHOUT_VERSION = re.compile(r"^kind:\s*Configuration\s*$", re.MULTILINE)
_VERSION = re.compile(r"^apiVersion:", re.MULTILINE)
Text = tuple[tuple[str, ...], str]
"""A text inside a document: its path, and the text."""


def configurations(
    documents: Iterable[ManifestDocument], *, named: bool = False
) -> tuple[ManifestDocument, ...]:
    """Pick Kueue's Configurations; in a file that is ``named`` as one, also a document that does not say what it is.

    Raises:
        DocumentError: the text of a Configuration inside another document is no YAML.

    """
    given = tuple(documents)
    found = tuple(each for document in given for each in _configurations(document))
    if found or not named:
        return found
    return tuple(each for each in given if _may_be_one(each.manifest))


def is_configuration(manifest: Manifest) -> bool:
    """Whether a manifest is Kueue's Configuration itself; Kueue reads one without apiVersion too."""
    if manifest.get("kind") != "Configuration":
        return False
    version = manifest.get("apiVersion")
    return not version or str(version).startswith(f"{GROUP}/")


def gates_of_values(documents: Iterable[ManifestDocument]) -> dict[str, bool]:
    """Give the feature gates that values of Kueue's chart put into the arguments of its Deployment."""
    gates: dict[str, bool] = {}
    for document in documents:
        if _is_untyped(document.manifest):
            for manager in _managers(document.manifest):
                gates |= _listed_gates(manager)
    return gates


def _managers(value: Any) -> Iterator[Manifest]:
    """Give the values of Kueue's manager, at any depth: Kueue's chart may be a subchart."""
    if not isinstance(value, dict):
        return
    yield part(value, "controllerManager")
    for each in value.values():
        yield from _managers(each)


def _listed_gates(manager: Manifest) -> Iterator[tuple[str, bool]]:
    listed = manager.get("featureGates")
    for gate in listed if isinstance(listed, list) else ():
        if isinstance(gate, dict) and isinstance(gate.get("name"), str):
            yield gate["name"], gate.get("enabled") is True


def _may_be_one(manifest: Manifest) -> bool:
    return manifest.get("kind") == "Configuration" or _is_untyped(manifest)


def _is_untyped(manifest: Manifest) -> bool:
    return not manifest.get("kind") and not manifest.get("apiVersion")


def _configurations(document: ManifestDocument) -> Iterator[ManifestDocument]:
    manifest = document.manifest
    if is_configuration(manifest):
        yield document
    elif is_operator(manifest):
        span = document.span.part(["spec", "config"])
        yield replace(document, manifest=configuration_of_operator(manifest), span=span)
    else:
        for path, text in _texts_with_one(manifest):
            yield from _inside(document, path, text)


def _texts_with_one(manifest: Manifest) -> Iterator[Text]:
    """Give the texts of a ConfigMap, or of values of a chart, that are a Configuration."""
    if manifest.get("kind") == "ConfigMap":
        for path, text in _texts(part(manifest, "data"), ("data",)):
            if _is_text_of_one(path[-1], text):
                yield path, text
    elif _is_untyped(manifest):
        for path, text in _texts(manifest, ()):
            if _OF_KUEUE.search(text):
                yield path, text


def _is_text_of_one(key: str, text: str) -> bool:
    if _OF_KUEUE.search(text):
        return True
    if key not in CONFIGURATION_KEYS or _VERSION.search(text):
        return False
    return _WITHOUT_VERSION.search(text) is not None


def _texts(value: Any, path: tuple[str, ...]) -> Iterator[Text]:
    """Give each text inside a value, with its path."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from _texts(each, (*path, key))


def _inside(
    document: ManifestDocument, path: Sequence[str], text: str
) -> tuple[ManifestDocument, ...]:
    """Read the Configuration in a text of a document, with the lines of the outer file."""
    above = document.span.lines_above_text(path)
    # Kueue reads the first document of its file and ignores what follows.
    return parse(text, document.file, above)[:1]
