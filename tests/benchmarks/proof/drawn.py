"""How long it takes until the first picture stands in Chromium: Headlight's page, and bertviz's.

Ours is the app itself on a real server, with the model loaded: from Control + Enter on a new text until the first
layers of its grid are painted, the reading of the text included. bertviz's page is opened from a file, its libraries
given from this machine instead of the network; to that comes the time in which the page was made.
"""

import os
import re
import sys
from pathlib import Path
from typing import Final

from playwright.sync_api import Browser, Page, Route, sync_playwright
from playwright.sync_api import Error as PlaywrightError

from tests.benchmarks.browser import DEEP, GRID, TIMED, TWO_FRAMES_LATER
from tests.benchmarks.proof.limits import Limits, RunFailedError, figures_of
from tests.benchmarks.proof.models import Case
from tests.benchmarks.proof.table import Measured
from tests.browser.conftest import FLAGS, find_executable, streamlit_server
from tests.paths import ROOT
from viz.pages.attention.bertviz import tab as bertviz_view
from viz.selection.catalogue import ROOT_VARIABLE

SECONDS: Final = 120
_TYPE: Final = """() => {
  const field = document.querySelector("[data-testid='stSidebar'] textarea");
  field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", ctrlKey: true, bubbles: true }));
}"""
_PAINTED: Final = (
    "() => {{ const shown = {grid}?.dataset; return shown && shown.shown !== '{before}' && shown.waiting < {layers}; }}"
)


def draw_all(cases: list[Case], measured: Measured, root: Path, limits: Limits) -> None:
    """Note in each result how long its first picture took, or why there is none."""
    os.environ[ROOT_VARIABLE] = str(root / "models")
    with sync_playwright() as playwright, streamlit_server(ROOT / "app.py", (), root / "server.log") as url:
        for case in cases:
            for (model, tokens, name), results in measured.items():
                if (model, tokens) != (case.shape.name, case.tokens) or name in ("eager", "lens", "lens_patterns"):
                    continue
                # A browser of its own each time: what hangs in one does no harm to the next.
                browser = playwright.chromium.launch(executable_path=find_executable(), args=list(FLAGS))
                try:
                    results.drawn = (
                        _ours(browser, url, case) if name == "ours" else _bertviz(browser, case, name, limits)
                    )
                except PlaywrightError:
                    results.drawn = f"not within {SECONDS} s"
                except RunFailedError as failure:
                    results.drawn = str(failure)
                finally:
                    browser.close()
                print(f"  … {model}, {tokens} tokens, {name} drawn: {results.drawn}", file=sys.stderr, flush=True)


def _ours(browser: Browser, url: str, case: Case) -> float:
    page = _page(browser)
    page.add_init_script(DEEP)
    page.goto(f"{url}/?checkpoint={case.shape.folder}&text=the+house")
    page.wait_for_function(f"() => {GRID}?.dataset.waiting === '0'", timeout=1_000 * SECONDS)
    before = page.evaluate(f"{GRID}.dataset.shown")
    page.locator("[data-testid='stSidebar'] textarea").first.fill(case.text.read_text(encoding="utf-8"))
    painted = _PAINTED.format(grid=GRID, before=before, layers=12)
    return float(page.evaluate(TIMED.replace("60000", str(1_000 * SECONDS)), [_TYPE, painted])) / 1e3


def _bertviz(browser: Browser, case: Case, view: str, limits: Limits) -> float:
    file = case.text.with_suffix(f".{view}.html")
    module = "tests.benchmarks.proof.contenders"
    figures = figures_of(
        [sys.executable, "-m", module, view, str(case.folder), str(case.text), "--page", str(file)], limits
    )
    page = _page(browser)
    page.route(re.compile("^https:"), _libraries)
    began = float(page.evaluate("performance.timeOrigin + performance.now()"))
    page.goto(file.as_uri(), timeout=1_000 * SECONDS)
    page.wait_for_selector("svg line", state="attached", timeout=1_000 * SECONDS)
    return float(figures["picture"]) + (float(page.evaluate(TWO_FRAMES_LATER)) - began) / 1e3


def _page(browser: Browser) -> Page:
    page = browser.new_page(viewport={"width": 1400, "height": 1000})
    page.set_default_timeout(1_000 * SECONDS)
    return page


def _libraries(route: Route) -> None:
    """What bertviz's page asks the network for, from the packages that hold it."""
    shim = (
        "window.require = window.requirejs = (n, start) => start(window.jQuery, window.d3);\nrequire.config = () => {};"
    )
    body = "\n".join([*bertviz_view._libraries(), shim]) if "require" in route.request.url else ""
    route.fulfill(body=body, content_type="text/javascript")
