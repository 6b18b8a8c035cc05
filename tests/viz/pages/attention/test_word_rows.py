"""One meaning of a word's row: page, table and API give for every two words and every head what is computed here again.

As a query a word of a translation is the rows that write it, any other word the rows that read it; as a key it is its
columns. Weights are averaged over rows and summed over columns, here from queries and keys in float64.
"""

import csv
import io
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model import Trace
from model.trace.axes import between
from tests.model.adapters import zoo
from tests.viz.page_run import app_of, traced
from tests.viz.page_run import opened as opened_page
from tests.viz.sent import sent_to
from viz.access import texts
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.selection import Selection
from viz.text.written import SITES
from viz.ui import trace_tables

TEXT = "The animal was tired because it ran."
#: Of each kind one: our encoder–decoder, one of the library, an encoder, and a decoder alone.
KINDS = {"en-de": None, "bart": "metaspace", "bert": "wordpiece", "gpt2": "metaspace"}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory, tiny_checkpoints: Path) -> Path:
    root = tmp_path_factory.mktemp("kinds")
    shutil.copytree(tiny_checkpoints / "en-de", root / "en-de")
    for kind, tokenizer in KINDS.items():
        if tokenizer:
            # A random translation ends where its positions do.
            changes = {"max_position_embeddings": 32} if kind == "bart" else {}
            zoo.tiny(kind, changes=changes).save_pretrained(root / kind)
            zoo.save_tokenizer(root / kind, tokenizer)
    return root


@pytest.fixture(params=KINDS)
def chosen(request: pytest.FixtureRequest, models: Path, monkeypatch: pytest.MonkeyPatch) -> Selection:
    monkeypatch.setenv(ROOT_VARIABLE, str(models))
    return Selection().changed(checkpoint=request.param, text=TEXT)


@dataclass(frozen=True)
class Word:
    side: str
    label: str
    positions: tuple[int, ...]


def words_of(trace: Trace) -> list[Word]:
    """The words of both texts, as the page counts them."""
    known = texts.words(trace)
    words = zip(known.labels, known.groups, strict=True)
    return [
        Word("source" if number < known.num_source else "target", label, group)
        for number, (label, group) in enumerate(words)
    ]


def rows_of(trace: Trace, site: str, word: Word) -> tuple[int, ...]:
    is_encoder = site == "encoder.self"
    if (word.side == "source") != is_encoder:
        return ()
    writes = trace.source_tokens and not is_encoder
    return tuple(position - 1 for position in word.positions if position) if writes else word.positions


def weights_in_float64(trace: Trace, site: str, layer: int) -> np.ndarray:
    inputs = trace.attention(site, layer)
    query, key = (part.double().numpy() for part in (inputs.query, inputs.key))
    scores = query @ key.swapaxes(-1, -2) * inputs.scale
    scores = np.where(trace.mask(site, layer).numpy(), scores, -np.inf)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def linked(trace: Trace, site: str) -> Iterator[tuple[int, int, tuple[int, ...], tuple[int, ...]]]:
    """Every two words that a site joins, by their number, with the rows of the one and the columns of the other."""
    keys = "target" if site == "decoder.self" else "source"
    for looking, word in enumerate(words_of(trace)):
        for looked_at, other in enumerate(words_of(trace)):
            if (rows := rows_of(trace, site, word)) and other.side == keys:
                yield looking, looked_at, rows, other.positions


def test_api_and_list_give_every_two_words_in_every_head_the_same_weight(chosen: Selection) -> None:
    trace = traced(TEXT, chosen)
    compared = 0
    for site in trace.sites:
        rows, columns = trace.axes(site, whole_words=True)
        real = [weights_in_float64(trace, site, layer) for layer in range(trace.layers_of(site))]
        api = [between(trace.weights(site, layer), rows, columns).numpy() for layer in range(trace.layers_of(site))]
        for looking, looked_at, of_rows, of_keys in linked(trace, site):
            expected = np.stack([of[:, of_rows][..., of_keys].sum(-1).mean(-1) for of in real])
            at = rows.groups.index(of_rows), columns.groups.index(of_keys)
            np.testing.assert_allclose(np.stack([of[:, at[0], at[1]] for of in api]), expected, atol=1e-5)
            link = texts.link(trace, (looking,), (looked_at,))
            assert link is not None
            assert link.site == site
            np.testing.assert_allclose(texts.weights(trace, link), expected, atol=1e-5)
            # The row is named by its word: what it writes stands after the arrow, what it reads before it.
            own = rows.labels[at[0]].split(" → ")[-1 if trace.rows_write(site) else 0]
            assert own == words_of(trace)[looking].label
            compared += expected.size
    assert compared > 100


@pytest.mark.parametrize("site", SITES)
def test_the_open_head_has_a_cell_for_every_two_words_with_the_same_weight(
    models: Path, chosen: Selection, site: str
) -> None:
    trace = traced(TEXT, chosen)
    if site not in trace.sites:
        return
    for layer in range(trace.layers_of(site)):
        real = weights_in_float64(trace, site, layer)
        for head in range(trace.heads_of(site)):
            place = {"site": site, "layer": layer, "head": head, "checkpoint": chosen.model.checkpoint, "text": TEXT}
            app = opened_page(app_of(), **place)
            ((header, (numbers,)),) = sent_to(app, "matrix_picture")
            values = numbers.reshape(len(header["rowTokens"]), -1)
            known = [axis["groups"] or [[i + axis["ahead"]] for i in range(len(tokens))] for axis, tokens in (
                (header["focus"]["rows"], header["rowTokens"]), (header["focus"]["columns"], header["columnTokens"]),
            )]  # fmt: skip
            words = words_of(trace)
            for looking, looked_at, of_rows, of_keys in linked(trace, site):
                at = (known[0].index(list(words[looking].positions)), known[1].index(list(words[looked_at].positions)))
                assert values[at] == pytest.approx(real[head][of_rows, :][:, of_keys].sum(-1).mean(), abs=1e-5)


def test_the_table_of_all_heads_names_each_row_by_the_token_that_it_stands_for(chosen: Selection) -> None:
    trace = traced(TEXT, chosen)
    for site in trace.sites:
        table = list(csv.DictReader(io.StringIO(trace_tables.all_heads(trace, site).decode("utf-8-sig"))))
        real = [weights_in_float64(trace, site, layer) for layer in range(trace.layers_of(site))]
        queries, keys = real[0].shape[1:]
        cells = {
            tuple(
                int(row[of])
                for of in ("layer (from 1)", "head (from 1)", "query_position (from 1)", "key_position (from 1)")
            ): row
            for row in table
        }
        words = words_of(trace)
        for looking, looked_at, of_rows, of_keys in linked(trace, site):
            for column, places, word in (("query_token", of_rows, looking), ("key_token", of_keys, looked_at)):
                names = (
                    trace.target_tokens if words[word].side == "target" else (trace.source_names or trace.source_tokens)
                )
                at = [(1, 1, *((place + 1, 1) if column == "query_token" else (1, place + 1))) for place in places]
                assert [cells[place][column] for place in at] == [names[position] for position in words[word].positions]
        for (layer, head, query, key), row in cells.items():
            assert float(row["weight"]) == pytest.approx(real[layer - 1][head - 1, query - 1, key - 1], abs=1e-5)
        assert len(cells) == sum(of.shape[0] for of in real) * queries * keys


def test_the_start_of_a_translation_has_a_column_only_and_its_end_a_row_only(app: AppTest) -> None:
    app = opened_page(app, site="decoder.self")
    ((header, _),) = sent_to(app, "matrix_picture")
    assert header["rowsWrite"] is True
    assert header["columnTokens"][0] == "<s>"
    assert all(not label.endswith("→ <s>") for label in header["rowTokens"])
    assert header["rowTokens"][-1].endswith("→ </s>")
    assert "</s>" not in header["columnTokens"]
