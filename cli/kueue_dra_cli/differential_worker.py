"""What each pod of generated scenarios in a cluster does: run its part of a seed, and print what it found into its log.

``python -m kueue_dra_cli.differential_worker ARGUMENTS`` with the arguments of ``kueue-dra differential``.
"""

from __future__ import annotations

import sys

from kueue_dra_cli.differential_summary import SUMMARY
from kueue_dra_cli.pod_worker import main

if __name__ == "__main__":
    sys.exit(main("differential", SUMMARY))
