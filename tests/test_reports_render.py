"""A report for people: one HTML page that a browser opens, short Markdown, and JUnit XML."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, cast
from xml.etree import ElementTree

import pytest

from kueue_dra_fixtures.verdicts import Reason, admitted, evicted, inadmissible, pending, unseen
from kueue_dra_reports.document import Report
from kueue_dra_reports.junit import as_junit
from kueue_dra_reports.kubernetes_form import compared, form
from kueue_dra_reports.markdown import as_markdown
from kueue_dra_reports.page.render import as_html
from tests.browser import browser
from tests.commands import ROOT, kueue_dra

CASE = "quota/test_pod_sets::test_devices_are_charged_for_each_pod[one-to-spare]"
VOID = {"meta", "link", "input", "br", "img", "hr"}


@pytest.fixture(scope="module")
def red(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the report of a run whose reference does not multiply by pods; COUNT-006 is a known failure."""
    folder = tmp_path_factory.mktemp("red")
    (folder / "known.yaml").write_text("- {id: COUNT-006, reason: <b>a bug</b>, until: 2999-12-31}")
    suite = "suites/kueue_dra_suites/conformance/quota"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:hypothesispytest", "-p", "no:cacheprovider", suite]
    command += ["--knock-out", "multiply_by_pod_count", f"--report-dir={folder}"]
    command += ["--expected-failures", str(folder / "known.yaml")]
    found = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    assert found.returncode == 1, found.stderr
    return folder / "report.json"


@pytest.fixture(scope="module")
def report(red: Path) -> Report:
    """Give its content."""
    return cast(Report, json.loads(red.read_text("utf-8")))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param(
            admitted({"gpus": 2}),
            "admission:\n  resourceUsage:\n    gpus: '2'\nconditions:\n- type: QuotaReserved\n  status: 'True'\n"
            "- type: Admitted\n  status: 'True'",
            id="admitted",
        ),
        pytest.param(
            pending(Reason.NO_QUOTA),
            "conditions:\n- type: QuotaReserved\n  status: 'False'\n  message: 'pending: not enough quota is left'",
            id="pending",
        ),
        pytest.param(
            inadmissible(Reason.NO_CLASS),
            "conditions:\n- type: QuotaReserved\n  status: 'False'\n"
            "  message: 'inadmissible: the DeviceClass does not exist'",
            id="inadmissible",
        ),
        pytest.param(
            evicted("Preempted"),
            "conditions:\n- type: Evicted\n  status: 'True'\n  reason: Preempted",
            id="evicted",
        ),
        pytest.param(unseen(), "conditions: []", id="unseen"),
        pytest.param({"a": [1, None], "b": {"c": "yes"}}, "a:\n- 1\n- null\nb:\n  c: 'yes'", id="object"),
        pytest.param("Admitted", "Admitted", id="text"),
        pytest.param("two\nlines", "two\nlines", id="lines"),
        pytest.param((Reason.NO_QUOTA, {"b", "a"}), "- not enough quota is left\n- - a\n  - b", id="others"),
        pytest.param([], "[]", id="empty"),
    ],
)
def test_values_are_printed_as_kubernetes_prints_them(value: object, text: str) -> None:
    """No repr of an object of ours."""
    assert form(value) == text


def test_a_value_that_contains_itself_is_printed() -> None:
    """A case may compare anything."""
    value: list[Any] = []
    value.append(value)

    assert "[[...]]" in form(value)


def test_two_texts_are_compared_line_by_line() -> None:
    """Equal lines stay, so that the place of a difference is seen."""
    assert compared("a\nb\nc", "a\nx\nc\nd") == [(" ", "a"), ("-", "b"), ("+", "x"), (" ", "c"), ("+", "d")]


def test_a_failed_case_has_what_explains_it(report: Report) -> None:
    """The steps of the reference, and the objects as the target had them."""
    (check,) = (one for one in report["checks"] if one["id"] == CASE)

    assert "whole-gpus: '6'" in check["expected"]
    assert "whole-gpus: '2'" in check["observed"]
    assert any("3 pods = 6 whole-gpus   [COUNT-006]" in step for step in check["explanation"])
    assert check["evidence"][:3] == ["---", "apiVersion: batch/v1", "kind: Job"]
    assert "  kind: ClusterQueue" not in check["evidence"][:3]
    assert "kind: Workload" in check["evidence"]


class Page(HTMLParser):
    """Checks that elements close in order, and keeps what the page refers to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.references: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in ("src", "href", "action", "poster", "srcset"):
                self.references.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        """Close the element that was opened last."""
        assert self.open, tag
        assert self.open.pop() == tag


def test_the_page_is_one_file_without_the_network(report: Report) -> None:
    """Well-formed, each id once, each link inside the page, nothing from elsewhere."""
    text = as_html(report)
    page = Page(text)

    assert page.open == []
    assert len(page.ids) == len(set(page.ids))
    inside = [one for one in page.references if one != "data:,"]
    assert {one.removeprefix("#") for one in inside} <= set(page.ids)
    assert "@import" not in text
    assert "url(" not in text
    assert "default-src 'none'" in text


def test_the_page_says_first_what_was_checked_and_how_it_ended(report: Report) -> None:
    """Then each failure with the sentence of the text, and everything escaped."""
    text = as_html(report)
    order = [
        "do not hold",
        '"subject">the reference in memory, checked as kueue-0.19.2',
        'id="summary"',
        "Expected failures",
        'id="failures"',
        "Kueue multiplies",
        'id="requirements"',
    ]
    sentence = next(one["text"] for one in report["requirements"] if one["id"] == "COUNT-006")
    order[5] = f"<blockquote><p>{sentence}"

    assert [text.index(one) for one in order] == sorted(text.index(one) for one in order)
    assert "&lt;b&gt;a bug&lt;/b&gt;" in text
    assert "<b>a bug</b>" not in text


def test_a_page_of_a_green_run_has_no_failures(tmp_path: Path) -> None:
    """The section is left out."""
    command = [sys.executable, "-m", "kueue_dra_cli", "run", "quota/test_fits", f"--report-dir={tmp_path}"]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    report = json.loads((tmp_path / "report.json").read_text("utf-8"))
    text, count = as_html(report), report["integrity"]["executed"]

    assert Page(text).open == []
    assert f"Nothing is violated, but not everything is proven: {count} of {count} cases passed." in text
    assert 'id="failures"' not in text


PROBE = """
<script>
const set = (name, value) => {
  const field = document.querySelector(`[name=${name}]`);
  field.value = value;
  field.dispatchEvent(new Event("input", {bubbles: true}));
  return document.querySelectorAll("#table tbody tr:not([hidden])").length;
};
const found = {all: rows.length};
found.must = set("level", "MUST");
found.failed = set("result", "failed");
found.heading = set("heading", "COUNT");
set("level", ""), set("result", ""), set("heading", "");
found.text = set("text", "CHARGES each pod set");
found.count = document.getElementById("count").textContent;
found.none = set("text", "zzzz") === 0 && !document.getElementById("none").hidden;
document.querySelector('a[href="#QUOTA-001"], a[href^="#"]:not(.skip)').click();
found.reset = document.querySelectorAll("#table tbody tr:not([hidden])").length;
found.requests = performance.getEntriesByType("resource").length;
found.wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
document.body.setAttribute("data-found", JSON.stringify(found));
</script>
"""


def shown(requirement: Any) -> str:
    """Give the text of a row, which the search reads."""
    parts = [requirement["id"], requirement["level"], requirement["verdict"], requirement["text"]]
    return " ".join([*parts, requirement["source"], *requirement["cases"], requirement.get("reason", "")]).lower()


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_works_in_a_browser(report: Report, tmp_path: Path, width: int, scheme: str) -> None:
    """Filters, no request, no console message, nothing wider than a phone."""
    program, file = browser(), tmp_path / "report.html"
    file.write_text(as_html(report).replace("</body>", f"{PROBE}</body>"), "utf-8")
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom"]
    options += [f"--user-data-dir={tmp_path / 'profile'}", f"--window-size={width},900"]
    options += [f"--blink-settings=preferredColorScheme={int(scheme == 'light')}"]
    ran = subprocess.run([program, *options, file.as_uri()], check=True, capture_output=True, text=True, timeout=120)

    assert "CONSOLE" not in ran.stderr
    found = json.loads(re.findall(r'data-found="([^"]*)"', ran.stdout)[0].replace("&quot;", '"'))
    rows = report["requirements"]
    must = [one for one in rows if one["level"] == "MUST"]
    failed = [one for one in must if one["verdict"] == "failed"]
    counted = [one for one in failed if one["id"].startswith("COUNT-")]
    assert (found["all"], found["must"], found["failed"]) == (len(rows), len(must), len(failed))
    assert found["heading"] == len(counted)
    assert found["text"] == len(
        [one for one in rows if all(w in shown(one) for w in ("charges", "each", "pod", "set"))]
    )
    assert found["count"] == f"{found['text']} of {len(rows)}"
    assert (found["none"], found["reset"], found["requests"], found["wide"]) == (True, len(rows), 0, 0)


def test_markdown_is_short_and_says_the_verdict_first(report: Report) -> None:
    """It fits a comment on a pull request, whatever failed."""
    text = as_markdown(report)
    lines = text.splitlines()

    assert lines[0].startswith("## ❌ ")
    assert "do not hold" in lines[0]
    assert len(text) < 60_000
    assert text.count("<details>") == text.count("</details>") == min(10, text.count("```diff"))
    assert "known until 2999-12-31: COUNT-006: &lt;b&gt;a bug&lt;/b&gt;" in text
    assert "-    whole-gpus: '6'" in text


def test_junit_has_each_case_once(report: Report) -> None:
    """And one more for the run."""
    root = ElementTree.fromstring(as_junit(report))

    names = {f"{case.attrib['classname']}::{case.attrib['name']}" for case in root.iter("testcase")}
    assert len(names) == len(report["checks"]) + 1


def test_junit_shows_both_sides_and_no_object(report: Report) -> None:
    """A known failure is skipped with its reason."""
    text = as_junit(report)
    root = ElementTree.fromstring(text)
    failure = next(one for one in root.iter("failure") if "expected" in (one.text or ""))
    known = next(case for case in root.iter("testcase") if case.attrib["name"] == CASE.partition("::")[2])

    assert failure.text
    assert failure.text.startswith("--- expected\n+++ observed\n")
    assert not re.search(r"object at 0x|Admitted\(", text)
    skipped = known.find("skipped")
    assert skipped is not None
    assert skipped.attrib["message"] == "known failure: <b>a bug</b>"


def test_junit_has_no_character_that_xml_forbids(report: Report) -> None:
    """A message may hold anything."""
    changed = json.loads(json.dumps(report))
    check = next(one for one in changed["checks"] if "expected" in one and one["id"] in changed["gate"]["red"])
    check["observed"] = "bell \x07, half \ud800, null \x00"

    assert "bell \ufffd, half \ufffd, null \ufffd" in "".join(ElementTree.fromstring(as_junit(changed)).itertext())


@pytest.mark.parametrize("output", ["terminal", "html", "md", "junit"])
def test_the_command_renders_each_form(red: Path, output: str) -> None:
    """YAML and JSON alike, exit code 0 whatever the verdict."""
    results = [kueue_dra("report", "render", file, "-o", output) for file in (red, red.with_suffix(".yaml"))]

    assert [each.exit_code for each in results] == [0, 0]
    assert results[0].stdout == results[1].stdout
    assert "whole-gpus" in results[0].stdout


@pytest.mark.parametrize("command", ["render", "diff", "validate", "merge"])
def test_an_empty_report_is_answered(tmp_path: Path, command: str) -> None:
    """An empty file, an empty object, and a list: one line each, no traceback."""
    for text in ("", "{}", "[]", "null", "\x00"):
        file = tmp_path / "report.json"
        file.write_text(text)
        again = [file] if command in ("diff", "merge") else []

        result = kueue_dra("report", command, file, *again)

        assert result.exit_code == (1 if command == "validate" else 2)
        assert result.stderr.startswith(f"{file}: ") or result.stderr.startswith(f"{file}:1: ")
