"""A real browser and real Streamlit servers for the browser tests.

Knows how to start, watch and stop both; knows nothing of what the pages under test contain.
"""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import urlsplit

import pytest

from tests.paths import ROOT
from tests.patience import PATIENCE
from viz.server.opening_page.first_picture import STORY_CLOSED, STORY_COOKIE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize

# The same engine without a window to put around it: the tests take it where it is, for half of the processor time.
HEADLESS_SHELL = "chromium-headless-shell"
EXECUTABLES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", HEADLESS_SHELL)
# --no-sandbox because CI runs as root; the others keep the browser from calling home, which would spoil the check
# that a page asks no other host for anything.
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP headlight.test 127.0.0.1",
)  # fmt: skip
SERVER_OPTIONS = (
    "--server.headless=true",
    "--server.address=127.0.0.1",
    "--server.fileWatcherType=none",
    "--browser.gatherUsageStats=false",
)
HERE = Path(__file__).parent
#: So long a test waits for one thing that it expects.
PATIENCE_MS = 1_000 * PATIENCE / 2
#: A name by which others could reach a server, as far as it and its pages know.
REACHABLE = "headlight.test"
#: Streamlit asks for these below the address of a page first, and finds them at the root second.
ASKED_BELOW_A_PAGE = re.compile(rf"^http://(127\.0\.0\.1|{REACHABLE}):\d+/\w+/_stcore/(health|host-config)$")
HOW_TO_GET_IT = (
    f"The browser tests need Chromium and Playwright: `apt-get install {HEADLESS_SHELL}`, `pip install playwright`."
)

#: A promise of the time when all events of what was done have arrived.
TWO_FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"

Serve = Callable[..., str]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything in this folder is a browser test, so that `-m "not browser"` leaves it out."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker("browser")


def _missing(reason: str) -> NoReturn:
    """Skip on a developer's machine, fail in CI: there a skipped browser test would be a silent hole."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{reason} {HOW_TO_GET_IT}", pytrace=False)
    pytest.skip(f"{reason} {HOW_TO_GET_IT}")


def find_executable() -> str | None:
    """The system's Chromium, if there is one, as a person would use it."""
    return next(filter(None, map(shutil.which, EXECUTABLES)), None)


@pytest.fixture(scope="session")
def chromium() -> "Iterator[Browser]":
    """One headless Chromium for the whole run, the system's own."""
    executable = shutil.which(HEADLESS_SHELL) or find_executable()
    if executable is None:
        _missing("No Chromium was found.")
    try:
        from playwright.sync_api import expect, sync_playwright
    except ImportError:
        _missing("Playwright is not installed.")
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=list(FLAGS))
        yield browser
        browser.close()


def free_port() -> int:
    """A port that was free a moment ago; the operating system does not hand it out again at once."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_healthy(url: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=2) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    tail = log.read_text(errors="replace", encoding="utf-8")[-3000:]
    raise RuntimeError(f"Streamlit did not become healthy at {url} (exit code {process.poll()}). Its log ends:\n{tail}")


@contextmanager
def streamlit_server(script: Path, options: tuple[str, ...], log: Path) -> Iterator[str]:
    """`streamlit run script` in a process of its own, from the project's root so that its config.toml counts."""
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", str(script), f"--server.port={port}", *SERVER_OPTIONS]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, *options],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            url = f"http://127.0.0.1:{port}"
            _wait_until_healthy(url, process, log)
            yield url
        finally:
            process.terminate()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@pytest.fixture(scope="session")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    """`serve(script, *streamlit_options)` → the URL of a healthy server; the same arguments share one server.

    All demo pages, `demo_<name>.py`, share one too, where each has an address of its own.
    """
    with ExitStack() as running:
        urls: dict[tuple[Path, tuple[str, ...]], str] = {}

        def start(script: Path, *options: str) -> str:
            if script.stem.startswith("demo_"):
                return f"{start(HERE / 'demos.py')}/{script.stem.removeprefix('demo_')}"
            asked = (script.resolve(), options)
            if asked not in urls:
                log = tmp_path_factory.mktemp("streamlit") / "server.log"
                urls[asked] = running.enter_context(streamlit_server(script, options, log))
            return urls[asked]

        yield start


@pytest.fixture(scope="session")
def checkpoints(recorded_checkpoints: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The app's folder of models: "en-de", a tiny checkpoint that has a record, and what tests put beside it."""
    return Path(shutil.copytree(recorded_checkpoints, tmp_path_factory.mktemp("served") / "checkpoints"))


@pytest.fixture(scope="session")
def url(serve: Serve, checkpoints: Path) -> str:
    """The whole app, which opens with the tiny checkpoint."""
    os.environ["HEADLIGHT_CHECKPOINTS"] = str(checkpoints)
    try:
        return serve(ROOT / "app.py")
    finally:
        del os.environ["HEADLIGHT_CHECKPOINTS"]


@pytest.fixture(scope="session")
def shipped(checkpoints: Path) -> str:
    """What the app calls the checkpoint that ships."""
    return shutil.copytree(ROOT / "checkpoints" / "en-de", checkpoints / "shipped").name


@pytest.fixture(scope="session")
def shipped_url(url: str, shipped: str) -> str:
    """The address at which the whole app opens with the checkpoint that ships."""
    return f"{url}/?checkpoint={shipped}"


@pytest.fixture(scope="session")
def app_as_shipped(serve: Serve) -> str:
    """The whole app with all that ships, experiments too."""
    # Servers with the same options are shared; this one is no other's.
    hosts = ("127.0.0.1", REACHABLE)
    return serve(ROOT / "app.py", "--server.maxUploadSize=201", *(f"--server.allowedHosts={host}" for host in hosts))


@pytest.fixture(scope="session")
def app_for_others(app_as_shipped: str) -> str:
    """The same server by a name that others could open."""
    return app_as_shipped.replace("127.0.0.1", REACHABLE)


def is_local(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme in {"data", "blob", "about"} or parts.hostname in {"127.0.0.1", REACHABLE}


@pytest.fixture(scope="session")
def profile(chromium: "Browser") -> "Iterator[BrowserContext]":
    """One profile for all tabs, so that a page's scripts are fetched and compiled once and not for every test.

    It asks for reduced motion: drawing Streamlit's placeholders as they shimmer costs more than all the pages. In it
    the story "Start here" is closed: who clears the cookies comes for the first time.
    """
    context = chromium.new_context(viewport=VIEWPORT, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE_MS)
    context.add_cookies([STORY_IS_CLOSED])
    yield context
    context.close()


STORY_IS_CLOSED: Any = {"name": STORY_COOKIE, "value": STORY_CLOSED, "domain": "127.0.0.1", "path": "/"}
VIEWPORT: "ViewportSize" = {"width": 1400, "height": 1000}
#: Emptied tabs. A page costs a third less processor time in a tab that had one before: its scripts are compiled there.
IDLE: "list[Page]" = []


#: Tabs in which the app is open.
OPEN: "list[Page]" = []
#: Lead an open app to another address, as Back and Forward do, until it is drawn.
LEAD = """async (address) => {
  // Another theme makes another element of the app.
  const isRunning = () => !document.querySelector("[data-testid=stApp][data-test-script-state=notRunning]");
  const until = (isSo) => new Promise((done) => {
    const look = () => isSo() && (watch.disconnect(), done());
    const watch = new MutationObserver(look);
    watch.observe(document, { subtree: true, childList: true, attributeFilter: ["data-test-script-state"] });
    look();
  });
  await until(() => !isRunning());
  // A run whose beginning and end come together is never shown as running.
  const begun = Promise.race([
    until(isRunning).then(() => true),
    new Promise((over) => setTimeout(() => over(false), 5_000)),
  ]);
  history.pushState({}, "", address);
  dispatchEvent(new PopStateEvent("popstate"));
  const hasBegun = await begun;
  await until(() => !isRunning());
  return hasBegun;
}"""


#: Take the focus from whatever has it, within components too.
LET_GO = """() => {
  let focused = document.activeElement;
  while (focused?.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement;
  focused?.blur();
}"""


def visit(page: "Page", address: str) -> None:
    """Open an address of the app; a tab that shows the app is led there, which takes half of what loading it takes."""
    is_open = urlsplit(page.url)[:2] == urlsplit(address)[:2]
    # A busy page may miss that it is led.
    if not (is_open and page.evaluate(LEAD, address)):
        page.goto(address)


def settled(page: "Page") -> None:
    """Wait until a page has drawn everything: what comes later closes lists and cards that are open."""
    from playwright.sync_api import expect

    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")


def _empty(tab: "Page", is_left_open: bool) -> None:
    """Leave nothing in a tab that another test could notice.

    Open menus, storage, history, size, theme, motion, pointer, focus.
    """
    if urlsplit(tab.url).scheme == "http":
        # A menu that is still open would be closed by the next test that opens it.
        tab.keyboard.press("Escape")
        tab.evaluate("localStorage.clear(); sessionStorage.clear()")
        tab.evaluate(LET_GO)
    if not is_left_open:
        tab.goto("about:blank")
    tab.set_viewport_size(VIEWPORT)
    tab.emulate_media(media="null", color_scheme="null", reduced_motion="reduce")
    tab.mouse.move(0, 0)
    devtools = tab.context.new_cdp_session(tab)
    devtools.send("Page.resetNavigationHistory")
    devtools.detach()
    tab.context.clear_cookies()
    tab.context.add_cookies([STORY_IS_CLOSED])
    tab.context.clear_permissions()


@contextmanager
def watched_tab(profile: "BrowserContext", kept: "list[Page] | None" = IDLE) -> "Iterator[Page]":
    """A tab, 1400 × 1000, that must end without a console error and without a request to another host.

    It is one of those kept, and is kept for others. None of them has scripts, routes or listeners added, which only
    closing it ends.
    """
    tab = kept.pop() if kept else profile.new_page()
    problems: list[str] = []
    others = profile.pages

    def on_console(message: Any) -> None:
        if message.type == "error" and not ASKED_BELOW_A_PAGE.search(message.location.get("url", "")):
            problems.append(f"console error: {message.text}")

    def on_request(request: Any) -> None:
        if not is_local(request.url):
            problems.append(f"outside request: {request.url}")

    def on_websocket(socket: Any) -> None:
        if not is_local(socket.url):
            problems.append(f"outside websocket: {socket.url}")

    def on_error(error: Any) -> None:
        problems.append(f"uncaught: {error}")

    watched: dict[Any, Any] = {"console": on_console, "pageerror": on_error, "websocket": on_websocket}
    for event, listener in watched.items():
        tab.on(event, listener)
    profile.on("request", on_request)
    yield tab
    for event, listener in watched.items():
        tab.remove_listener(event, listener)
    profile.remove_listener("request", on_request)
    for opened in profile.pages:
        if opened not in (tab, *others, *IDLE, *OPEN):
            opened.close()
    if kept is None:
        tab.close()
    else:
        _empty(tab, is_left_open=kept is OPEN)
        kept.append(tab)
    assert not problems, "\n".join(problems)


@pytest.fixture
def page(profile: "BrowserContext", request: pytest.FixtureRequest) -> "Iterator[Page]":
    """A watched tab for one test, which nothing outlives; but between tests of files that `visit` the app stays open.

    What they do does not hang on the session before; long ones do more, and begin their own. A test that uploads a file
    loads the page: cookies are gone.
    """
    stays_open = hasattr(request.module, "visit") and request.node.get_closest_marker("long") is None
    failed, kept = request.session.testsfailed, OPEN if stays_open else IDLE
    with watched_tab(profile, kept) as tab:
        yield tab
    if request.session.testsfailed > failed:
        kept.pop().close()


@pytest.fixture
def sent(page: "Page") -> "Iterator[Callable[[], int]]":
    """How many messages the page has sent to the server; its session may be older than the test."""
    messages: list[object] = []
    devtools = page.context.new_cdp_session(page)
    devtools.on("Network.webSocketFrameSent", lambda frame: messages.append(frame))
    devtools.send("Network.enable")
    yield lambda: len(messages)
    devtools.detach()


@pytest.fixture
def own_page(profile: "BrowserContext") -> "Iterator[Page]":
    """A watched tab for one test that adds scripts, routes or listeners to it."""
    with watched_tab(profile, None) as tab:
        yield tab
