"""A slice of `python -m tests.benchmarks.crowd`: four sessions at once on a real server, each with its own model."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from model.opening import open_reader
from tests.benchmarks import crowd, students
from tests.benchmarks.crowd import Crowd
from tests.benchmarks.wire_session import Seen
from tests.browser.conftest import streamlit_server
from tests.paths import ROOT
from viz.core.shared_server import SHARED_VARIABLE
from viz.selection.catalogue import ROOT_VARIABLE


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory, tiny_checkpoints: Path) -> Path:
    root = tmp_path_factory.mktemp("crowd") / "checkpoints"
    crowd.make_root(root, tiny_checkpoints / "en-de", ["bert", "gpt2"])
    return root


@pytest.fixture(scope="module")
def seen(root: Path) -> Crowd:
    log = root.parent / "server.log"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(ROOT_VARIABLE, str(root))
        with streamlit_server(ROOT / "app.py", (), log) as url:
            people = crowd.people_of(["en-de", "bert", "gpt2"], 4, 0)
            visit = crowd.visit(url, people, 1, crowd.youngest_child())
            # In a thread of its own: Playwright keeps an event loop running in this one.
            with ThreadPoolExecutor(1) as thread:
                found = thread.submit(asyncio.run, visit).result()
    crowd.check(found, root, log)
    return found


def test_each_of_four_sessions_gets_the_answer_of_its_own_model_to_its_own_sentence(seen: Crowd) -> None:
    assert not seen.problems, "\n".join(seen.problems)
    assert len({(person.model, person.text) for person in seen.people}) == 4


def test_a_page_has_its_title_before_its_answer_is_computed(seen: Crowd) -> None:
    assert all(0 < one.frame < one.done for one in seen.seen)


def test_an_answer_to_another_sentence_would_be_noticed(seen: Crowd, root: Path) -> None:
    (mine, theirs), (my_page, their_page) = seen.people[::3], seen.seen[::3]
    reader = open_reader(root / mine.model)
    assert crowd.wrong(mine, my_page, reader) == ""
    assert theirs.model == mine.model
    assert crowd.wrong(mine, their_page, reader)
    mine_but_grid = [payload for payload in my_page.payloads if "queryTokens" not in crowd.header_of(payload)]
    their_grid = [payload for payload in their_page.payloads if "queryTokens" in crowd.header_of(payload)]
    mixed = Seen(html=my_page.html, payloads=[*mine_but_grid, *their_grid])
    assert crowd.wrong(mine, mixed, reader) == "its grid has other tokens"


def test_students_step_through_films_of_their_own_and_force_a_token_beside_a_greedy_viewer(
    tiny_checkpoints: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(students, "GREEDY", students.GREEDY[:1])
    monkeypatch.setattr(students, "HEAD_START", 1.0)
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))
    monkeypatch.setenv(SHARED_VARIABLE, "1")
    with streamlit_server(ROOT / "app.py", (), tmp_path / "server.log") as url:
        visit = students.visit(url, 3, 0, crowd.youngest_child(), is_greedy=True)
        with ThreadPoolExecutor(1) as thread:
            seen = thread.submit(asyncio.run, visit).result()
    assert not seen.problems, "\n".join(seen.problems)
    assert [len(seconds) for seconds in seen.seconds.values()] == [6, 3, 9, 3]
