"""Serve the scripts of components as files, so that a browser fetches each once, and keeps it over visits.

A file is named by its content, so it never changes. Where no server of ours runs (`routes` was not called: in tests of
one component, in a notebook), scripts travel with the messages to their components instead.
"""

import hashlib
import json
import zlib
from pathlib import PurePosixPath
from typing import Final

import streamlit as st
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from viz.server import bundle

_FOLDER: Final = "/headlight-scripts"
_HEADERS: Final = {
    "Content-Encoding": "deflate",
    "Cache-Control": "public, max-age=31536000, immutable",
    "X-Content-Type-Options": "nosniff",
}
#: Name → content, compressed.
_FILES: Final[dict[str, bytes]] = {}
#: What a component's message carries instead: Streamlit imports it as a module without an address, so that only a
#: whole address leads from it to another.
_IMPORTER: Final = """const file = await import(new URL(%s, location.origin).href);
export default file.default;
"""

_is_served = False


def routes() -> list[Route]:
    """The route of a server that serves scripts; from now on, those that are declared are served."""
    global _is_served
    _is_served = True
    return [Route(f"{_base()}{_FOLDER}/{{name}}", _serve)]


def script(entry: str) -> str:
    """The script for `st.components.v2.component(js=…)` of an entry module, whose default export is the component."""
    if not _is_served:
        return bundle.script(entry)
    text = bundle.bundle(entry).encode("utf-8")
    name = f"{PurePosixPath(entry).stem}-{hashlib.sha256(text).hexdigest()[:16]}.js"
    _FILES[name] = zlib.compress(text, 9)
    return _IMPORTER % json.dumps(f"{_base()}{_FOLDER}/{name}")


def _base() -> str:
    """The path below which the server has all its addresses."""
    path = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{path}" if path else ""


async def _serve(request: Request) -> Response:
    content = _FILES.get(request.path_params["name"])
    if content is None:
        return Response("There is no such script; load the page anew.", status_code=404)
    return Response(content, media_type="text/javascript", headers=_HEADERS)
