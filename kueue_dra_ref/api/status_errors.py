"""The faults of a manifest as an API server reports them: the field, what was found, what was expected."""

from __future__ import annotations

import json
from collections.abc import Sequence

from kueue_dra_ref.target import FieldError

_SHOWN = 120
"""Characters of a wrong value that are shown."""


class ManifestError(Exception):
    """A manifest that no API server would store; ``code`` is the HTTP status that it would answer.

    ``message`` is what it would say where that is not made of the error alone, and ``others`` are further errors.
    """

    def __init__(
        self,
        error: FieldError,
        code: int = 422,
        message: str = "",
        others: Sequence[FieldError] = (),
    ) -> None:
        super().__init__(str(error))
        self.error, self.code, self.message, self.others = (
            error,
            code,
            message,
            tuple(others),
        )


class Denied(ManifestError):
    """A manifest that a validating webhook denies."""

    def __init__(self, webhook: str, errors: Sequence[FieldError]) -> None:
        reasons = ", ".join(map(str, errors))
        if len(errors) > 1:
            reasons = f"[{reasons}]"
        message = _denial(webhook, reasons)
        super().__init__(errors[0], code=403, message=message, others=errors[1:])


class Panicked(ManifestError):
    """A manifest on which a validating webhook panics, which controller-runtime recovers from."""

    def __init__(self, webhook: str) -> None:
        reason = "panic: runtime error: invalid memory address or nil pointer dereference [recovered]"
        error = FieldError(field="", type="Internal error", detail=reason)
        super().__init__(error, code=500, message=_denial(webhook, reason))


def _denial(webhook: str, reasons: str) -> str:
    return f'admission webhook "{webhook}" denied the request: {reasons}'


def invalid(field: str, found: object, expected: str) -> ManifestError:
    """Make the error of a field that holds something else than it must."""
    value = json.dumps(found, default=str, ensure_ascii=False)
    if len(value) > _SHOWN:
        value = f"{value[:_SHOWN]}..."
    return ManifestError(
        FieldError(field=field, type="Invalid value", value=value, detail=expected)
    )


def required(field: str, expected: str = "") -> ManifestError:
    """A field is missing."""
    return ManifestError(
        FieldError(field=field, type="Required value", detail=expected)
    )
