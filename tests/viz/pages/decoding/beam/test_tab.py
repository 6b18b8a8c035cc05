"""Beam search on its page: the open hypothesis, greedy beside it, and settings that do not exist."""

import json
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.pages.decoding.opening import TEXT, app_at, opened
from tests.viz.reading import tree_of
from tests.viz.sent import sent_to
from viz.pages.decoding.beam import tab as beam_story
from viz.selection.selection import Selection


@pytest.fixture
def app(chosen: Selection) -> AppTest:
    return app_at("Beam search")


def picture(app: AppTest) -> dict[str, Any]:
    ((header, _),) = sent_to(app, "beam_picture")
    return header


def test_it_opens_on_the_closest_rival_of_the_winner_and_shows_greedy_beside_it(app: AppTest) -> None:
    opened(app, beam=3)
    tree = tree_of(TEXT, Selection().changed(checkpoint="en-de", text=TEXT, beam_size=3))
    header = picture(app)
    assert header["chosen"] != tree.winner.index
    assert tree.nodes[header["chosen"]].parent in {0, *(node.index for node in tree.path(tree.winner.index))}
    assert len(header["nodes"]) == len(tree.nodes)
    tables = " ".join(element.value for element in app.html)
    assert "Greedy" in tables
    assert "Beam, 1 of 3" in tables
    assert 'lang="de"' in tables
    assert any("((5 + tokens) / 6)^α (Wu et al. 2016)" in caption.proto.help for caption in app.caption)
    assert "node" not in app.query_params
    assert len(app.get("plotly_chart")) == 1


def test_a_node_of_a_link_is_opened_with_its_own_attention(app: AppTest, chosen: Selection) -> None:
    tree = tree_of(TEXT, chosen)
    index = tree.hypotheses[-1]
    opened(app, beam=3, node=index, layer=1, head=2)
    assert picture(app)["chosen"] == index
    figure = json.loads(app.get("plotly_chart")[0].proto.spec)
    labels = figure["layout"]["yaxis2"]["ticktext"]
    assert [int(label.rsplit("row ")[-1]) - 1 for label in labels] == list(tree.rows(index))
    assert any(beam_story.fate(tree, index) in element.value for element in app.caption)


def test_the_root_has_nothing_to_look_at(app: AppTest) -> None:
    opened(app, node=0)
    assert not app.get("plotly_chart")
    assert any("The beginning" in element.value for element in app.caption)


def test_settings_that_do_not_exist_become_the_nearest_and_nothing_is_lost(app: AppTest) -> None:
    opened(app, beam=99, penalty=9999, node=99999, layer=77, head=88)
    said = [element.value for element in app.info]
    assert said[0] == "Beam width 99 is out of range (1 to 12); 12 is shown."
    assert said[1] == "Length penalty 99.99 is out of range (0.00 to 5.00); 5.00 is shown."
    assert said[2].startswith("There is no hypothesis 99999")
    assert (app.query_params["beam"], app.query_params["penalty"]) == ("12", "500")
    assert "node" not in app.query_params
    assert app.query_params["text"] == TEXT
    assert len(app.get("plotly_chart")) == 1


def test_a_beam_of_none_is_a_beam_of_one(app: AppTest) -> None:
    opened(app, beam=0)
    assert app.query_params["beam"] == "1"
    assert "Beam width 0 is out of range" in app.info[0].value


def test_another_width_forgets_the_node_for_its_tree_is_another_one(app: AppTest) -> None:
    opened(app, beam=3, node=2)
    app.slider(key="beam_size").set_value(2).run()
    assert app.query_params["beam"] == "2"
    assert "node" not in app.query_params
    app.slider(key="length_penalty").set_value(1.25).run()
    assert app.query_params["penalty"] == "125"
    assert not app.exception
