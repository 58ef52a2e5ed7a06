"""Metadata of objects and templates: labels, annotations, owners and finalizers, empty where none are written.

Kubernetes: staging/src/k8s.io/apimachinery/pkg/apis/meta/v1/types.go (ObjectMeta)
"""

from __future__ import annotations

from collections.abc import Sequence

from kueue_dra_ref.target import Manifest


def labels_of(obj: Manifest) -> dict[str, str]:
    """Give the labels of an object or a template."""
    return (obj.get("metadata") or {}).get("labels") or {}


def annotations_of(obj: Manifest) -> dict[str, str]:
    """Give the annotations of an object or a template."""
    return (obj.get("metadata") or {}).get("annotations") or {}


def owners_of(obj: Manifest) -> Sequence[Manifest]:
    """Give the owner references of an object."""
    return (obj.get("metadata") or {}).get("ownerReferences") or ()


def finalizers_of(obj: Manifest) -> Sequence[str]:
    """Give the finalizers of an object."""
    return (obj.get("metadata") or {}).get("finalizers") or ()
