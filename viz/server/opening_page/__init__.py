"""Show the first page of a session whole: until it is, a drawing of its frame stands in its place.

Streamlit builds a page element by element, as Python's messages and the scripts of pictures arrive; every one of them
would move what is there already, and the style sheet of our pages would come after the first of them. So the document
that the server answers with has the style sheet, and a cover that stands in the page's place until the page no longer
moves: `cover.js` says when. A page that takes longer, and says so, is uncovered with its progress.
"""

from functools import cache
from typing import Final

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from viz.server import scripts
from viz.server.opening_page import ahead
from viz.text.templates import filled

#: Of a request, so that the answer comes as it is, and whole.
_ASKED: Final = (b"accept-encoding", b"if-none-match", b"if-modified-since")
#: Of an answer, which is no longer Streamlit's file.
_ANSWERED: Final = ("etag", "last-modified")


class OpeningPage:
    """ASGI middleware that puts the style sheet and the cover into the document of every page."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if (
            scope["type"] != "http"
            or scope["method"] != "GET"
            or "text/html" not in Headers(scope=scope).get("accept", "")
        ):
            await self._app(scope, receive, send)
            return
        asked = {**scope, "headers": [(name, value) for name, value in scope["headers"] if name not in _ASKED]}
        await self._app(asked, receive, _Covered(send, is_first=scope["path"].endswith("/")))


class _Covered:
    """Where an answer is sent: a document waits until it is complete, everything else passes."""

    def __init__(self, send: Send, *, is_first: bool) -> None:
        self._send = send
        self._is_first = is_first
        self._start: Message | None = None
        self._body = b""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            is_document = Headers(raw=message["headers"]).get("content-type", "").startswith("text/html")
            self._start = message if is_document else None
        if self._start is None:
            await self._send(message)
        elif message["type"] == "http.response.body":
            self._body += message.get("body", b"")
            if not message.get("more_body", False):
                body = covered(self._body, is_first=self._is_first)
                headers = MutableHeaders(raw=list(self._start["headers"]))
                for name in _ANSWERED:
                    del headers[name]
                headers["content-length"] = str(len(body))
                await self._send({**self._start, "headers": headers.raw})
                await self._send({**message, "body": body})


def covered(document: bytes, *, is_first: bool) -> bytes:
    """Streamlit's document with our pages' style sheet, the cover and what is fetched ahead; any other as it is."""
    if b'<div id="root"></div>' not in document:
        return document
    links = ahead.links(document, is_first=is_first)
    document = document.replace(b"<title>Streamlit</title>", b"<title>Headlight</title>")
    return document.replace(b"<body>", b"<body>" + _cover() + links, 1)


@cache
def _cover() -> bytes:
    """What a body begins with; its rules stand there because Streamlit's own, as strong, come late in the head."""
    style = "\n".join((colours(), scripts.styles("ui/page_style.css"), scripts.styles("server/opening_page/cover.css")))
    script = scripts.classic_script("server/opening_page/cover.js")
    cover = filled("server/opening_page/cover.html")
    return f"<style>{style}</style>{cover}<script>{script}</script>".encode()


def colours() -> str:
    """A rule of CSS that names the theme's colours as style sheets need them: of the page, of the sidebar, accents."""
    paper, aside, accent = (
        [st.get_option(f"theme.{scheme}.{name}") for scheme in ("light", "dark")]
        for name in ("backgroundColor", "sidebar.backgroundColor", "primaryColor")
    )
    grounds = f"--paper: light-dark({', '.join(paper)}); --aside: light-dark({', '.join(aside)});"
    return f":root {{ {grounds} --day-accent: {accent[0]}; --night-accent: {accent[1]}; }}"
