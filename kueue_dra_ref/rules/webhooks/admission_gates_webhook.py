"""Kueue's validating webhooks for the annotation with admission gates, of work of all kinds and of Workloads.

Kueue: pkg/util/webhook/validation_admissiongatedby.go (ValidateAdmissionGatedByAnnotationOnCreate,
    ValidateAdmissionGatedByAnnotationOnUpdate)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kueue_dra_ref.api.admission_gates import GATED_BY, gate_names, gates_of
from kueue_dra_ref.api.names import dns_subdomain_faults, printed
from kueue_dra_ref.apiserver.admission_request import AdmissionRequest
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import FieldError

_PATH = f"metadata.annotations[{GATED_BY}]"
_LONGEST = 63
_HTTP_PATH = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"
_NO_PATH = 'must be a domain-prefixed path (such as "acme.io/foo")'


@rule("GATED-006")
def gates_are_not_added(write: AdmissionRequest) -> Iterator[FieldError]:
    """The webhook denies a first admission gate of work, or of a Workload, that exists already.

    Kueue: pkg/util/webhook/validation_admissiongatedby.go (ValidateAdmissionGatedByAnnotationOnUpdate)
    """
    if write.old is not None and gates_of(write.new) and not gates_of(write.old):
        yield _forbidden("cannot add admission gate after creation")


@rule("GATED-007")
def gates_are_only_removed(write: AdmissionRequest) -> Iterator[FieldError]:
    """The webhook denies an admission gate that is none of those that work, or a Workload, has already.

    Kueue: pkg/util/webhook/validation_admissiongatedby.go (ValidateAdmissionGatedByAnnotationOnUpdate)
    """
    before = gates_of(write.old or {})
    added = set(gate_names(gates_of(write.new))) - set(gate_names(before))
    if before and added:
        yield _forbidden("can only remove gates, not add new ones")


@rule("GATED-008", "GATED-009", "GATED-010", "GATED-011")
def gate_names_are_valid(write: AdmissionRequest) -> Iterator[FieldError]:
    """The webhook denies admission gates without a name, twice, without a domain, or with more than 63 characters.

    Kueue: pkg/util/webhook/validation_admissiongatedby.go (validateAdmissionGatedByAnnotationFormat)
    """
    written = gates_of(write.new)
    seen = set[str]()
    for name in gate_names(written):
        if not name:
            yield _invalid(written, "cannot contain empty gate names")
        elif name in seen:
            yield _invalid(written, f"duplicate gate name: {name}")
        else:
            yield from _name_faults(name)
        seen.add(name)


def _name_faults(name: str) -> Iterator[FieldError]:
    """Give the faults of one name.

    Kubernetes: staging/src/k8s.io/apimachinery/pkg/util/validation/validation.go (IsDomainPrefixedPath)
    """
    host, _, path = name.partition("/")
    if not (host and path):
        yield _invalid(name, _NO_PATH)
    else:
        for fault in dns_subdomain_faults(host):
            yield _invalid(host, fault)
        if not re.fullmatch(_HTTP_PATH, path):
            detail = f"Invalid path (regex used for validation is '{_HTTP_PATH}')"
            yield _invalid(path, detail)
    if len(name) > _LONGEST:
        detail = f"may not be more than {_LONGEST} bytes"
        yield FieldError(field=_PATH, type="Too long", detail=detail)


def _invalid(value: str, detail: str) -> FieldError:
    return FieldError(
        field=_PATH, type="Invalid value", value=printed(value), detail=detail
    )


def _forbidden(detail: str) -> FieldError:
    return FieldError(field=_PATH, type="Forbidden", detail=detail)
