"""One meaning of a word's row: page, table and API give for every two words and every head what is computed here again.

(`tests.recomputed`, in float64.)
"""

import csv
import io

import numpy as np
import pytest

from model.trace.axes import between
from tests.recomputed import head_weights, linked_words, rows_of, word_weight
from tests.viz.page_run import app_of, traced
from tests.viz.page_run import opened as opened_page
from tests.viz.sent import sent_to
from viz.access import texts
from viz.selection.selection import Selection
from viz.text.written import SITES
from viz.ui import trace_tables

TEXT = "The animal was tired because it ran."


@pytest.fixture
def chosen(of_each_kind: Selection) -> Selection:
    return of_each_kind.changed(text=TEXT)


def test_api_and_list_give_every_two_words_in_every_head_the_same_weight(chosen: Selection) -> None:
    trace = traced(TEXT, chosen)
    known, compared = texts.words(trace), 0
    for site in trace.sites:
        rows, columns = trace.axes(site, whole_words=True)
        layers = range(trace.layers_of(site))
        real = [head_weights(trace, site, layer) for layer in layers]
        api = [between(trace.weights(site, layer), rows, columns).numpy() for layer in layers]
        for looking, looked_at in linked_words(trace, site):
            expected = np.stack([word_weight(of, trace, site, looking, looked_at) for of in real])
            at = rows.groups.index(rows_of(trace, site, looking)), columns.groups.index(known.groups[looked_at])
            np.testing.assert_allclose(np.stack([of[:, at[0], at[1]] for of in api]), expected, atol=1e-5)
            link = texts.link(trace, (looking,), (looked_at,))
            assert link is not None
            assert link.site == site
            np.testing.assert_allclose(texts.weights(trace, link), expected, atol=1e-5)
            # The row is named by its word: what it writes stands after the arrow, what it reads before it.
            own = rows.labels[at[0]].split(" → ")[-1 if trace.rows_write(site) else 0]
            assert own == known.labels[looking]
            compared += expected.size
    assert compared > 100


@pytest.mark.parametrize("site", SITES)
def test_the_open_head_has_a_cell_for_every_two_words_with_the_same_weight(chosen: Selection, site: str) -> None:
    trace = traced(TEXT, chosen)
    if site not in trace.sites:
        return
    words = texts.words(trace).groups
    layers, heads = trace.shapes[site]
    for layer in range(layers):
        head = (layer + 1) % heads
        place = {"site": site, "layer": layer, "head": head, "checkpoint": chosen.model.checkpoint, "text": TEXT}
        ((header, (numbers,)),) = sent_to(opened_page(app_of(**place)), "matrix_picture")
        values = numbers.reshape(len(header["rowTokens"]), -1)
        sides = ((header["focus"]["rows"], header["rowTokens"]), (header["focus"]["columns"], header["columnTokens"]))
        rows, columns = (
            axis["groups"] or [[index + axis["ahead"]] for index in range(len(tokens))] for axis, tokens in sides
        )
        real = head_weights(trace, site, layer)
        for looking, looked_at in linked_words(trace, site):
            at = rows.index(list(words[looking])), columns.index(list(words[looked_at]))
            expected = word_weight(real, trace, site, looking, looked_at)[head]
            assert values[at] == pytest.approx(expected, abs=1e-5)


def test_the_table_of_all_heads_names_each_row_by_the_token_that_it_stands_for(chosen: Selection) -> None:
    trace = traced(TEXT, chosen)
    known = texts.words(trace)
    names = trace.source.names, trace.target_tokens
    for site in trace.sites:
        table = csv.DictReader(io.StringIO(trace_tables.all_heads(trace, site).decode("utf-8-sig")))
        counted = [f"{of} (from 1)" for of in ("layer", "head", "query_position", "key_position")]
        cells = {tuple(int(row[of]) - 1 for of in counted): row for row in table}
        real = np.stack([head_weights(trace, site, layer) for layer in range(trace.layers_of(site))])
        assert set(cells) == set(np.ndindex(real.shape))
        for place, row in cells.items():
            assert float(row["weight"]) == pytest.approx(real[place], abs=1e-5)
        for looking, looked_at in linked_words(trace, site):
            queries, keys = (names[word >= known.num_source] for word in (looking, looked_at))
            of_rows, groups = rows_of(trace, site, looking), (known.groups[looking], known.groups[looked_at])
            assert [cells[0, 0, row, 0]["query_token"] for row in of_rows] == [queries[at] for at in groups[0]]
            assert [cells[0, 0, 0, key]["key_token"] for key in groups[1]] == [keys[at] for at in groups[1]]
