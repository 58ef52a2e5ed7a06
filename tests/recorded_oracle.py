"""Answers for Kubernetes' CEL program from a recording of what it was asked once; it ends when its input does.

python -m tests.recorded_oracle record >tests/golden/cel_oracle.jsonl     asks the real program
python -m tests.recorded_oracle                                           answers as it did
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kueue_dra_ref.cel import Device
from kueue_dra_ref.cel.kubernetes_backend import OracleProgram, ProgramFailed

FILE = Path(__file__).parent / "golden" / "cel_oracle.jsonl"
GPU = Device(
    name="d",
    driver="gpu.example.com",
    attributes={"model": {"string": "a100"}},
    capacity={"memory": "0.5"},
)
SHARED = Device(name="d", driver="x", attributes={"index": {"int": 1}}, allow_multiple_allocations=True)
VALUELESS = Device(name="d", driver="x", attributes={"none": {}})
MISTYPED = Device(name="d", driver="x", attributes={"model": {"string": 7}})
BAD_CAPACITY = Device(name="d", driver="x", capacity={"memory": "x"})
ASKED: tuple[tuple[str, list[Device]], ...] = (
    ("device.driver == 'x'", []),
    ("device.driver == 'x'", [GPU]),
    ("device.driver == 'x'", [GPU, SHARED]),
    ("device.allowMultipleAllocations", [GPU, SHARED]),
    ("device.attributes['gpu.example.com'].model == 'a100'", [GPU, SHARED]),
    ("device.capacity['gpu.example.com'].memory == quantity('500m')", [GPU]),
    ("1 + 1", [GPU]),
    ("1 + 1", []),
    ("true", []),
    ("true", [GPU]),
    ("true", [VALUELESS]),
    ("true", [MISTYPED]),
    ("true", [BAD_CAPACITY]),
    ("[0, 1, 2, 3, 4, 5, 6, 7].all(a, " * 24 + "true" + ")" * 24, [GPU]),
)


class _Heard(OracleProgram):
    def _talk(self, question: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        print(json.dumps([question, answer]))
        return answer


def record() -> None:
    """Print each question and the answer of the real program."""
    from kueue_dra_clusters.cel_oracle import cel_oracle

    program = _Heard(str(cel_oracle()))
    for expression, devices in ASKED:
        try:
            program.ask(expression, devices)
        except ProgramFailed as refused:
            print(refused, file=sys.stderr)
    program.close()


def answers() -> Iterator[str]:
    """Answer each line of standard input as the real program did."""
    recorded = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]
    for line in sys.stdin:
        question = json.loads(line)
        found = [answer for asked, answer in recorded if asked == question]
        yield json.dumps(found[0] if found else {"malformed": f"never asked: {line}"})


if __name__ == "__main__":
    if sys.argv[1:] == ["record"]:
        record()
    else:
        for answer in answers():
            print(answer, flush=True)
