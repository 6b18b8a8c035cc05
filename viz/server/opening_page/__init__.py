"""Show the first page of a session whole: until it is, a drawing of its frame stands in its place.

Streamlit builds a page element by element, as Python's messages and the scripts of pictures arrive; every one of them
would move what is there already, and the style sheet of our pages would come after the first of them. So the document
that the server answers with has the style sheet, and a cover that stands in the page's place until the page no longer
moves: `cover.js` says when. A page that takes longer, and says so, is uncovered with its progress. Where the pictures
of the page are known already, the cover has them (`first_picture.py`).
"""

import re
from functools import cache
from typing import Final

import streamlit as st
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from viz.server import scripts
from viz.server.opening_page import ahead, first_picture
from viz.text.templates import filled

#: Of a request, so that the answer comes as it is, and whole.
_ASKED: Final = (b"accept-encoding", b"if-none-match", b"if-modified-since")
#: Of an answer, which is no longer Streamlit's file.
_ANSWERED: Final = ("etag", "last-modified")
#: What begins Streamlit in its document: a module that is named again by the pictures of the first page.
_ENTRY: Final = re.compile(rb'<script type="module" crossorigin src="(\./static/js/index\.[\w-]+\.js)"></script>')
#: Colours of the theme that pictures use.
_COLOURS: Final = (
    *("textColor", "backgroundColor", "secondaryBackgroundColor", "primaryColor"),
    *("borderColor", "linkColor", "orangeColor"),
)


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
        await self._app(asked, receive, _Covered(send, scope))


class _Covered:
    """Where an answer is sent: a document waits until it is complete, everything else passes."""

    def __init__(self, send: Send, scope: Scope) -> None:
        self._send = send
        self._scope = scope
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
                is_first = self._scope["path"].endswith("/")
                picture = await run_in_threadpool(first_picture.markup, self._scope)
                body = covered(self._body, is_first=is_first, picture=picture)
                headers = MutableHeaders(raw=list(self._start["headers"]))
                for name in _ANSWERED:
                    del headers[name]
                headers["content-length"] = str(len(body))
                await self._send({**self._start, "headers": headers.raw})
                await self._send({**message, "body": body})


def covered(document: bytes, *, is_first: bool, picture: first_picture.Markup | None) -> bytes:
    """Streamlit's document with our pages' style sheet, the cover and what is fetched ahead; any other as it is.

    `picture`: what it has of the first page's pictures.
    """
    if b'<div id="root"></div>' not in document:
        return document
    links = ahead.links(document, is_first=is_first)
    document = document.replace(b"<title>Streamlit</title>", b"<title>Headlight</title>")
    cover = _cover()
    if picture is not None:
        document = document.replace(b"<head>", b"<head>" + picture.head.encode(), 1)
        cover = cover.replace(b"</div>", picture.cover.encode() + b"</div>", 1)
        document = _ENTRY.sub(rb'<link id="streamlit-entry" rel="modulepreload" crossorigin href="\1">', document)
    return document.replace(b"<body>", b"<body>" + cover + links, 1)


@cache
def _cover() -> bytes:
    """What the body begins with. Its style rules come after Streamlit's own in the head, which are as specific."""
    sheets = map(scripts.styles, ("ui/page_style.css", "server/opening_page/cover.css"))
    style = "\n".join((ahead.typefaces(), colours(), *sheets, _colours_of_pictures()))
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


def _colours_of_pictures() -> str:
    """Rules of CSS that name the theme's colours in the cover as Streamlit does in a component, each as one colour."""
    names = {name: re.sub("[A-Z]", lambda found: f"-{found[0].lower()}", name) for name in _COLOURS}
    light, dark = (
        " ".join(f"--st-{css}: {st.get_option(f'theme.{scheme}.{name}')};" for name, css in names.items())
        for scheme in ("light", "dark")
    )
    by_system = f"@media (prefers-color-scheme: dark) {{ #cover:not(.light) {{ {dark} }} }}"
    return f"#cover {{ {light} }}\n{by_system}\n#cover.dark {{ {dark} }}"
