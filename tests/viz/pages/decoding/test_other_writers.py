"""Other people's models that write, on the decoding page: their own ends, what they must not write, their scores."""

import json
import zlib
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model.adapters.text_writer import TextWriter
from model.errors import TokenError
from model.opening import as_writer, open_reader
from model.sources.source import SoundSource
from tests.model.adapters import speech_zoo, zoo
from tests.viz.pages.decoding.opening import TEXT, app_at, opened
from tests.viz.sent import charts, numbers, unlinked
from viz.access import models, traces
from viz.pages.decoding.data import branches, searches
from viz.pages.decoding.film.component import cells
from viz.pages.decoding.film.data import film
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.selection import Selection

#: Of the vocabulary of 380 pieces, so many that texts end early.
ENDS = [2, *range(40, 380, 9)]


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a GPT-2 of many ends, two that must not write some tokens, and one whose end it does not have."""
    root = tmp_path_factory.mktemp("settled")
    settings_of = {
        "ending": {"eos_token_id": ENDS},
        "ruled": {"suppress_tokens": [50]},
        "begun": {"begin_suppress_tokens": list(range(3, 380))},
    }
    for name, settings in settings_of.items():
        zoo.save_model(root / name, "gpt2", "bytes")
        path = root / name / "generation_config.json"
        path.write_text(
            json.dumps(json.loads(path.read_text(encoding="utf-8")) | {"eos_token_id": 2} | settings), encoding="utf-8"
        )
    # The tiny GPT-2 keeps the end of the large one, 50256.
    zoo.save_model(root / "endless", "gpt2", "bytes")
    return root


@pytest.fixture
def app(settled: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv(ROOT_VARIABLE, str(settled))
    return app_at("Film")


@pytest.mark.parametrize(("code", "step"), [("0-1-t50", 2), ("0-1-t20-t50", 3)])
def test_a_token_that_the_models_settings_forbid_makes_no_branch(app: AppTest, code: str, step: int) -> None:
    opened(app, checkpoint="ruled", branches=code, branch=1)
    said = unlinked(app.info[0].value).replace("\\", "")
    assert "own settings forbid" in said
    assert f"at step {step}:" in said
    assert "branches" not in app.query_params


def test_ends_are_those_of_the_models_settings_and_a_vocabulary_of_bytes_spells_everything_and_its_own(
    app: AppTest,
) -> None:
    assert models.writer(Selection().changed(checkpoint="ending").model).end_ids == set(ENDS)
    ruled = models.writer(Selection().changed(checkpoint="ruled").model)
    assert ruled.vocabulary.tokens(sorted(ruled.end_ids)) == ("<|end|>",)
    # A model whose end is no token of its vocabulary has none.
    assert models.writer(Selection().changed(checkpoint="endless").model).end_ids == frozenset()
    # A vocabulary of bytes spells everything, and its own end.
    writer = models.writer(Selection().changed(checkpoint="ruled").model)
    for word in ("😀", "</s>"):
        assert writer.vocabulary.decode(branches.spell(word, writer)) == f" {word}"
    assert branches.spell("<|end|>", writer) == (2,)
    with pytest.raises(TokenError, match=r"The only special token that can be written is <\|end\|>"):
        branches.spell("<|begin|>", writer)


def test_the_last_layer_is_the_models_output_whatever_its_settings_forbid_at_one_step(app: AppTest) -> None:
    app.query_params["studio"] = "Inside"
    opened(app, checkpoint="begun")
    (badge,) = (each.value for each in app.markdown if "last layer" in each.value)
    assert "last layer = the model's output" in unlinked(badge)
    assert any("rules forbid some tokens" in unlinked(each.value) for each in app.caption)


@pytest.mark.parametrize("alpha", [0.0, 1.3])
def test_the_score_of_greedy_search_is_that_of_the_models_beam_of_one(app: AppTest, alpha: float) -> None:
    selection = Selection().changed(checkpoint="ending", text=TEXT)
    writer = models.writer(selection.model)
    greedy = traces.written(writer, TEXT)
    assert 1 < len(greedy.steps) < 100
    reader = models.reader(selection.model)
    assert isinstance(reader, TextWriter)
    tree = reader.beam_tree(TEXT, 1, alpha)
    assert searches.greedy_score(greedy, writer, alpha) == pytest.approx(tree.winner.score, abs=1e-4)


def test_the_words_of_a_decoder_are_explained_but_for_the_one_that_writes(app: AppTest, settled: Path) -> None:
    app.query_params["studio"] = "Attribution"
    opened(app, checkpoint="ruled", text="Tom was very late", step=6)
    assert not app.error, app.error[0].value
    words, lines = charts(app)
    assert list(words["layout"]["yaxis"]["ticktext"][:2]) == ["Hidden alone", "Attention, all heads"]
    shown = words["layout"]["xaxis"]["ticktext"]
    assert shown[:2] == ["Tom", "was"]
    # With every word hidden, whatever the order, the same is left.
    ends = {round(numbers(line["y"])[-1], 4) for line in lines["data"][1:]}
    assert len(ends) == 1
    assert len(numbers(lines["data"][2]["y"])) == len(shown) + 1


def test_the_film_of_a_decoder_has_its_text_where_a_source_would_stand(app: AppTest) -> None:
    writer = models.writer(Selection().changed(checkpoint="ending").model)
    trace = traces.written(writer, "Tom was very late")
    made, before = film(trace, writer), trace.rows_before
    assert before > 1
    assert (made.source_tokens, made.target_tokens) == (trace.target_tokens[:before], trace.target_tokens[before:])
    # As on Attention, a row stands for the token that it reads: the one that it writes has its own row a step later.
    assert [axis.ahead for axis in made.axes] == [before, 0, before]
    weights = np.stack([trace.weights("decoder.self", layer).numpy()[:, before:] for layer in range(made.layers)])
    assert made.cross.tolist() == cells(weights[..., :before]).tolist()
    assert made.own.tolist() == cells(weights[..., before:]).tolist()
    # Of a text of one token there is nothing but what was written.
    alone = film(traces.written(writer, "a"), writer)
    assert alone.source_tokens == ("∅",)
    assert not any(zlib.decompress(alone.cross.tobytes()))
    assert alone.axes[1].groups == ((),)


def test_a_film_of_a_sound_sums_frames_and_what_the_decoder_was_told(tmp_path: Path) -> None:
    writer = as_writer(open_reader(speech_zoo.save_whisper(tmp_path, seconds=11), "cpu"))
    heard = writer.reading("tone", speech_zoo.sound(5)).speaking("de", "translate")
    session = heard.decode("")
    for _ in range(5):
        session.step()
    trace = session.trace()
    made = film(trace, heard)
    told = "<|startoftranscript|><|de|><|translate|><|notimestamps|>"
    assert made.target_tokens == (told, *trace.target_tokens[4:])
    # 550 frames are more columns than a film has; 300 of them are silence that was added.
    assert isinstance(trace.source, SoundSource)
    size, sounding = trace.source_tokens.index(made.source_tokens[1]), trace.source.sounding
    starts = [*range(0, sounding, size), sounding]
    assert size > 1
    assert len(starts) < 100
    assert made.source_tokens == (
        *(trace.source_tokens[first] for first in starts[:-1]),
        f"{trace.source_tokens[sounding]}…",
    )
    cross, own = (
        np.stack([trace.weights(f"decoder.{kind}", layer)[:, 3:].numpy() for layer in range(2)])
        for kind in ("cross", "self")
    )
    assert made.cross.tolist() == cells(np.add.reduceat(cross, starts, -1)).tolist()
    assert made.own.tolist() == cells(np.concatenate((own[..., :4].sum(-1, keepdims=True), own[..., 4:]), -1)).tolist()
