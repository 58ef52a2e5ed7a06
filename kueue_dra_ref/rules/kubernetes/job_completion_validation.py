"""Validation of the completion mode of Jobs by the API server (Kubernetes, JobSpec).

Kubernetes: pkg/apis/batch/validation/validation.go (validateJobSpec)
"""

from __future__ import annotations

from typing import Any

from kueue_dra_ref.api.jobs import BY_NUMBER, INDEXED
from kueue_dra_ref.apiserver.admission_request import AdmissionRequest
from kueue_dra_ref.apiserver.fielderrors import Errors, invalid, required, unsupported
from kueue_dra_ref.model.rule import rule

Spec = dict[str, Any]
_PER_INDEX = ("backoffLimitPerIndex", "maxFailedIndexes")
_MOST, _MANY = 100_000, 10_000
"""The limit of parallel, failed and total indexes; and the limit for Jobs with more indexes than that."""


@rule("API-050")
def max_failed_indexes_needs_limit_per_index(write: AdmissionRequest) -> Errors:
    """The API server rejects a Job with maxFailedIndexes but without backoffLimitPerIndex.

    Kubernetes: pkg/apis/batch/validation/validation.go (validateJobSpec)
    """
    spec = write.new["spec"]
    if "maxFailedIndexes" in spec and "backoffLimitPerIndex" not in spec:
        yield required(
            "spec.backoffLimitPerIndex", "when maxFailedIndexes is specified"
        )


@rule("API-050")
def completion_mode_is_valid(write: AdmissionRequest) -> Errors:
    """The API server rejects an unknown completionMode, and index fields that do not suit the completionMode.

    Kubernetes: pkg/apis/batch/validation/validation.go (validateJobSpec)
    """
    spec = write.new["spec"]
    mode = spec.get("completionMode", BY_NUMBER)
    if mode not in (BY_NUMBER, INDEXED):
        yield unsupported("spec.completionMode", mode, BY_NUMBER, INDEXED)
    if mode == INDEXED and "completions" not in spec:
        yield required("spec.completions", f"when completion mode is {INDEXED}")
    for key in _PER_INDEX:
        if mode == BY_NUMBER and key in spec:
            detail = "requires indexed completion mode"
            yield invalid(f"spec.{key}", spec[key], detail)


@rule("API-050")
def indexes_are_limited(write: AdmissionRequest) -> Errors:
    """The API server rejects an Indexed Job with too large parallelism, completions or maxFailedIndexes.

    Kubernetes: pkg/apis/batch/validation/validation.go (validateJobSpec)
    """
    spec = write.new["spec"]
    if spec.get("completionMode") != INDEXED:
        return
    limit = f"{_MOST} when completion mode is {INDEXED}"
    yield from _at_most(spec, "parallelism", _MOST, limit)
    if "completions" in spec:
        yield from _at_most(
            spec, "maxFailedIndexes", spec["completions"], "completions"
        )
    yield from _at_most(spec, "maxFailedIndexes", _MOST, str(_MOST))
    if "completions" in spec and "backoffLimitPerIndex" in spec:
        yield from _many(spec)


def _many(spec: Spec) -> Errors:
    if spec["completions"] <= _MOST:
        return
    if "maxFailedIndexes" not in spec:
        yield required(
            "spec.maxFailedIndexes",
            f"must be specified when completions is above {_MOST}",
        )
    for key in ("parallelism", "maxFailedIndexes"):
        detail = f"{_MANY} when completions are above {_MOST} and used with backoff limit per index"
        yield from _at_most(spec, key, _MANY, detail)


def _at_most(spec: Spec, key: str, most: int, limit: str) -> Errors:
    if key in spec and spec[key] > most:
        detail = f"must be less than or equal to {limit}"
        yield invalid(f"spec.{key}", spec[key], detail)
