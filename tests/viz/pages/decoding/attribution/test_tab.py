"""Attribution on its page: what each method gives each word, and the test of the methods."""

import csv
import io

import pytest
from streamlit.testing.v1 import AppTest

from model import Trace
from model.analysis.attribution.choice import ChoiceRun, choice_at, visible
from model.analysis.attribution.methods import METHODS, choice_run
from tests.viz.page_run import traced
from tests.viz.pages.decoding.opening import TEXT, app_at, opened
from tests.viz.sent import charts, numbers, unlinked
from viz.access import attribution, models, texts, traces
from viz.access.attribution import Explained
from viz.selection.choices import ALONE
from viz.selection.selection import Selection
from viz.server.background_jobs import Progress
from viz.text.written import display_token
from viz.ui.attribution import NAMES
from viz.ui.attribution import numbers as numbers_table

STEP = 2


@pytest.fixture
def app(chosen: Selection) -> AppTest:
    return app_at("Attribution")


@pytest.fixture
def trace(chosen: Selection) -> Trace:
    return traced(TEXT, chosen)


@pytest.fixture
def explained(chosen: Selection, trace: Trace) -> Explained:
    task = attribution.explaining_step(models.translator(chosen.model), trace, STEP, None, 0)
    return task.compute(Progress(0, "runs"))


@pytest.fixture
def run(chosen: Selection, trace: Trace) -> ChoiceRun:
    return choice_run(models.translator(chosen.model), choice_at(trace, STEP))


def test_words_are_hidden_in_the_order_of_their_scores(explained: Explained, run: ChoiceRun, trace: Trace) -> None:
    for method, deletion in explained.deletions.items():
        scores = [explained.scores[method][word] for word in deletion.order]
        assert scores == sorted(scores, reverse=True)
        hidden = [list(texts.words(trace).groups[deletion.order[0]])]
        alone = run.choice.of_logits(run.seen_logits(visible(len(run.choice.source), hidden))).detach()
        assert deletion.values[1] == pytest.approx(float(alone), abs=1e-4)
    assert explained.deletions[explained.best].fall == max(each.fall for each in explained.deletions.values())
    assert explained.beaten(explained.best) == sum(
        drawn.fall < explained.deletions[explained.best].fall for drawn in explained.random
    )


def test_the_page_explains_the_token_of_the_step_against_the_one_that_is_chosen(app: AppTest, trace: Trace) -> None:
    opened(app, step=STEP)
    words, lines = charts(app)
    assert words["layout"]["yaxis"]["ticktext"] == [
        "Hidden alone", "Cross-attention, all heads", *list(NAMES.values())[1:],
    ]  # fmt: skip
    assert [line["name"] for line in lines["data"][2:]] == words["layout"]["yaxis"]["ticktext"][1:]
    rivals = app.selectbox(key="rival")
    # The page has proposed another token; a person may ask for none.
    other = traces.rival(trace, STEP)
    assert other is not None
    assert rivals.value == other.token_id + 1 != ALONE
    assert rivals.options == [
        "nothing: only the token's own probability",
        *(f"rather than {display_token(each.token)}" for each in trace.steps[STEP].candidates[1:]),
    ]
    both = f"“{display_token(trace.steps[STEP].token)}” rather than “{display_token(other.token)}”"
    assert any(both in unlinked(element.value).replace("\\", "") for element in app.markdown)
    rivals.set_value(ALONE).run()
    assert app.query_params["than"] == "0"
    assert not any("rather than" in unlinked(element.value) for element in app.markdown)
    intact = numbers(charts(app)[1]["data"][2]["y"])[0]
    assert intact == pytest.approx(trace.steps[STEP].log_prob, abs=1e-4)


def test_the_table_has_every_method_and_word(explained: Explained) -> None:
    rows = list(csv.DictReader(io.StringIO(numbers_table(explained).decode("utf-8-sig"))))
    assert len(rows) == len(METHODS) * len(explained.words)
    for row in rows:
        method = next(method for method in METHODS if method == row["method"])
        assert float(row["score"]) == pytest.approx(explained.scores[method][int(row["word (from 1)"]) - 1], abs=1e-6)
        deletion = explained.deletions[method]
        assert deletion.order[int(row["hidden_as"]) - 1] == int(row["word (from 1)"]) - 1
        assert float(row["choice_nats"]) == pytest.approx(deletion.values[int(row["hidden_as"])], abs=1e-5)
