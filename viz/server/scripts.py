"""Serve the scripts of components as files, and find what they say in the language of a page run.

A file is named by its content, so it never changes, and a browser fetches it once. Where no server of ours runs
(`routes` was not called: in tests of one component, in a notebook), scripts travel with the messages instead. Texts are
found in the bundled script itself, so each component is sent its own texts and nothing else; in
English, nothing.
"""

import hashlib
import json
import zlib
from collections.abc import Iterator, Mapping
from functools import cache
from io import BytesIO
from pathlib import PurePosixPath
from typing import Final

import streamlit as st
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from viz.server import bundle
from viz.text import messages

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
    """The route that serves scripts; components declared from now on are served by it."""
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
    """The base path of the server's addresses."""
    path = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{path}" if path else ""


async def _serve(request: Request) -> Response:
    content = _FILES.get(request.path_params["name"])
    if content is None:
        return Response("There is no such script; load the page anew.", status_code=404)
    return Response(content, media_type="text/javascript", headers=_HEADERS)


#: The functions of `messages.js` whose first argument is a text; `plural` has two.
_FUNCTIONS: Final[Mapping[str, None]] = {"_": None, "said": None, "plural": None}


def texts_in(script: bytes) -> Iterator[str | tuple[str, str]]:
    """The texts of a script; a text with a number is a pair, for 1 and for other numbers."""
    from babel.messages.extract import extract_javascript

    for _line, function, found, _comments in extract_javascript(BytesIO(script), _FUNCTIONS, (), {}):
        one, many = (*found, None)[:2] if isinstance(found, list | tuple) else (found, None)
        if one and many and function == "plural":
            yield one, many
        elif one and function != "plural":
            yield one


def language_of(entry: str) -> str:
    """JSON for `speak` of `messages.js`: the language and the texts of the script of an entry module; "" in English."""
    code = messages.language()
    return "" if code == messages.ENGLISH else _table(entry, code)


@cache
def _table(entry: str, code: str) -> str:
    found: dict[str, str | dict[str, str]] = {}
    with messages.speaking(code):
        for text in texts_in(bundle.bundle(entry).encode()):
            if isinstance(text, tuple):
                found[text[0]] = messages.plural_forms(*text)
            else:
                found[text] = messages.template(text)
    return json.dumps({"code": messages.tag(code), "texts": found}, ensure_ascii=False, separators=(",", ":"))
