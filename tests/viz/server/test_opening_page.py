"""The document with which a session begins."""

import base64
import re
import zlib
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient
from streamlit import file_util

from viz.server.opening_page import OpeningPage, first_picture

STREAMLITS = Path(file_util.get_static_dir(), "index.html").read_text(encoding="utf-8")
ENTRY = re.compile('<script type="module"[^>]* src="./static/js/index')
BROWSERS = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8", "if-none-match": '"1"', "accept-encoding": "gzip"}


@pytest.fixture(scope="module")
def client() -> TestClient:
    """A server of three documents; the first one's answer depends on what the request says it has or can read."""

    def page(request: Request) -> Response:
        if {"if-none-match", "accept-encoding"} & set(request.headers):
            return Response(status_code=304)
        return HTMLResponse(STREAMLITS, headers={"etag": '"1"', "cache-control": "no-cache"})

    def others(_request: Request) -> Response:
        return HTMLResponse("<body>of others</body>", headers={"etag": '"2"'})

    def data(_request: Request) -> Response:
        return JSONResponse({"answer": '<div id="root"></div>'})

    routes = [Route("/", page), Route("/decode", page), Route("/others", others), Route("/data", data)]
    return TestClient(Starlette(routes=routes, middleware=[Middleware(OpeningPage)]))


def test_every_page_begins_with_our_style_and_a_cover_and_no_browser_keeps_streamlits_own(client: TestClient) -> None:
    answer = client.get("/decode", headers=BROWSERS)
    assert answer.status_code == 200
    style, cover, root = (answer.text.index(part) for part in ("<style>", 'id="cover"', '<div id="root"></div>'))
    assert answer.text.index("<body>") < style < cover < root
    assert "--paper: light-dark(" in answer.text
    assert answer.text.count("@font-face") == 2
    assert "<title>Headlight</title>" in answer.text
    assert int(answer.headers["content-length"]) == len(answer.content)
    assert "etag" not in answer.headers
    assert answer.headers["cache-control"] == "no-cache"


def test_what_is_no_page_of_the_app_stays_as_it_is(client: TestClient) -> None:
    assert client.get("/others", headers=BROWSERS).text == "<body>of others</body>"
    assert client.get("/data", headers=BROWSERS).json() == {"answer": '<div id="root"></div>'}
    assert client.get("/decode", headers={"accept": "*/*", "accept-encoding": "identity"}).status_code == 304


def test_the_first_page_has_the_pictures_that_its_last_session_drew_and_no_other_address_has_them(
    client: TestClient,
) -> None:
    files = ["as they were"]

    def draw(*keys: str, prefix: str = "of") -> None:
        for key in keys:
            element = f"{prefix}-{key}".replace(".", "-")
            first_picture.draw(key, first_picture.Part("pictures/words/word_picker.js", "p {}", element, key.encode()))

    with first_picture.kept("Attention", lambda: tuple(files)):
        draw("words", "heads", "headline", "open-head", "tiles-decoder.cross", "copy-link")
        first_picture.say("It follows </script>.")
    # Neither a later run of the session is kept, nor a first one that was cut short.
    draw("words", prefix="later")
    with first_picture.kept("Attention", lambda: tuple(files)):
        draw("words", prefix="short")

    def document(address: str, language: str = "en-GB", cookie: str = "") -> str:
        return client.get(address, headers=BROWSERS | {"accept-language": language, "cookie": cookie}).text

    first = document("/")
    assert 'id="streamlit-entry"' in first
    assert not ENTRY.search(first)
    packed = re.search('id="first-picture" data-locale="en-GB">(.*?)</script>', first)
    assert packed is not None
    shown = zlib.decompress(base64.b64decode(packed[1]))
    assert b"of-headline" in shown
    for other in (b"of-copy-link", b"later-words", b"short-words"):
        assert other not in shown
    assert "It follows &lt;/script&gt;." in first
    assert 'id="first-picture" data-locale=""' in document("/?lang=en", "zh-CN")
    others = [
        document("/decode"), document("/?lang=zh"), document("/?text=Another."), document("/", "zh-CN"),
        # Who has closed the story has no bar above the pictures, whatever other cookies there are.
        document("/", cookie='of_another={"a": 1}; headlight_story=closed'),
        # Streamlit takes this for a choice.
        document("/?text="),
    ]  # fmt: skip
    files[0] = "changed"
    others.append(document("/"))
    assert not any("first-picture" in other for other in others)
    assert all(ENTRY.search(other) for other in others)
