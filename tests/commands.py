"""The command line as tests call it."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner, Result

from kueue_dra_cli import main

ROOT = Path(__file__).parent.parent
KEP = ROOT / "examples" / "kep-2025-09"
EXAMPLE, LEFT_OUT = KEP / "example.yaml", KEP / "what-the-text-leaves-out.yaml"


def kueue_dra(*arguments: object, stdin: str = "") -> Result:
    """Call ``kueue-dra``; an exception that is no exit fails the test with its traceback."""
    result = CliRunner().invoke(main, [str(each) for each in arguments], input=stdin, prog_name="kueue-dra")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result
