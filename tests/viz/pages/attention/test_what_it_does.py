"""What an open head does is said beside it: measured unasked, stopped, continued, and only on demand where shared."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from model.analysis.corpus import CorpusSentence
from model.analysis.head_description import corpora
from model.analysis.metrics.head_jobs import HeadJob
from model.analysis.metrics.head_metrics import HeadName
from tests.patience import PATIENCE
from tests.viz.page_run import app_of, healthy, opened
from tests.viz.sent import sent_to, unlinked
from viz.access import head_descriptions, models
from viz.access.findings import HeadJobs
from viz.selection.selection import Selection
from viz.server import limits
from viz.server.background_jobs import Job
from viz.text import head_description

OWN = tuple(
    CorpusSentence(text, text)
    for text in (
        "Tom told me that he would be late.",
        "She read the book to her sister again.",
        "The animal did not cross the street.",
        "A man walks along the river.",
        "They saw the old dog in the red house, and Tom ran.",
    )
)


@pytest.fixture
def few_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A corpus that a test has the time to read, and a cache in which nothing is kept."""
    monkeypatch.setattr(corpora, "default_corpus", lambda language, written="": OWN)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def unasked(few_texts: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A server that measures unasked."""
    monkeypatch.setenv(limits.UNASKED_VARIABLE, "1")
    limits.rules.cache_clear()
    yield
    monkeypatch.undo()
    limits.rules.cache_clear()


@pytest.fixture
def known(selection: Selection) -> head_descriptions.Known:
    """What is known of the model that the app opens with: nothing yet."""
    found = head_descriptions.known(models.reader(selection.model))
    found.described = None
    return found


def texts(app: AppTest) -> str:
    """What the page says, without the signs that keep Markdown from being read."""
    return unlinked(" ".join(element.value for element in [*app.caption, *app.markdown])).replace("\\", "")


def until(app: AppTest, is_so: Callable[[], bool]) -> AppTest:
    """Draw the page again and again, with time to read between."""
    last = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < last, texts(app)
        time.sleep(limits.QUIET + 0.2)
        healthy(app.run())
    return app


def press(app: AppTest, label: str) -> AppTest:
    return healthy(next(one for one in app.button if one.label == label).click().run())


@pytest.mark.usefixtures("unasked")
def test_an_open_head_is_described_without_a_click_and_the_next_one_at_once(
    app: AppTest, selection: Selection, known: head_descriptions.Known
) -> None:
    opened(app, head="L1H2", site="encoder.self")
    assert known.described is None
    # Meanwhile what this sentence alone shows.
    assert "Job, measured" in texts(app)
    until(app, lambda: "Measured:" in texts(app))
    assert "Job, measured" not in texts(app)
    assert known.described is not None
    for layer, head in ((0, 1), (1, 3)):
        app.selectbox(key="layer").set_value(layer).run()
        app.selectbox(key="head").set_value(head).run()
        said, *_more = head_description.lines(known.described.heads[HeadName("encoder.self", layer, head)])
        assert said.sentence.split(".")[0].split(":")[0] in texts(app)
    # A new start of the server reads what was kept, and no text.
    known.described = None
    job = Job(head_descriptions.describing(selection.model))
    assert job.wait(PATIENCE)
    job.result()
    assert known.described is not None
    assert job.progress.done == 0
    # What an atlas has measured of it comes first, if no rule says that.
    found = known.described.heads[HeadName("encoder.self", 1, 2)]
    for metric, is_first in (("antecedent", True), ("previous", False)):
        jobs = HeadJobs({(1, 2): (HeadJob(metric, 0.7),)}, sentences=9)
        first, *_rest = head_description.lines(head_descriptions.with_job(found, jobs))
        assert (first != head_description.lines(found)[0]) == is_first
        assert ("0.70" in first.numbers) == is_first


@pytest.mark.usefixtures("unasked")
def test_measuring_is_stopped_and_gone_on_with(app: AppTest, known: head_descriptions.Known) -> None:
    with limits.at_work():
        opened(app)
        press(app, "Stop")
        until(app, lambda: "Stopped after 0 of" in texts(app))
        # Who has stopped it has stopped it for good.
        assert "Continue" in {one.label for one in healthy(app.run()).button}
        press(app, "Continue")
    until(app, lambda: "Measured:" in texts(app))


@pytest.mark.usefixtures("shared", "few_texts")
def test_a_shared_server_measures_only_what_somebody_asks_for(app: AppTest, known: head_descriptions.Known) -> None:
    opened(app)
    assert "Nothing is measured here unless you ask." in texts(app)
    press(app, "Measure what each head does")
    until(app, lambda: "Measured:" in texts(app))


@pytest.mark.usefixtures("unasked")
def test_a_model_of_another_language_is_given_texts_and_one_of_pictures_is_not_measured(any_model: AppTest) -> None:
    any_model.session_state["heads/sentences-open"] = True
    opened(any_model, checkpoint="gpt2")
    until(any_model, lambda: "Choose your own texts" in texts(any_model))
    assert "Job, measured in this sentence" in texts(any_model)
    content = b"\n".join(b"abc dog number %d runs, and the cat sleeps." % number for number in range(3))
    any_model.file_uploader(key="heads/sentences-file").set_value(("mine.txt", content, "text/plain"))
    until(any_model, lambda: "Measured: 3 texts from mine.txt" in texts(any_model))
    pictures = opened(app_of(), checkpoint="vit")
    assert not {"Stop", "Measure what each head does"} & {one.label for one in pictures.button}


@pytest.mark.usefixtures("unasked")
def test_what_a_head_promotes_and_costs_is_said_on_demand(app: AppTest, known: head_descriptions.Known) -> None:
    app.session_state["head-promotes-open"] = app.session_state["head-off-open"] = True
    opened(app, site="decoder.cross", head="L2H1")
    until(app, lambda: any(one.label == "Measure what switching it off costs" for one in app.button))
    press(app, "Measure what switching it off costs")
    until(app, lambda: "tokens of 5 texts" in texts(app))
    # A corpus so small has no token that stands in eight texts.
    assert "It attends to no token more than uniform attention would." in texts(app)


@pytest.mark.usefixtures("unasked")
def test_examples_are_of_the_whole_range_at_random_or_of_a_word(app: AppTest, known: head_descriptions.Known) -> None:
    app.session_state["head-examples-open"] = True
    opened(app, site="encoder.self", head="L1H1")
    until(app, lambda: bool(sent_to(app, "head_examples")))
    ((tenths, _arrays),) = sent_to(app, "head_examples")
    assert known.described is not None
    strength = head_descriptions.strength(known.described, HeadName("encoder.self", 0, 0))
    assert [one["label"] for one in tenths["examples"]] == [
        f"Text {n} of {len(strength.order)}" for n in range(1, len(strength.order) + 1)
    ]
    weakest, *_others, strongest = ["".join(one["tokens"]) for one in tenths["examples"]]
    by_order = ["".join(OWN[number].text.split()) for number in (strength.order[0], strength.order[-1])]
    assert [text.replace("▁", "").removesuffix("</s>") for text in (weakest, strongest)] == by_order
    assert sum(tenths["bins"]) == len(strength.order)
    # Weights of one row, which the special tokens share.
    assert all(sum(one["weights"]) == pytest.approx(1, abs=0.01) and one["resting"] for one in tenths["examples"])
    healthy(app.segmented_control(key="head-examples-how").set_value("Search").run())
    healthy(app.text_input(key="head-examples-wanted").set_value("tom").run())
    # While texts are read again, nothing is there.
    until(app, lambda: [len(found["examples"]) for found, _arrays in sent_to(app, "head_examples")] == [2])
    assert "2 of 5 texts (40%) contain it" in texts(app)
    healthy(app.text_input(key="head-examples-wanted").set_value("s*d").run())
    assert "No text of the corpus contains this." in texts(app)
