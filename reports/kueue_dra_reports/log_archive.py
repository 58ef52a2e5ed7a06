"""Files in the log of a pod: an archive as text between two marks, with its length and digest."""

from __future__ import annotations

import base64
import hashlib
import io
import re
import tarfile
from collections.abc import Iterable, Mapping
from pathlib import Path

MARK = "----- begin kueue-dra results,"
BEGIN = f"{MARK} {{size}} bytes, sha256 {{digest}} -----"
END = "----- end kueue-dra results -----"
FOUND = re.compile(
    r"^----- begin kueue-dra results, ([0-9]+) bytes, sha256 ([0-9a-f]{64}) -----$"
    r"(.*?)^----- end kueue-dra results -----$",
    re.MULTILINE | re.DOTALL,
)
LINE = 1000
"""Characters of a line."""


class NoResults(Exception):
    """A log has no results, or not all of them."""


def packed(folder: Path, names: Iterable[str]) -> str:
    """Give some files of a folder as text for a log; a file that does not exist is left out."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name in names:
            if (folder / name).is_file():
                archive.add(folder / name, arcname=name)
    data = buffer.getvalue()
    text = base64.b64encode(data).decode("ascii")
    lines = [text[at : at + LINE] for at in range(0, len(text), LINE)]
    begin = BEGIN.format(size=len(data), digest=hashlib.sha256(data).hexdigest())
    return "\n".join([begin, *lines, END]) + "\n"


def unpacked(log: str) -> Mapping[str, bytes]:
    """Give the files in a log by their names.

    Raises:
        NoResults: there are none, or they are damaged.

    """
    found = FOUND.findall(log)
    if not found:
        raise NoResults("found no results in the log of the pod, or only a part")
    size, digest, text = found[-1]
    try:
        data = base64.b64decode("".join(text.split()), validate=True)
    except ValueError:
        raise NoResults("found damaged results in the log of the pod") from None
    found_digest = hashlib.sha256(data).hexdigest()
    if len(data) != int(size) or found_digest != digest:
        raise NoResults("found results in the log of the pod with a wrong digest")
    return _files(data)


def _files(data: bytes) -> Mapping[str, bytes]:
    files = {}
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
        for member in archive.getmembers():
            content = archive.extractfile(member)
            if content is not None:
                files[member.name] = content.read()
    return files
