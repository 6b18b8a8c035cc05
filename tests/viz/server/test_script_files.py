"""A script is served under a name of its content, whole; without a server it travels with its component's messages."""

import re
import zlib
from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from viz.server import bundle, scripts

ENTRY = "pictures/tiles/tile_keeper.js"


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    monkeypatch.setattr(scripts, "_is_served", False)
    with TestClient(Starlette(routes=scripts.routes())) as client:
        yield client


def address_in(script: str) -> str:
    named = re.search(r'new URL\("([^"]+)", location\.origin\)', script)
    assert named is not None
    return named[1]


def test_without_a_server_a_script_travels_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scripts, "_is_served", False)
    assert scripts.script(ENTRY) == bundle.script(ENTRY)


def test_a_served_script_is_the_bundle_and_may_be_kept_for_ever(client: TestClient) -> None:
    address = address_in(scripts.script(ENTRY))
    answer = client.get(address)
    assert answer.status_code == 200
    assert answer.text == bundle.bundle(ENTRY)
    assert answer.headers["content-type"].startswith("text/javascript")
    assert "immutable" in answer.headers["cache-control"]
    assert int(answer.headers["content-length"]) == len(zlib.compress(answer.text.encode(), 9))


def test_the_same_script_has_the_same_address_and_another_one_another(client: TestClient) -> None:
    first, again = (address_in(scripts.script(ENTRY)) for _ in range(2))
    assert first == again
    assert first != address_in(scripts.script("pictures/head_grid/head_grid.js"))


@pytest.mark.parametrize("name", ["tile_keeper.js", "..%2f..%2fapp.py", "tile_keeper-0000000000000000.js"])
def test_any_other_name_is_refused(client: TestClient, name: str) -> None:
    assert client.get(f"/headlight-scripts/{name}").status_code == 404


def test_below_a_base_path_the_address_begins_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scripts, "_is_served", False)
    monkeypatch.setattr("streamlit.get_option", {"server.baseUrlPath": "/here/"}.get)
    route = scripts.routes()[0]
    assert address_in(scripts.script(ENTRY)).startswith("/here/headlight-scripts/")
    assert route.path == "/here/headlight-scripts/{name}"
