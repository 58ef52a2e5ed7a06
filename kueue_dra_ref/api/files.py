"""Text files, and the error of one that cannot be read as manifests."""

from __future__ import annotations

import gzip
import sys
import zlib
from pathlib import Path

STANDARD_INPUT = "-"
GZIP = ".gz"


class DocumentError(Exception):
    """A file that cannot be read as manifests: where, what was found and what was expected."""

    def __init__(
        self,
        *,
        file: str,
        document: int = 0,
        line: int = 0,
        field: str = "",
        found: str,
        expected: str,
    ) -> None:
        place = "".join(
            (
                file,
                f", document {document}" if document else "",
                f", line {line}" if line else "",
            )
        )
        super().__init__(f"{place}: found {found}; expected {expected}")
        self.file, self.document, self.line, self.field = file, document, line, field
        self.found, self.expected = found, expected

    @property
    def worded(self) -> str:
        """Print the error in one line as editors read it: FILE:LINE: FIELD: what is wrong."""
        place = f"{self.file}:{self.line}" if self.line else self.file
        field = f"{self.field}: " if self.field else ""
        return f"{place}: {field}found {self.found}; expected {self.expected}"


def _bytes_of(path: Path) -> bytes:
    if str(path) != STANDARD_INPUT:
        content = path.read_bytes()
        return gzip.decompress(content) if path.suffix == GZIP else content
    if sys.stdin is None:
        raise DocumentError(
            file=STANDARD_INPUT, found="standard input closed", expected="manifests"
        )
    return sys.stdin.buffer.read()


def text_of(path: Path) -> str:
    """Read a text file, unpacked if it ends in ``.gz``, or the standard input for ``-``, without a byte order mark.

    Raises:
        DocumentError: there is no such file, it cannot be read, or it is no UTF-8.

    """
    try:
        data = _bytes_of(path)
    except IsADirectoryError:
        raise DocumentError(
            file=str(path), found="a directory", expected="a file"
        ) from None
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise DocumentError(
            file=str(path),
            found="bytes that gzip cannot unpack",
            expected="a whole gzip file",
        ) from None
    except OSError as fault:
        found = (fault.strerror or "nothing").lower()
        raise DocumentError(
            file=str(path), found=found, expected="a readable text file"
        ) from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        found = f"byte 0x{data[fault.start]:02x}, which is not UTF-8"
        line = data.count(b"\n", 0, fault.start) + 1
        raise DocumentError(
            file=str(path), line=line, found=found, expected="UTF-8 text"
        ) from None
