"""One person's tab without a browser: it stays open, and types, clicks and answers as the scripts of a page do.

Speaks Streamlit's own protocol through its own classes. What a page is about knows who uses it.
"""

import asyncio
import json
import time
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Final, Self, TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit
from urllib.request import urlopen

from streamlit.proto.Alert_pb2 import Alert
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect
from websockets.datastructures import Headers
from websockets.typing import Origin, Subprotocol

Found = TypeVar("Found")

#: A grid of a long text is a message of about a megabyte.
LARGEST: Final = 100 * 1024**2
#: How Streamlit names the widget that carries what a component triggers.
TRIGGER: Final = "$$STREAMLIT_INTERNAL_KEY_{}__events"

#: Seconds without a message after which none is expected any more, however slow the server is.
QUIET: Final = 8.0


@dataclass(frozen=True)
class Place:
    """A widget of the page: what Streamlit calls it, and the part of the page that reruns with it ("" for all)."""

    id: str
    fragment: str


@dataclass
class Run:
    """What came of one run: seconds until the title and until its end, and what was drawn.

    Attributes:
        title, done: seconds; 0 as long as it has not come.
        components: seconds, key and bytes of each component.
        html: texts that were drawn as HTML.
        markdown: texts that were drawn as Markdown.
        problems: errors and tracebacks on the page.
    """

    title: float = 0.0
    done: float = 0.0
    components: list[tuple[float, str, bytes]] = field(default_factory=list)
    html: list[str] = field(default_factory=list)
    markdown: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def finished(visit: Coroutine[Any, Any, Found]) -> Found:
    """What comes of a visit, in a thread of its own: where Playwright runs, it keeps an event loop in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, visit).result()


def browser_cookie(url: str) -> str:
    """The cookies that a browser gets with its first page, and sends with all its tabs."""
    with urlopen(f"{url}/_stcore/health", timeout=60) as answer:
        return "; ".join(cookie.partition(";")[0] for cookie in answer.headers.get_all("Set-Cookie"))


class WireViewer:
    """A tab. As a context, its connection.

    Args:
        url: of the server.
        cookie: of the browser; "" sends none.
    """

    def __init__(self, url: str, cookie: str = "") -> None:
        self.url, self.cookie = url, cookie
        self.page, self.query = "", ""
        self.places: dict[str, Place] = {}
        self.options: dict[str, list[str]] = {}  #: key → what can be chosen, as its buttons say
        self.socket: ClientConnection

    async def __aenter__(self) -> Self:
        self.socket = await connect(
            f"ws://{urlsplit(self.url).netloc}/_stcore/stream",
            origin=Origin(self.url),
            subprotocols=[Subprotocol("streamlit")],
            additional_headers={"Cookie": self.cookie} if self.cookie else None,
            max_size=LARGEST,
            ping_interval=None,
            open_timeout=120,
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.socket.close()

    @property
    def params(self) -> dict[str, str]:
        """What the address says now."""
        return dict(parse_qsl(self.query))

    @property
    def headers(self) -> Headers:
        """What the server, or the proxy before it, said when the connection was made."""
        assert self.socket.response is not None, "it is connected"
        return self.socket.response.headers

    async def open(self, page: str, params: dict[str, str], *, leave_at_title: bool = False) -> Run:
        """Come by a link, and stay until the run is over, or until the title is there."""
        asked = BackMsg()
        asked.rerun_script.query_string = self.query = urlencode(params)
        asked.rerun_script.page_name = page
        return await self.run(asked, leave_at_title=leave_at_title)

    async def type(self, key: str, text: str) -> Run:
        """Put a text into a field."""
        return await self.send_to(self.places[key], WidgetState(id=self.places[key].id, string_value=text))

    async def send(self, *states: WidgetState, fragment: str = "") -> Run:
        """Send values as they are, whatever their widgets are, and ask for a part of the page, or for all of it."""
        return await self.run(self.asked(fragment, *states))

    async def choose(self, key: str, option: int) -> Run:
        """Choose one of several options that are buttons, from 0."""
        state = WidgetState(id=self.places[key].id)
        state.string_array_value.data.append(self.options[key][option])
        return await self.send_to(self.places[key], state)

    async def press(self, key: str) -> Run:
        """Click a button."""
        return await self.send_to(self.places[key], WidgetState(id=self.places[key].id, trigger_value=True))

    async def report(self, key: str, state: dict[str, Any]) -> Run:
        """What a component says that it shows."""
        return await self.send_to(self.places[key], WidgetState(id=self.places[key].id, json_value=json.dumps(state)))

    async def trigger(self, key: str, event: str, value: dict[str, Any], state: dict[str, Any]) -> Run:
        """What a person wants of a component that shows this state."""
        place = self.places[key]
        wanted = json.dumps([{"event": event, "value": value}])
        return await self.send_to(
            place,
            WidgetState(id=TRIGGER.format(place.id), json_trigger_value=wanted),
            WidgetState(id=place.id, json_value=json.dumps(state)),
        )

    async def is_heard(self, key: str, event: str, value: dict[str, Any], pause: float, said: dict[str, str]) -> bool:
        """Trigger what a person wants, and after a pause another run: whether the address then says so."""
        place = self.places[key]
        wanted = json.dumps([{"event": event, "value": value}])
        trigger = WidgetState(id=TRIGGER.format(place.id), json_trigger_value=wanted)
        await self.socket.send(self.asked(place.fragment, trigger).SerializeToString())
        await asyncio.sleep(pause)
        await self.socket.send(self.asked("").SerializeToString())
        while not said.items() <= self.params.items():
            try:
                message = await asyncio.wait_for(self.socket.recv(decode=False), QUIET)
            except TimeoutError:
                return False
            self.hear(ForwardMsg.FromString(message))
        return True

    def asked(self, fragment: str, *states: WidgetState) -> BackMsg:
        asked = BackMsg()
        asked.rerun_script.query_string = self.query
        asked.rerun_script.page_script_hash = self.page
        asked.rerun_script.fragment_id = fragment
        asked.rerun_script.widget_states.widgets.extend(states)
        return asked

    async def send_to(self, place: Place, *states: WidgetState) -> Run:
        return await self.run(self.asked(place.fragment, *states))

    async def run(self, asked: BackMsg, *, leave_at_title: bool = False) -> Run:
        seen, began = Run(), time.perf_counter()
        await self.socket.send(asked.SerializeToString())
        async for message in self.socket:
            received = ForwardMsg.FromString(message)
            at = time.perf_counter() - began
            self.hear(received)
            match received.WhichOneof("type"):
                case "delta" if received.delta.WhichOneof("type") == "new_element":
                    self.take(received.delta.new_element, received.delta.fragment_id, seen, at)
                    if leave_at_title and seen.title:
                        return seen
                case "script_finished" if received.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                    seen.done = at
                    return seen
        raise ConnectionError("the server ended the session before the run was over")

    def hear(self, received: ForwardMsg) -> None:
        match received.WhichOneof("type"):
            case "navigation":
                self.page = received.navigation.page_script_hash
            case "page_info_changed":
                self.query = received.page_info_changed.query_string

    def take(self, element: Any, fragment: str, seen: Run, at: float) -> None:
        kind = element.WhichOneof("type")
        drawn = getattr(element, kind) if kind else None
        widget = str(getattr(drawn, "id", ""))
        key = widget.split("-", 2)[-1] if widget.startswith("$$ID-") else ""
        if key:
            self.places[key] = Place(widget, fragment)
        match kind:
            case "heading" if element.heading.tag == "h1":
                seen.title = seen.title or at
            case "html":
                seen.html.append(element.html.body)
            case "markdown":
                seen.markdown.append(element.markdown.body)
            case "button_group":
                self.options[key] = [option.content for option in element.button_group.options]
            case "bidi_component":
                seen.components.append((at, key, element.bidi_component.bytes))
            case "alert" if element.alert.format == Alert.ERROR:
                seen.problems.append(element.alert.body)
            case "exception":
                seen.problems.append(f"{element.exception.type}: {element.exception.message}")
