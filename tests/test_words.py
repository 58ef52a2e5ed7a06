"""The word check finds what it should, and allows only what is listed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import words
from tests.words import Allowed, Text, hits, texts


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        pytest.param("Nobody is told.", {"Nobody", "told"}, id="words"),
        pytest.param("until it comes\nto rest", {"comes to rest"}, id="across-lines"),
        pytest.param("`told-anew.yaml` and [a page](told.md)", set(), id="code-and-links"),
        pytest.param("for people who run a cluster", set(), id="persons"),
        pytest.param("A workload that waits is requeued.", set(), id="plain"),
    ],
)
def test_banned_words_are_found(written: str, expected: set[str]) -> None:
    """A hit names the word as it is written."""
    assert {word for _, word, _ in hits(Text("a.md", 1, written))} == expected


def test_an_exception_covers_its_phrase_only() -> None:
    """The same word elsewhere in the file is still a hit, and an exception that is not needed stays unused."""
    text = Text("a.md", 1, "Kueue reports: was told so.\ntold")
    needed, other = Allowed("a.md", "was told so", "an exact message"), Allowed("b.md", "was told so", "another file")

    assert [line for line, _, _ in hits(text, [needed, other])] == [2]
    assert (needed.used, other.used) == (True, False)


def test_comments_and_strings_of_python_are_read(tmp_path: Path) -> None:
    """Names and the IDs of cases are not."""
    (tmp_path / "a.py").write_text('told = 1  # told\n"""One.\n\nanew"""\nparam(1, id="is-told")\n', "utf-8")

    found = [hit for text in texts(tmp_path, ["a.py"]) for hit in hits(text)]

    assert [(line, word) for line, word, _ in found] == [(1, "told"), (4, "anew")]


def test_texts_of_the_catalogue_are_read(tmp_path: Path) -> None:
    """With the line of each."""
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements" / "a.toml").write_text('[A-1]\ntext = "It is mended."\nsource = "said"\n', "utf-8")

    found = [hit for text in texts(tmp_path, ["requirements/a.toml"]) for hit in hits(text)]

    assert [(line, word) for line, word, _ in found] == [(2, "mended")]


def test_a_banned_word_fails_the_check(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """With file, line and suggestion; and so does an exception that allows nothing."""
    planted = Text("README.md", 7, "The result is told.")
    unused = Allowed("README.md", "was told so", "an exact message")
    monkeypatch.setattr(words, "texts", lambda root, paths: [planted])

    monkeypatch.setattr(words, "allowances", list)
    assert words.main(["README.md"]) == 1
    assert capsys.readouterr().out.startswith("README.md:7: told (say: ")

    monkeypatch.setattr(words, "texts", lambda root, paths: [])
    assert words.main(["README.md"]) == 0
    monkeypatch.setattr(words, "allowances", lambda: [unused])
    assert words.main(["README.md"]) == 1
    assert "unused exception" in capsys.readouterr().out
