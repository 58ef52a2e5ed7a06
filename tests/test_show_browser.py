"""The pages of ``show`` and ``what-if`` in a real browser: by click, by keyboard, filtered, narrow and printed."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from kueue_dra_clusters.build_cache import kept
from kueue_dra_reports.cluster_page.mermaid import escaped
from tests.browser import BrowserPage, started
from tests.clusters_live.manifests import a_job
from tests.commands import kueue_dra
from tests.show_clusters import CONFIGURATION, a_cluster
from tests.test_show import HOSTILE, hostile_dump

MERMAID = "@mermaid-js/tiny@11.17.2"
"""What GitHub draws diagrams with, in its build of one file."""
HELPERS = """
window.visible = (selector) => [...document.querySelectorAll(selector)].filter((each) => each.checkVisibility());
window.queue = (name) => document.querySelector(`.node[data-name="${name}"] .toggle`);
window.job = (name) => visible(".work .toggle").find((each) => each.firstChild.data === name);
window.shown = () => [...document.querySelectorAll(".badge")]
  .filter((each) => each.textContent !== "admitted" && !each.closest("[hidden]"));
window.names = () => visible(".node").map((each) => each.dataset.name);
window.set = (name, value) => {
  const field = document.querySelector(`[name="${name}"]`);
  if (field.type === "checkbox") field.checked = value; else field.value = value;
  field.dispatchEvent(new Event("input", {bubbles: true}));
};
null
"""

DRAW = """
(async () => {
  const found = [];
  for (const text of DIAGRAMS) {
    await mermaid.parse(text);
    const {svg} = await mermaid.render(`d${found.length}`, text);
    const place = document.createElement("div");
    place.innerHTML = svg;
    document.body.append(place);
    found.push([...place.querySelectorAll(".node foreignObject div")].map((each) => each.innerText));
  }
  return found;
})()
"""
LABEL = "</b><img src=x> & \"q\" 'a' `t` #35; %%{init} style:#1; end [x] {y} (z) | ~ \\"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Have the pages of a cluster of 5 ClusterQueues, of one of 40, of a change, and of hostile texts."""
    place = tmp_path_factory.mktemp("pages")
    _page(place / "small", "show", *a_cluster(5, 16))
    _page(place / "large", "show", *a_cluster(40, 160))
    _page(place / "change", "what-if", *a_cluster(5, 16), options=("--set", "clusterqueue/queue-000:whole-gpus=2"))
    _page(place / "hostile", "show", *hostile_dump(), CONFIGURATION)
    return place


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserPage]:
    """Have a browser, which opens one page after the other."""
    with started(tmp_path_factory.mktemp("browser")) as found:
        yield found


def _page(name: Path, command: str, *objects: Any, options: tuple[str, ...] = ()) -> None:
    file = name.with_suffix(".yaml")
    file.write_text(yaml.safe_dump_all(objects), "utf-8")
    page = name.with_suffix(".html")
    result = kueue_dra(command, file, *options, "-o", "html", "--output-file", page)
    assert result.exit_code == 0, result.stderr


def quiet(page: BrowserPage, file: Path) -> bool:
    """Whether the console has no message, and the page asked for nothing but itself."""
    return page.messages == [] and page.requests == [file.as_uri()]


def test_a_click_shows_the_steps_that_explain_prints(folder: Path, page: BrowserPage) -> None:
    """A second click hides them; the color switch wins over the system."""
    file = folder / "small.html"
    (explained,) = json.loads(kueue_dra("explain", "-f", folder / "small.yaml", "-o", "json", "train-3").stdout)[:1]
    steps = [each["text"] for each in explained["steps"]]

    page.open(file)
    page.evaluate(HELPERS)
    page.click("job('team/job/train-3')")
    found = page.evaluate("visible('.derivation li').map((each) => each.firstChild.data)")
    cites = page.evaluate("visible('.derivation li .cite').map((each) => each.textContent)")
    hint = page.evaluate("document.querySelector('.hint code').textContent")
    background = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(background)
    page.evaluate("set('scheme', 'dark')")
    dark = page.evaluate(background)
    page.click("job('team/job/train-3')")

    assert found == steps[: len(found)]
    assert len(found) >= 4
    assert "COUNT-001" in cites
    assert hint == f"kueue-dra explain -f {folder / 'small.yaml'} -n team job/train-3"
    assert (light, dark) == ("rgb(255, 255, 255)", "rgb(20, 23, 28)")
    assert page.evaluate("visible('.derivation').length") == 0
    assert quiet(page, file)


def test_the_page_works_by_keyboard(folder: Path, page: BrowserPage) -> None:
    """Tab shows where the focus is, Enter and Space open, Escape closes and gives the focus back."""
    file = folder / "large.html"
    focus = "document.activeElement.firstChild?.textContent || document.activeElement.name"
    page.open(file)
    page.evaluate(HELPERS)
    page.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the queues"
    page.press("Enter")
    page.press("Tab")
    assert page.evaluate("document.activeElement === queue('org')")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"

    page.evaluate("queue('queue-000').focus()")
    page.press("Enter")
    assert page.evaluate("queue('queue-000').getAttribute('aria-expanded')") == "true"
    page.press("Tab")
    name = page.evaluate(focus)
    assert name.startswith("team/job/train-")
    page.press("Space")
    assert page.evaluate("visible('.derivation li').length") >= 3
    controlled = "document.getElementById(document.activeElement.getAttribute('aria-controls'))"
    assert page.evaluate(f"{controlled} === visible('.derivation')[0]")

    page.press("Escape")
    assert page.evaluate("visible('.derivation').length") == 0
    assert page.evaluate(focus) == name
    page.press("Escape")
    assert page.evaluate("visible('.work').length") == 0
    assert page.evaluate("document.activeElement === queue('queue-000')")
    assert quiet(page, file)


def test_filter_collapse_and_sort(folder: Path, page: BrowserPage) -> None:
    """The count says how many ClusterQueues are shown."""
    file = folder / "large.html"
    count = "document.getElementById('count').textContent"
    page.open(file)
    page.evaluate(HELPERS)
    assert page.evaluate("names().length") == 46
    assert page.evaluate(count) == "40 of 40 ClusterQueues"

    page.click("document.querySelector('[name=text]')")
    page.type("train-3 unmapped")
    assert page.evaluate("names().length") == 0
    assert page.evaluate("visible('#none').length") == 1
    page.press("Escape")
    page.type("TRAIN-33")
    assert page.evaluate("names()") == ["org", "division-3", "queue-031"]
    assert page.evaluate("visible('.work .toggle').length") == 1
    page.evaluate("set('text', 'division-2')")
    assert page.evaluate("names()") == ["org", "division-2", *(f"queue-{n:03}" for n in range(16, 24))]
    page.evaluate("set('text', '')")

    page.click("queue('division-1')")
    assert page.evaluate("names().length") == 46 - 8
    page.click("document.getElementById('close')")
    assert page.evaluate("names()") == ["org"]
    page.click("document.getElementById('open')")
    assert page.evaluate("visible('.work > li').length") == 160

    page.evaluate("set('waiting', true)")
    waiting = page.evaluate("visible('.work .badge').map((each) => each.textContent)")
    assert set(waiting) == {"pending", "inadmissible"}
    page.evaluate("set('waiting', false)")
    page.evaluate("set('resource', '= whole-gpus')")
    page.evaluate("set('sort', 'use')")
    used = page.evaluate("visible('.quotas tr[data-resource]').map((each) => Number(each.dataset.use))")
    assert len(used) == 40
    assert used == sorted(used, reverse=True)
    assert used[0] > 1
    page.evaluate("set('sort', 'waits')")
    waits = page.evaluate("visible('.node').map((each) => Number(each.dataset.waits))")
    assert waits == sorted(waits, reverse=True)
    page.evaluate("set('sort', 'tree')")
    assert page.evaluate("names().slice(0, 3)") == ["org", "division-0", "queue-000"]
    assert quiet(page, file)


@pytest.mark.parametrize("name", ["small", "large", "change", "hostile"])
@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_nothing_is_wider_than_the_screen(folder: Path, page: BrowserPage, name: str, width: int, scheme: str) -> None:
    """On a phone as well, with everything open, very long names too; the scheme is that of the system."""
    file = folder / f"{name}.html"
    page.open(file, width, scheme)
    page.evaluate("document.getElementById('open').click()")
    page.evaluate("document.querySelectorAll('.work .toggle').forEach((each) => each.click())")
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"

    assert page.evaluate("document.querySelectorAll('.derivation').length") > 0
    assert page.evaluate(wide) == 0
    color = {"dark": "rgb(20, 23, 28)", "light": "rgb(255, 255, 255)"}[scheme]
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == color
    assert quiet(page, file)


def test_hostile_texts_do_nothing(folder: Path, page: BrowserPage) -> None:
    """They are shown as they are."""
    file = folder / "hostile.html"
    page.open(file)
    page.evaluate(HELPERS)
    page.click("job('team/job/alpha')")

    assert page.evaluate("document.querySelectorAll('img').length") == 0
    assert HOSTILE.strip() in page.evaluate("visible('.derivation')[0].textContent")
    assert quiet(page, file)


def test_a_change_is_shown_side_by_side(folder: Path, page: BrowserPage) -> None:
    """Both decisions, both derivations, and only what changes."""
    file = folder / "change.html"
    page.open(file)
    page.evaluate(HELPERS)
    page.evaluate("set('changed', true)")
    names = page.evaluate("visible('.work .toggle').map((each) => each.firstChild.data)")
    badges = page.evaluate("visible('.work .effect').map((each) => each.textContent)")
    assert len(names) == len(badges) >= 2
    assert "newly admitted" in badges
    page.click(f"job({json.dumps(names[badges.index('newly admitted')])})")
    before, after = page.evaluate("visible('.derivation section').map((each) => each.innerText)")
    assert before.startswith("before")
    assert "quota is reserved; admitted" not in before
    assert "quota is reserved; admitted" in after
    places = page.evaluate("visible('.derivation section').map((each) => each.getBoundingClientRect().top)")
    assert places[0] == places[1]
    assert page.evaluate("visible('.hint').length") == 0
    assert quiet(page, file)


def test_a_printed_page_has_what_waits(folder: Path, page: BrowserPage, tmp_path: Path) -> None:
    """Each waiting Workload is on paper, in dark letters; afterwards the page is as before."""
    file = folder / "large.html"
    page.open(file, scheme="dark")
    page.evaluate(HELPERS)
    waiting = page.evaluate("nodes.reduce((sum, node) => sum + node.waits, 0)")
    page.evaluate("addEventListener('beforeprint', () => { window.waiting = shown().length; })")
    page.click("document.getElementById('close')")
    page.printed(tmp_path / "page.pdf")
    page.send("Emulation.setEmulatedMedia", media="print")

    assert page.evaluate("window.waiting") == waiting > 60
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("visible('form, .skip').length") == 0
    assert page.evaluate("names()") == ["org"]
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")


@pytest.fixture(scope="module")
def mermaid() -> Path:
    """Have mermaid in one file, installed once with npm."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        pytest.skip("no node and npm, with which mermaid is installed")

    def install(place: Path) -> None:
        command = [npm, "install", "--prefix", str(place), "--ignore-scripts", "--no-audit", "--no-fund", MERMAID]
        ran = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
        if ran.returncode:
            pytest.skip(f"npm cannot install {MERMAID}: {ran.stderr.strip().splitlines()[-1:]}")

    name = re.sub(r"[^a-z0-9.]+", "-", MERMAID).strip("-")
    return kept(name, install) / "node_modules" / "@mermaid-js" / "tiny" / "dist" / "mermaid.tiny.js"


def test_mermaid_draws_the_diagrams(mermaid: Path, folder: Path, page: BrowserPage, tmp_path: Path) -> None:
    """Its own parser accepts them, and the drawing has the names as they are."""
    hostile = [*hostile_dump(), CONFIGURATION]
    (folder / "names.yaml").write_text(yaml.safe_dump_all([*hostile, a_job("end")]), "utf-8")
    files = [folder / "small.yaml", folder / "large.yaml", folder / "names.yaml"]
    diagrams = [kueue_dra("show", file, "-o", "mermaid").stdout for file in files]
    diagrams.append(f'flowchart LR\n  n0["{escaped(LABEL)}"]\n')
    page_file = tmp_path / "mermaid.html"
    script = mermaid.read_text("utf-8").replace("</script", "<\\/script")
    page_file.write_text(f"<!doctype html><meta charset='utf-8'><body><script>{script}</script>", "utf-8")

    page.open(page_file)
    page.evaluate("mermaid.initialize({startOnLoad: false})")
    drawn = page.evaluate(DRAW.replace("DIAGRAMS", json.dumps(diagrams)))

    assert [len(each) for each in drawn] == [7, 46, 1, 1]
    assert drawn[0][0].startswith("Cohort org")
    assert any(each.startswith("ClusterQueue queue-000") for each in drawn[0])
    assert drawn[3] == [LABEL]
    assert page.evaluate("document.querySelectorAll('img').length") == 0
