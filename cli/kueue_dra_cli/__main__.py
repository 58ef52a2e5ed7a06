"""``python -m kueue_dra_cli`` is ``kueue-dra``."""

from __future__ import annotations

from kueue_dra_cli import main

main(prog_name="kueue-dra")
