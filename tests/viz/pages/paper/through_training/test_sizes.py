"""Every film that its reader accepts is shown, down to one token, one head, one layer and one frame."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model.errors import DataError
from model.training.film import Film, FilmSentence
from tests.viz.page_run import healthy
from tests.viz.pages.paper.opening import at
from tests.viz.pages.paper.through_training.invented import saved
from tests.viz.sent import sent_to
from viz.pages.paper.through_training import data, tab
from viz.text.sites import CROSS, SITES

#: Source and target tokens, layers, heads, frames, and whether words are linked.
Size = tuple[int, int, int, int, int, bool]
SIZES: list[Size] = [
    *((*size, True) for size in product((1, 3), (1, 3), (1, 2), (1, 2), (1, 3))),
    (1, 1, 1, 1, 1, False),
    (3, 3, 1, 1, 1, False),
]


def film(size: Size) -> Film:
    sources, targets, layers, heads, frames, is_linked = size
    random = np.random.default_rng(sum(size))
    weights: dict[str, np.ndarray] = {}
    for site in SITES:
        queries = sources if site == SITES[0] else targets
        keys = sources if site in (SITES[0], CROSS) else targets
        allowed = np.tril(np.ones((queries, keys))) if site == SITES[1] else np.ones((queries, keys))
        drawn = random.random((frames, layers, heads, queries, keys)) * allowed
        weights[site] = np.rint(255 * drawn / drawn.sum(-1, keepdims=True)).astype(np.uint8)
    sentence = FilmSentence(
        source="a",
        target="b",
        source_tokens=("▁a", "</s>", "▁c")[-sources:],
        target_tokens=("<s>", "▁b", "▁d")[:targets],
        links=((targets - 1, (sources - 1,)),) if is_linked else (),
        translations=tuple(f"{frame}" for frame in range(frames)),
        weights=weights,
    )
    losses = (float("nan"), 3.0, 2.0)[:frames]
    return Film(run={}, steps=(0, 1, 7)[:frames], losses=losses, scores={}, sentences=(sentence,))


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_every_attention_of_a_film_of_any_size_is_packed_with_finite_numbers(size: Size, tmp_path: Path) -> None:
    opened = data.read(saved(tmp_path / "a.npz", film(size)), "a.npz")
    opening = data.opens_on(opened)
    assert opening.site in opened.sites
    assert np.isfinite([opening.before, opening.after]).all()
    for site in opened.sites:
        metrics = data.metrics(opened, site)
        keys = size[1] if site == SITES[1] else size[0]
        assert ("first" in metrics) == (keys > 1)
        assert all(0 <= arrival.since < size[4] for arrival in data.arrived(opened, site))
        for metric in metrics or ("",):
            view = data.view(opened, 0, site, metric)
            assert (view.layers, view.heads) == size[2:4]
            assert len(view.row_tokens) == (size[0] if site == SITES[0] else size[1])


@pytest.mark.parametrize(("name", "holds"), [("MOST_WEIGHTS", 3 * 2 * 2 * (3 * 3 + 2 * 2 + 2 * 3)), ("MOST_HEADS", 4)])
def test_a_film_is_read_up_to_its_most_weights_and_heads_and_not_beyond(
    name: str, holds: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = saved(tmp_path / "a.npz", film((3, 2, 2, 2, 3, True)))
    monkeypatch.setattr(data, name, holds)
    data.read(content, "a.npz")
    monkeypatch.setattr(data, name, holds - 1)
    with pytest.raises(DataError, match="contains 228 weights, of up to 4 heads per attention"):
        data.read(content, "a.npz")


@pytest.mark.parametrize("size", [(1, 1, 1, 1, 1, False), (1, 3, 1, 1, 2, True), (3, 1, 1, 2, 1, True)], ids=str)
def test_a_film_of_one_token_is_drawn_at_every_attention_or_a_sentence_says_why_it_has_no_lines(
    app: AppTest, size: Size, tmp_path: Path
) -> None:
    at(app, "Through training")
    made = data.read(saved(tmp_path / "a.npz", film(size)), "a.npz")
    app.session_state[tab._SLOT] = tab._Loaded("a.npz", made)
    app.run()
    for site in SITES:
        healthy(app.selectbox(key="film_site").set_value(site).run())
        ((header, (planes, _)),) = sent_to(app, "training_film")
        assert (header["layers"], header["heads"], len(header["steps"])) == (size[2], size[3], size[4])
        assert planes.size
        is_measured = bool(data.metrics(made, site))
        assert (header["metric"] is not None) == is_measured
        assert ("every weight is 1" in header["finding"]) == (not is_measured)
        assert bool(app.get("download_button")) == is_measured
