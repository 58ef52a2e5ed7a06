"""Find words that are no plain Kubernetes English: ``python -m tests.words``.

Reads the Markdown pages, the comments and string literals of the Python sources (docstrings, help texts and messages
are among them), the texts of the requirement catalogue and the comments of the Makefile.  Prints ``file:line: word``
with a suggestion, then the hits by folder.  Exit code 1 if there is a hit that `EXCEPTIONS` does not allow, or an
exception that allows nothing.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent
EXCEPTIONS = Path(__file__).parent / "words_exceptions.toml"
"""Texts that are data, such as exact messages of Kueue: `path`, `phrase` and `why` of each."""
OWN = ("tests/words.py", "tests/test_words.py")
DATA = ("docs/campaigns.jsonl", "LICENSE")

BANNED = {
    # word: what to say instead; a space matches any white space
    r"told": "reported, shown, set (a condition)",
    r"telling": "reporting",
    r"(?:tell|tells|telling|told) apart": "distinguish",
    r"said": "reported, stated; name the condition or the message",
    r"whoever|whomever": "a workload that, anyone who",
    r"whom": "which workload, which ClusterQueue",
    r"who": "the workload that, the ClusterQueue that",
    r"somebody|someone": "a workload, a ClusterQueue, another client",
    r"nobody|no one": "no workload, no ClusterQueue, no client",
    r"everybody|everyone": "all workloads, all ClusterQueues",
    r"anew": "again, created again",
    r"mend|mends|mended|mending": "fix, fixed",
    r"hunt|hunts|hunted|hunting": "search, generated-scenario run",
    r"(?:come|comes|came|coming) to rest|at rest": "settle, settled",
    r"(?:leave|leaves|left|let) alone": "not selected, not preempted, skipped",
    r"reckon|reckons|reckoned|reckoning": "count, compute, expect",
    r"besides?": "next to, in addition to, and",
    r"in vain": "without effect, rejected",
    r"(?:stand|stands|stood|standing) (?:in )?for": "represent, mean, replace",
    r"(?:go|goes|went|going) round": "repeat, loop, livelock",
    r"what waits": "pending workloads",
    r"(?:is|are|was|were) let": "is admitted, is allowed",
    r"(?:take|takes|took|taken) note of": "record",
    r"judge|judges|judged|judging": "target; check, checked against",
    r"worlds?": "scenario, cluster state",
    r"play|plays|played|playing": "run, replay",
    r"heard|hears? of": "observed, received (by the informer)",
    r"(?:speak|speaks|spoke|spoken) (?:of|for)": "describe, apply to",
    r"passed over|pass(?:es)? over": "skipped, ignored",
    r"set aside|sets? (?:it|them) aside": "inadmissible, moved to the inadmissible workloads",
    r"(?:give|gives|gave|given|giving) back": "release (quota)",
    r"gravest|mildest": "most severe, least severe",
    r"slip of the pen": "typo",
    r"in turns": "alternately",
    r"at odds": "inconsistent",
    r"(?:stay|stays|stayed) as (?:it|they) (?:is|are|was|were)": "do not change",
    r"of (?:its|their) own accord": "without a trigger",
}
BY_WORD = [(re.compile(rf"\b(?:{word})\b".replace(" ", r"\s+"), re.IGNORECASE), say) for word, say in BANNED.items()]
NO_WORDS = re.compile(
    r"``.+?``|`[^`\n]+`"  # code
    r"|\]\([^)]*\)|<[^>\s]+>"  # targets of links
    r"|\{[^{}]*\}"  # what an f-string fills in
    r"|\b(?:users?|people|engineers?|readers?|maintainers?|administrators?|anyone)\s+who\b|\bfor\s+whom\b",  # persons
    re.DOTALL | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Text:
    """Some text of a file, and the line that it begins on."""

    path: str
    line: int
    text: str


@dataclass(slots=True)
class Allowed:
    """A phrase of one file in which banned words are allowed."""

    path: str
    phrase: str
    why: str
    used: bool = field(default=False)

    def allows(self, text: Text, start: int, end: int) -> bool:
        """Whether the phrase is there and covers a hit; white space may differ."""
        pattern = re.compile(r"\s+".join(map(re.escape, self.phrase.split())))
        found = self.path == text.path and any(
            one.start() <= start and end <= one.end() for one in pattern.finditer(text.text)
        )
        self.used = self.used or found
        return found


def texts(root: Path, paths: Iterable[str]) -> Iterator[Text]:
    """Give what people read in each file."""
    for path in paths:
        if path in OWN or path in DATA or not (root / path).is_file():
            continue
        source = (root / path).read_text("utf-8") if path.endswith((".md", ".py", ".toml", "Makefile")) else ""
        if path.endswith(".md"):
            yield Text(path, 1, source)
        elif path.endswith(".py"):
            yield from _of_python(path, source)
        elif "requirements/" in path and path.endswith(".toml"):
            yield from _of_catalogue(path, source)
        elif path == "Makefile":
            yield from (
                Text(path, number, line.partition("#")[2])
                for number, line in enumerate(source.splitlines(), 1)
                if "#" in line
            )


def _of_python(path: str, source: str) -> Iterator[Text]:
    """Give comments and string literals, except the IDs of cases (``id="..."``), which are data."""
    before = ("", "")
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        is_text = token.type in (tokenize.COMMENT, tokenize.STRING)
        is_text = is_text or tokenize.tok_name[token.type] == "FSTRING_MIDDLE"
        if is_text and before != ("id", "="):
            yield Text(path, token.start[0], token.string)
        before = (before[1], token.string)


def _of_catalogue(path: str, source: str) -> Iterator[Text]:
    wanted = [str(one) for entry in _entries(tomllib.loads(source)) for one in entry]
    for text in wanted:
        first = text.splitlines()[0] if text.strip() else ""
        line = source[: source.find(first)].count("\n") + 1 if first in source else 1
        yield Text(path, line, text)


def _entries(node: object) -> Iterator[list[object]]:
    if isinstance(node, dict):
        yield [node[key] for key in ("text", "excluded") if isinstance(node.get(key), str)]
        for value in node.values():
            yield from _entries(value)
    elif isinstance(node, list):
        for value in node:
            yield from _entries(value)


def hits(text: Text, exceptions: Iterable[Allowed] = ()) -> Iterator[tuple[int, str, str]]:
    """Give line, word and suggestion of each banned word that no exception allows."""
    blank = NO_WORDS.sub(lambda one: re.sub(r"\S", " ", one[0]), text.text)
    known = list(exceptions)
    for pattern, say in BY_WORD:
        for one in pattern.finditer(blank):
            if not any([each.allows(text, one.start(), one.end()) for each in known]):
                yield text.line + text.text.count("\n", 0, one.start()), " ".join(one[0].split()), say


def allowances() -> list[Allowed]:
    """Read the exceptions."""
    return [Allowed(**one) for one in tomllib.loads(EXCEPTIONS.read_text("utf-8")).get("exception", [])]


def main(paths: list[str]) -> int:
    """Check the named files, or all of the repository."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    chosen = [path for path in listed if path and (not paths or path.startswith(tuple(paths)))]
    exceptions = allowances()
    count: Counter[str] = Counter()
    for text in texts(ROOT, chosen):
        for line, word, say in sorted(hits(text, exceptions)):
            print(f"{text.path}:{line}: {word} (say: {say})")
            count["/".join(text.path.split("/")[:-1][:2]) or "."] += 1
    unused = [one for one in exceptions if not one.used and (not paths or one.path.startswith(tuple(paths)))]
    for one in unused:
        print(f"{EXCEPTIONS.name}: {one.path}: unused exception: {one.phrase}")
    for folder, number in sorted(count.items()):
        print(f"{number:6} {folder}", file=sys.stderr)
    return int(bool(count or unused))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
