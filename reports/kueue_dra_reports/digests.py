"""Digests of the files that belong together, in the form of ``sha256sum``: a file that was changed is found."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

FILE = "SHA256SUMS"
LINE = re.compile(r"([0-9a-f]{64})  ([^\s/][^/]*)")


def write(paths: Iterable[Path]) -> Path:
    """Write the digests of files of one folder next to them, and give the path."""
    files = sorted(paths)
    text = ""
    for path in files:
        text += f"{_digest(path)}  {path.name}\n"
    written = files[0].parent / FILE
    written.write_text(text, "utf-8")
    return written


def write_again(folder: Path, changed: Iterable[Path]) -> None:
    """Write the digests of a folder again after some of its files changed; the others must be as they were."""
    if (folder / FILE).is_file():
        known, wrong = _read(folder)
        if not wrong:
            files = {folder / name for name in known}
            write(files.union(changed))


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def faults_of(file: Path) -> list[str]:
    """List what is wrong with a file, by the digests next to it; a file that they do not name has no fault."""
    folder = file.parent
    if not (folder / FILE).is_file():
        return []
    known, wrong = _read(folder)
    if file.name in known:
        wrong += _compared(file, known[file.name])
    return wrong


def folder_faults(folder: Path) -> list[str]:
    """List what is wrong with the files of a folder: changed, missing, or without digests at all."""
    if not (folder / FILE).is_file():
        return [f"{folder}: found no {FILE}; expected the digests of its files"]
    known, wrong = _read(folder)
    for name, digest in known.items():
        wrong += _compared(folder / name, digest)
    return wrong


def _read(folder: Path) -> tuple[Mapping[str, str], list[str]]:
    known = dict[str, str]()
    wrong = list[str]()
    file = folder / FILE
    text = file.read_text("utf-8", errors="replace")
    for number, line in enumerate(text.splitlines(), 1):
        match = LINE.fullmatch(line)
        if match is None:
            shown = repr(line[:60])
            fault = f"{file}:{number}: found {shown}; expected a digest and a name"
            wrong.append(fault)
        else:
            digest, name = match.groups()
            known[name] = digest
    if not known:
        wrong.append(f"{file}: found no digest; expected one for each file")
    return known, wrong


def _compared(file: Path, expected: str) -> list[str]:
    short = expected[:12]
    try:
        found = _digest(file)
    except OSError as fault:
        return [f"{file}: {fault.strerror}; expected the digest {short}"]
    if found == expected:
        return []
    return [f"{file}: found the digest {found[:12]}; {FILE} has {short}"]
