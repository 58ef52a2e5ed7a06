"""A real browser without a window for tests of pages: Chromium, over the pipe of its DevTools protocol."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
KEYS: dict[str, dict[str, Any]] = {
    "Enter": {"windowsVirtualKeyCode": 13, "text": "\r"},
    "Space": {"key": " ", "code": "Space", "windowsVirtualKeyCode": 32, "text": " "},
    "Escape": {"windowsVirtualKeyCode": 27},
    "Tab": {"windowsVirtualKeyCode": 9},
}
OPTIONS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe")


def browser() -> str:
    """Find a browser, or skip with what to do."""
    named = os.environ.get("KUEUE_DRA_BROWSER", "")
    found = named or next(filter(None, map(shutil.which, BROWSERS)), "")
    if not found:
        pytest.skip("no browser: install chromium, for example with apt-get, or name one in KUEUE_DRA_BROWSER")
    return found


class BrowserPage:
    """An open page; ``messages`` are those of its console, with exceptions, and ``requests`` what it asked for."""

    def __init__(self, reads: int, writes: int) -> None:
        self._reads, self._writes = reads, writes
        self._number, self._session = 0, ""
        self._rest = b""
        self.messages: list[str] = []
        self.requests: list[str] = []
        self._loaded = False

    def open(self, file: Path, width: int = 1280, scheme: str = "light") -> None:
        """Open a file with the width of a screen in a color scheme, as a new page."""
        self._session = ""
        self.messages, self.requests = [], []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 500
        )
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.send("Emulation.setEmulatedMedia", features=[feature])
        self._loaded = False
        self.send("Page.navigate", url=file.as_uri())
        while not self._loaded:
            self._receive()

    def send(self, method: str, **params: Any) -> Any:
        """Call a method of the protocol and give its result."""
        self._number += 1
        number = self._number
        message = {"id": number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._writes, json.dumps(message).encode() + b"\0")
        while True:
            found = self._receive()
            if found.get("id") == number:
                assert "error" not in found, found
                return found["result"]

    def evaluate(self, expression: str) -> Any:
        """Evaluate JavaScript in the page, a promise too; an exception fails the test."""
        found = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def press(self, name: str, *, shift: bool = False) -> None:
        """Press a key as a person does."""
        key = {"key": name, "code": name, **KEYS[name], "modifiers": 8 * shift}
        self.send("Input.dispatchKeyEvent", type="keyDown", **key)
        self.send("Input.dispatchKeyEvent", type="keyUp", **key)

    def type(self, text: str) -> None:
        """Type text into what has the focus."""
        self.send("Input.insertText", text=text)

    def click(self, expression: str) -> None:
        """Click the middle of the element that an expression gives."""
        middle = "({x: (r.left + r.right) / 2, y: (r.top + r.bottom) / 2})"
        script = f"(() => {{ const e = {expression}; e.scrollIntoView({{block: 'center'}});"
        place = self.evaluate(f"{script} const r = e.getBoundingClientRect(); return {middle}; }})()")
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, **place, button="left", clickCount=1)

    def picture(self, file: Path, *, full: bool = False) -> None:
        """Write a screenshot, of the whole page if asked."""
        found = self.send("Page.captureScreenshot", captureBeyondViewport=full)
        file.write_bytes(base64.b64decode(found["data"]))

    def printed(self, file: Path) -> None:
        """Print the page to a PDF file."""
        found = self.send("Page.printToPDF", printBackground=True)
        file.write_bytes(base64.b64decode(found["data"]))

    def _receive(self) -> Any:
        while b"\0" not in self._rest:
            more = os.read(self._reads, 1 << 20)
            assert more, "the browser ended"
            self._rest += more
        text, _, self._rest = self._rest.partition(b"\0")
        message = json.loads(text)
        self._note(message.get("method", ""), message.get("params") or {})
        return message

    def _note(self, method: str, params: Any) -> None:
        match method:
            case "Page.loadEventFired":
                self._loaded = True
            case "Runtime.consoleAPICalled" | "Runtime.exceptionThrown" | "Log.entryAdded":
                self.messages.append(json.dumps(params))
            case "Network.requestWillBeSent":
                self.requests.append(params["request"]["url"])
            case _:
                pass


@contextmanager
def started(folder: Path) -> Iterator[BrowserPage]:
    """Start a browser, whose profile is in a folder, for one page at a time."""
    program = browser()
    (to_read, to_write), (from_read, from_write) = os.pipe(), os.pipe()
    # The protocol reads from descriptor 3 and writes to descriptor 4; sh cannot copy those above 9.
    script = f'exec "$0" "$@" 3<&{to_read} 4>&{from_write}'
    command = ["bash", "-c", script, program, *OPTIONS, f"--user-data-dir={folder / 'profile'}", "about:blank"]
    with subprocess.Popen(
        command, pass_fds=(to_read, from_write), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        os.close(to_read)
        os.close(from_write)
        page = BrowserPage(from_read, to_write)
        try:
            yield page
        finally:
            process.kill()
            os.close(from_read)
            os.close(to_write)
