"""``python -m reports.cli`` is ``kueue-dra``."""

from __future__ import annotations

from reports.cli import main

main(prog_name="kueue-dra")
