"""Run the command line: ``python -m kueue_dra_cli``."""

from __future__ import annotations

import kueue_dra_cli

if __name__ == "__main__":
    kueue_dra_cli.main(prog_name="kueue-dra")
