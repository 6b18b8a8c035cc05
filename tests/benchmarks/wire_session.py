"""A browser's side of one Streamlit session without a browser: opens a page, and reads what the server draws on it.

So dozens of sessions cost the machine what the *server* takes. Speaks Streamlit's own protocol through its own classes.
Knows nothing of what the pages are about.
"""

import time
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import connect
from websockets.typing import Origin, Subprotocol

#: A grid of a long text is a message of about a megabyte.
LARGEST: Final = 100 * 1024**2


@dataclass
class Seen:
    """What one session saw of one run of a page.

    Attributes:
        frame: seconds from the beginning until the page's title.
        done: seconds until the run was over.
        title: of the page.
        html, errors: texts that it was sent, messages of errors among them.
        exceptions: tracebacks: there should be none.
        payloads: what its components were sent.
    """

    frame: float = 0.0
    done: float = 0.0
    title: str = ""
    html: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    exceptions: list[str] = field(default_factory=list)
    payloads: list[bytes] = field(default_factory=list)

    def take(self, element: Any, at: float) -> None:
        """Note one element that the server drew."""
        match element.WhichOneof("type"):
            case "heading" if element.heading.tag == "h1":
                self.title, self.frame = element.heading.body, self.frame or at
            case "html":
                self.html.append(element.html.body)
            case "alert":
                self.errors.append(element.alert.body)
            case "exception":
                self.exceptions.append(f"{element.exception.type}: {element.exception.message}")
            case "bidi_component":
                self.payloads.append(element.bidi_component.bytes)


async def open_page(url: str, params: dict[str, str], page: str = "", *, leave_at_title: bool = False) -> Seen:
    """Begin a session at a page, as a link does, and stay until its run is over, or until its title is there."""
    seen, began = Seen(), time.perf_counter()
    address = urlsplit(url)
    async with connect(
        f"ws://{address.netloc}/_stcore/stream",
        origin=Origin(url),
        subprotocols=[Subprotocol("streamlit")],
        max_size=LARGEST,
        ping_interval=None,
    ) as socket:
        asked = BackMsg()
        asked.rerun_script.query_string = urlencode(params)
        asked.rerun_script.page_name = page
        await socket.send(asked.SerializeToString())
        async for message in socket:
            received = ForwardMsg.FromString(message)
            at = time.perf_counter() - began
            match received.WhichOneof("type"):
                case "delta" if received.delta.WhichOneof("type") == "new_element":
                    seen.take(received.delta.new_element, at)
                    if leave_at_title and seen.frame:
                        return seen
                case "script_finished" if received.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                    seen.done = at
                    return seen
    raise ConnectionError("the server ended the session before the page was there")
