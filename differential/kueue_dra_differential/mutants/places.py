"""Where the sources of the reference are, without an import of it."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

REFERENCE = "kueue_dra_ref"
_SPEC = find_spec(REFERENCE)
assert _SPEC is not None
assert _SPEC.origin is not None
PACKAGE = Path(_SPEC.origin).parent
"""The reference."""
ROOT = PACKAGE.parent
"""The checkout, or the folder in which the packages are installed; paths of modules begin below it."""
