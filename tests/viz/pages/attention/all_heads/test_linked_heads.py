"""Which heads link two tokens: those listed for the cell that is kept, and the tiles that carry its weight."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.paths import ROOT
from tests.viz.reading import traced
from tests.viz.sent import sent_to
from viz.core.sites import CROSS, DECODER, head_label
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.selection import Selection

TEXT = Selection().common.text


@pytest.fixture
def app(tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))
    return AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)


def listed(app: AppTest) -> list[str]:
    return [button.label for button in app.button if (button.key or "").startswith("linked-")]


def test_the_heads_of_a_kept_cell_are_listed_from_the_largest_weight_on(app: AppTest, selection: Selection) -> None:
    app.query_params.update({"site": CROSS, "token": "2", "key_token": "3"})
    app.run()
    trace = traced(TEXT, selection)
    weights = {
        head_label(layer, head, CROSS): float(trace.weights(CROSS, layer)[head, 2, 3])
        for layer in range(2)
        for head in range(4)
    }
    largest = sorted(weights.items(), key=lambda item: -item[1])[:6]
    assert listed(app) == [f"{name} · {weight:.4f}" for name, weight in largest]


def test_a_head_of_the_list_opens_and_the_cell_stays_kept(app: AppTest) -> None:
    app.query_params.update({"site": CROSS, "token": "2", "key_token": "3"})
    app.run()
    name = listed(app)[0].split(" · ")[0]
    app.button(key="linked-0").click().run()
    chosen = [int(app.query_params[part]) for part in ("layer", "head")]
    assert head_label(chosen[0], chosen[1], CROSS) == name
    assert (app.query_params["token"], app.query_params["key_token"]) == ("2", "3")


def test_what_the_mask_forbids_is_said(app: AppTest) -> None:
    app.query_params.update({"site": DECODER, "token": "2", "key_token": "3"})
    app.run()
    assert not listed(app)
    assert any("the mask lets no head look there" in caption.value for caption in app.caption)


def test_tiles_carry_the_weight_of_the_kept_cell(app: AppTest, selection: Selection) -> None:
    app.query_params.update({"site": CROSS, "token": "2", "key_token": "3", "figure": "kept", "order": "highest"})
    app.run()
    ((header, _),) = sent_to(app, "head_grid")
    trace = traced(TEXT, selection)
    weights = [float(trace.weights(CROSS, layer)[head, 2, 3]) for layer in range(2) for head in range(4)]
    assert header["metric"]["texts"] == [f"{weight:.2f}" for weight in weights]
    assert header["ranked"] == sorted(range(8), key=lambda index: -weights[index])
    assert app.query_params["figure"] == "kept"
