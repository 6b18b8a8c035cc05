"""A slice of `python -m tests.benchmarks.crowd`: three sessions at once on a real server, each with its own model."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.benchmarks import crowd, students
from tests.benchmarks.crowd import Crowd
from tests.benchmarks.wire_viewer import finished
from tests.browser.conftest import streamlit_server
from tests.paths import ROOT
from viz.selection.catalogue import ROOT_VARIABLE
from viz.server.limits import SHARED_VARIABLE


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory, tiny_checkpoints: Path) -> Path:
    root = tmp_path_factory.mktemp("crowd") / "checkpoints"
    crowd.make_root(root, tiny_checkpoints / "en-de", ["bert"])
    return root


@pytest.fixture(scope="module")
def server(root: Path) -> Iterator[tuple[str, int]]:
    """Address and process of a server that a class shares."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(ROOT_VARIABLE, str(root))
        patch.setenv(SHARED_VARIABLE, "1")
        with streamlit_server(ROOT / "app.py", (), root.parent / "server.log") as url:
            yield url, crowd.youngest_child()


@pytest.fixture(scope="module")
def seen(root: Path, server: tuple[str, int]) -> Crowd:
    url, process = server
    people = crowd.people_of(["en-de", "bert"], 3, 0)
    found = finished(crowd.visit(url, people, 1, process))
    crowd.check(found, root, root.parent / "server.log")
    return found


@pytest.mark.long
def test_each_session_gets_the_answer_of_its_own_model_to_its_own_sentence(seen: Crowd) -> None:
    assert not seen.problems, "\n".join(seen.problems)
    assert len({(person.model, person.text) for person in seen.people}) == 3
    # A page has its title before its answer is computed.
    assert all(0 < one.title < one.done for one in seen.seen)


@pytest.mark.long
def test_students_step_through_films_of_their_own_and_force_a_token_beside_a_greedy_viewer(
    server: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(students, "GREEDY", students.GREEDY[:1])
    monkeypatch.setattr(students, "HEAD_START", 1.0)
    url, process = server
    seen = finished(students.visit(url, 3, 0, process, is_greedy=True))
    assert not seen.problems, "\n".join(seen.problems)
    assert [len(seconds) for seconds in seen.seconds.values()] == [6, 3, 9, 3]
