"""The step of the film and the chosen word go along: here, to other pages and back, for each kind of writer."""

import math
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from model import Trace, Translator
from model.analysis.attribution.choice import choice_at
from model.checkpoint import save_checkpoint
from tests.model.adapters import zoo
from tests.often import often
from tests.viz import page_run
from tests.viz.sent import sent_to, unlinked
from viz.access import models, texts, traces
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.selection import Selection

TEXT = "Tom was very late"
#: Our own translator, one of transformers, and a decoder alone.
WRITERS = ("ours", "marian", "gpt2")
TRANSLATORS = WRITERS[:2]


@pytest.fixture(scope="module")
def models_that_write(tmp_path_factory: pytest.TempPathFactory, translator: Translator) -> Path:
    """A folder with one of each kind."""
    root = tmp_path_factory.mktemp("writers")
    save_checkpoint(root / "ours", translator.model, translator.tokenizer, card="Random weights, for tests.\n")
    zoo.save_model(root / "marian", "marian", "metaspace")
    zoo.save_model(root / "gpt2", "gpt2", "bytes")
    return root


Opens = Callable[..., AppTest]


@pytest.fixture(params=often(WRITERS, ("ours", "gpt2")))
def opens(request: pytest.FixtureRequest, models_that_write: Path, monkeypatch: pytest.MonkeyPatch) -> Opens:
    """`opens(page, **params)` runs a page of the app with a model of each kind."""
    monkeypatch.setenv(ROOT_VARIABLE, str(models_that_write))

    def run(page: str, app: AppTest | None = None, **params: object) -> AppTest:
        app = app or page_run.app_of(text=TEXT, checkpoint=request.param)
        return page_run.opened(app, page, **params)

    return run


def selection(app: AppTest) -> Selection:
    held: Selection = app.session_state["selection"]
    return held


def written(app: AppTest) -> Trace:
    return traces.written(models.writer(selection(app).model), TEXT)


def step_of(trace: Trace, word: int) -> int:
    """The step that writes the first token of a word."""
    return texts.words(trace).groups[word][0] - len(trace.target_tokens) + len(trace.steps) - 1


def written_words(trace: Trace) -> list[int]:
    """The words that steps write from their first token on."""
    known = texts.words(trace)
    return [word for word in range(len(known.labels)) if not known.is_source(word) and step_of(trace, word) >= 0]


def marked(app: AppTest) -> list[list[int]]:
    """The words that are marked in the head of the page."""
    (header, _arrays), *_others = sent_to(app, "word_picker")
    chosen: list[list[int]] = header["chosen"]
    return chosen


def is_translator(app: AppTest) -> bool:
    return selection(app).model.checkpoint in TRANSLATORS


def test_a_word_chosen_on_another_page_opens_the_step_that_writes_it(opens: Opens) -> None:
    trace = written(opens("decoding"))
    words = written_words(trace)
    for word in (words[0], words[len(words) // 2]):
        app = opens("decoding", **{"from": word})
        assert selection(app).common.step == step_of(trace, word)
        assert marked(app) == [[word], []]
        # The address says both, and opens the same again.
        again = page_run.opened(page_run.app_of(**dict(app.query_params)), "decoding")
        assert dict(again.query_params) == dict(app.query_params)


def test_a_step_chosen_here_is_the_word_on_the_other_pages_and_stays_so(opens: Opens) -> None:
    app = opens("decoding")
    trace = written(app)
    word = written_words(trace)[1]
    app = opens("decoding", step=step_of(trace, word))
    assert selection(app).common.from_words == (word,)
    assert marked(app) == [[word], []]
    address = dict(app.query_params)
    for page in ("attention", "decoding", "coreference", "decoding"):
        app = page_run.opened(app, page)
        assert selection(app).common.step == step_of(trace, word)
        assert selection(app).common.from_words == (word,)
    assert dict(app.query_params)["step"] == address["step"]
    assert marked(app) == [[word], []]


def test_a_word_chosen_after_a_step_leads_and_a_step_after_a_word(opens: Opens) -> None:
    app = opens("decoding")
    trace = written(app)
    first, second, *_more = written_words(trace)
    app = opens("decoding", step=step_of(trace, first))
    choose(app, from_words=(second,), token=None)
    assert selection(app).common.step == step_of(trace, second)
    choose(app, step=step_of(trace, first))
    assert selection(app).common.from_words == (first,)
    # Who lets go of the word keeps the step.
    choose(app, from_words=(), token=None)
    assert (selection(app).common.step, marked(app)) == (step_of(trace, first), [[], []])


def choose(app: AppTest, **values: object) -> None:
    """What a person chooses before the next run."""
    app.session_state["selection"] = selection(app).changed(**values)
    page_run.healthy(app.run())


def test_candidates_lens_and_attribution_of_a_word_ask_the_row_that_writes_it(opens: Opens) -> None:
    app = opens("decoding")
    trace = written(app)
    writer = models.writer(selection(app).model)
    # This kind of translator has no lens.
    lens = writer.logit_lens(trace) if writer.abilities.has("logit lens") else None
    for word in written_words(trace):
        position, step = texts.words(trace).groups[word][0], step_of(trace, word)
        token = trace.target_tokens[position]
        assert choice_at(trace, step).place.row == position - 1
        assert trace.steps[step].token == token
        assert lens is None or lens.chosen_tokens[step] == token
        assert token in [candidate.token for candidate in trace.steps[step].candidates]
        # The rules of other people's models forbid some tokens, which leaves more for the others.
        if lens is not None and selection(app).model.checkpoint == "ours":
            last = float(lens.chosen_probabilities[-1, step])
            assert last == pytest.approx(math.exp(trace.steps[step].log_prob), abs=1e-5)


def test_a_word_that_was_given_has_no_step_and_the_page_says_so(opens: Opens) -> None:
    app = opens("decoding")
    proposed, trace = selection(app).common.step, written(app)
    given = 0
    app = opens("decoding", **{"from": given})
    assert selection(app).common.step == proposed
    assert not selection(app).common.step_chosen
    assert marked(app) == [[given], []]
    says = [
        unlinked(one.value)
        for one in app.caption
        if "was given to the model, so no step writes it" in unlinked(one.value)
    ]
    # A translator reads it in another text, where it is looked at.
    assert bool(says) != is_translator(app)
    assert len(trace.steps) > 2


def test_a_step_without_a_word_is_the_row_that_writes_it(opens: Opens) -> None:
    app = opens("decoding")
    trace = written(app)
    last = len(trace.steps) - 1
    if (word := texts.words(trace).at(trace.rows_before + 1 + last, is_source=False)) is not None:
        # It wrote until there was no room, and no end.
        assert trace.steps[-1].token not in trace.special_tokens
    app = opens("decoding", step=last, site="decoder.cross" if is_translator(app) else "decoder.self", head="L1H1")
    chosen = selection(app)
    assert chosen.common.from_words == (() if word is None else (word,))
    # The row that writes the end. What follows the text of a decoder alone is on no other page.
    assert chosen.common.token == (trace.rows_before + last if is_translator(app) else None)
    app = page_run.opened(page_run.opened(app, "attention"), "decoding")
    assert selection(app).common.step == last


def test_a_step_of_a_branch_is_a_word_elsewhere_as_far_as_both_agree_and_else_a_sentence_says_so(opens: Opens) -> None:
    app = opens("decoding")
    trace = written(app)
    words = written_words(trace)
    at, before = step_of(trace, words[2]), step_of(trace, words[1])
    other = next(each.token_id for each in trace.steps[at].candidates if each.token_id != trace.steps[at].token_id)
    branch = {"branches": f"0-{at}-t{other}", "branch": 1}
    apart = "shows the model's own translation, which does not contain"
    app = opens("decoding", **branch, step=before)
    assert selection(app).common.from_words == (words[1],)
    assert not any(apart in unlinked(one.value) for one in app.caption)
    choose(app, step=at)
    assert selection(app).common.from_words == ()
    assert selection(app).common.token is None
    if is_translator(app):
        assert any(apart in unlinked(one.value) for one in app.caption)
    # The head of this page shows the branch, and marks its word.
    assert len(marked(app)[0]) == 1
    # A word of the model's own translation that the branch does not have is none of the branch's.
    choose(app, from_words=(words[-1],), token=None)
    assert marked(app) == [[], []]
    assert selection(app).common.step == at


def test_a_hypothesis_of_a_beam_chooses_a_word_only_where_the_translation_begins_with_it(
    opens: Opens, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = opens("decoding", search="Beam search", beam=3)
    trace = written(app)
    tree = page_run.tree_of(TEXT, selection(app))
    own = [step.token_id for step in trace.steps]
    nodes = [node.index for node in tree.nodes if node.parent is not None]
    on_it = [node for node in nodes if list(tree.token_ids(node)) == own[: len(tree.token_ids(node))]]
    off_it = next(node for node in nodes if node not in on_it)
    apart = re.compile("shows the model's own translation, which does not contain")
    for node, is_apart in ((on_it[0], False), (off_it, True)):
        app = opens("decoding", search="Beam search", beam=3, node=node)
        assert any(apart.search(unlinked(one.value)) for one in app.caption) == is_apart
