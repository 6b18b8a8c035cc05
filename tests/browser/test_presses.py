"""A press that falls into a run of the page is not lost, whatever the browser has drawn of it by then."""

import random
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

from tests.benchmarks.wire_viewer import Run, WireViewer, finished
from tests.browser.conftest import settled
from tests.browser.pointing import box_of
from tests.browser.test_app import opened


class Held:
    """What server and browser say to each other.

    Attributes:
        is_last: chooses a message of the server, all that follow which are held back.
        follows_a_link: what the browser says of the old page, once, right after it has asked for another.
        told: what the browser said last.
        loses_next: whether what the browser says next does not arrive.
    """

    def __init__(self, page: Page) -> None:
        self.is_last: Callable[[ForwardMsg], bool] = lambda message: False
        self.follows_a_link: bytes | None = None
        self.told = b""
        self.loses_next = False
        self.waiting: list[str | bytes] | None = None
        page.route_web_socket(re.compile("/_stcore/stream"), self.connect)

    def connect(self, route: WebSocketRoute) -> None:
        self.route, self.server = route, route.connect_to_server()
        self.server.on_message(self.take)
        route.on_message(self.tell)

    def take(self, message: str | bytes) -> None:
        if self.waiting is not None:
            self.waiting.append(message)
            return
        self.route.send(message)
        if isinstance(message, bytes) and self.is_last(ForwardMsg.FromString(message)):
            self.waiting = []

    def tell(self, message: str | bytes) -> None:
        assert isinstance(message, bytes)
        if self.loses_next:
            self.loses_next = False
            return
        self.server.send(message)
        page = BackMsg.FromString(message).rerun_script.page_script_hash
        if self.follows_a_link and page != BackMsg.FromString(self.follows_a_link).rerun_script.page_script_hash:
            self.server.send(self.follows_a_link)
            self.follows_a_link = None
        self.told = message

    def release(self) -> None:
        """All that was held back comes at once."""
        waiting, self.waiting = self.waiting or [], None
        self.is_last = lambda message: False
        for message in waiting:
            self.route.send(message)

    def has_an_answer(self) -> bool:
        """Whether what is held back has the end of a run."""
        messages = [ForwardMsg.FromString(message) for message in self.waiting or () if isinstance(message, bytes)]
        return any(message.WhichOneof("type") == "script_finished" for message in messages)


def begins_tabs(message: ForwardMsg) -> bool:
    return message.delta.add_block.WhichOneof("type") == "tab_container"


@pytest.fixture
def page(own_page: Page) -> Page:
    """What passes through the tab is held back, as long as there is the tab."""
    return own_page


@pytest.fixture
def held(page: Page) -> Held:
    return Held(page)


@pytest.mark.long
def test_a_press_on_a_tab_while_its_bar_is_drawn_anew_is_not_lost(page: Page, url: str, held: Held) -> None:
    opened(page, url)
    settled(page)
    held.is_last = begins_tabs
    page.keyboard.press("r")
    tab = page.get_by_role("tab", name="Why")
    expect(tab).to_have_attribute("aria-disabled", "true")
    tab.click(force=True)
    held.release()
    expect(tab).to_have_attribute("aria-selected", "true", timeout=20_000)
    expect(page).to_have_url(re.compile("view=Why"))
    expect(page.get_by_role("tabpanel")).not_to_be_empty()


@pytest.mark.long
def test_a_tab_is_open_at_once_and_python_is_told_until_it_has_heard(page: Page, url: str, held: Held) -> None:
    opened(page, url)
    settled(page)
    held.loses_next = True
    tab = page.get_by_role("tab", name="Why")
    tab.click()
    expect(tab).to_have_attribute("aria-selected", "true", timeout=1_000)
    expect(page.get_by_role("tabpanel")).to_be_empty()
    expect(page).to_have_url(re.compile("view=Why"))
    expect(page.get_by_role("tabpanel")).not_to_be_empty()
    expect(tab).to_have_attribute("aria-selected", "true")


#: Let a browser be late, as a busy one is, and note when Python is told of a tab by way of the first one.
LATE = """() => {
  const { setTimeout } = window;
  window.setTimeout = (call, after) => setTimeout(call, after && after + 500);
  const first = document.querySelector('[data-testid="stTab"]');
  new MutationObserver(() => (window.wasFirst ||= first.ariaSelected === "true"))
    .observe(first, { attributeFilter: ["aria-selected"] });
}"""


@pytest.mark.long
def test_a_press_while_python_is_told_of_a_tab_leaves_no_other_tab_open(page: Page, url: str, held: Held) -> None:
    opened(page, url)
    settled(page)
    held.loses_next = True
    tab = page.get_by_role("tab", name="Why")
    tab.click()
    expect(tab).to_have_attribute("aria-selected", "true")
    page.evaluate(LATE)
    page.wait_for_function("() => window.wasFirst")
    page.keyboard.press("Shift")
    expect(tab).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("tabpanel")).not_to_be_empty()
    expect(page).to_have_url(re.compile("view=Why"))


@pytest.mark.long
def test_words_that_were_chosen_meanwhile_are_not_let_go_by_an_older_answer(page: Page, url: str, held: Held) -> None:
    opened(page, url)
    settled(page)
    words = [page.locator(".word-picker").get_by_role("button", name=name, exact=True) for name in ("animal", "it")]
    held.is_last = lambda message: True
    words[0].click()
    while not held.has_an_answer():
        page.wait_for_timeout(50)
    # Python does not know of the second word when it answers to the first.
    held.loses_next = True
    words[1].click()
    held.release()
    expect(page).to_have_url(re.compile("from="))
    expect(words[0]).to_have_class(re.compile(r"\bfrom\b"))
    expect(words[1]).to_have_class(re.compile(r"\bto\b"))
    # What comes next is an answer to the last choice again.
    page.keyboard.press("Escape")
    expect(page.locator(".word.from, .word.to")).to_have_count(0)
    expect(page).not_to_have_url(re.compile("from="))


@pytest.mark.long
def test_a_press_on_a_link_that_the_old_page_answers_with_a_message_of_its_own_is_not_lost(
    page: Page, url: str, held: Held
) -> None:
    opened(page, url)
    settled(page)
    page.keyboard.press("r")
    page.wait_for_timeout(300)
    held.follows_a_link = held.told
    page.get_by_role("link", name="Model", exact=True).click()
    expect(page.get_by_role("heading", name="Model", level=1)).to_be_visible(timeout=20_000)
    assert held.follows_a_link is None
    page.wait_for_timeout(1_000)
    expect(page).to_have_url(re.compile("/model"))


@pytest.mark.long
@pytest.mark.parametrize("moved", [0, 30])
def test_a_button_that_moves_away_under_the_pointer_is_pressed_unless_the_pointer_moves(
    page: Page, url: str, moved: int
) -> None:
    opened(page, url)
    settled(page)
    export = page.get_by_role("button", name="Export")
    box = box_of(export)
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.evaluate("window.clicks = []; addEventListener('click', (e) => clicks.push(e.isTrusted), { capture: true })")
    page.mouse.move(x, y)
    page.mouse.down()
    page.locator(".st-key-page-tools").evaluate("(tools) => { tools.style.transform = 'translateY(200px)'; }")
    page.mouse.move(x + moved, y)
    page.mouse.up()
    page.wait_for_timeout(300)
    expect(page.get_by_test_id("stPopoverBody")).to_have_count(0 if moved else 1)
    # The browser's own click, on what holds both places, must not come last: it would close what the press opened.
    assert page.evaluate("clicks") == ([True] if moved else [True, False])


async def lost_pairs(url: str, count: int, heads: int) -> int:
    """How many of so many presses on tiles are lost that a message which begins a run of the page follows at once."""
    lost, number, chance = 0, 0, random.Random(1)
    async with WireViewer(url) as viewer:
        await viewer.open("", {"layer": "0", "head": "0"})
        for _ in range(count):
            number = (number + chance.randrange(1, 2 * heads)) % (2 * heads)
            layer, head = divmod(number, heads)
            said = {"head": f"L{layer + 1}H{head + 1}"}
            pause, value = chance.uniform(0, 0.02), {"layer": layer, "head": head}
            lost += not await viewer.is_heard("heads", "head", value, pause, said)
    return lost


@pytest.mark.long
def test_a_press_that_another_message_follows_at_once_is_heard(url: str) -> None:
    assert finished(lost_pairs(url, 20, heads=4)) == 0


@pytest.mark.long
def test_a_part_of_a_page_that_is_asked_for_after_another_model_was_chosen_runs_the_whole_page(
    url: str, shipped: str
) -> None:
    async def chosen() -> Run:
        async with WireViewer(url) as viewer:
            await viewer.open("learn", {"learn": "The Transformer", "depth": "layer", "checkpoint": shipped})
            other = WidgetState(id=viewer.places["checkpoint"].id, string_value="en-de")
            return await viewer.send(other, fragment=viewer.places["walk"].fragment)

    run = finished(chosen())
    assert (run.problems, run.title > 0) == ([], True)
