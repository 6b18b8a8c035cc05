"""A film of a training as data: what changes most, its file, what is sent, and every size that its reader accepts."""

import zlib
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model.errors import DataError
from model.training.film import Film, FilmSentence
from tests.viz.page_run import healthy
from tests.viz.pages.experiments.opening import at
from tests.viz.pages.experiments.through_training.invented import STEPS, saved
from tests.viz.pages.experiments.through_training.invented import film as invented_film
from tests.viz.sent import sent_to, unpack
from viz.pages.experiments.through_training import component, data, tab
from viz.pages.experiments.through_training.component import FilmState, read_state
from viz.pages.experiments.through_training.data import OpenFilm, arrivals, opening, view
from viz.pictures.payload import pack
from viz.pictures.tiles.codes import code
from viz.text.written import CROSS, SITES

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


@pytest.mark.parametrize("size", [(1, 1, 1, 1, 1, False), (1, 3, 1, 1, 2, True), (3, 1, 1, 2, 1, True)], ids=str)
def test_a_film_of_one_token_is_drawn_at_every_attention_or_a_sentence_says_why_it_has_no_lines(
    app: AppTest, size: Size, tmp_path: Path
) -> None:
    at(app, "Through training")
    made = data.read(saved(tmp_path / "a.npz", film(size)), "a.npz")
    app.session_state[tab.SLOT] = tab.Loaded("a.npz", made)
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


def test_every_weight_of_a_film_is_sent_as_the_number_that_it_is() -> None:
    made = invented_film()
    sent = view(OpenFilm(made, "sent"), 1, "decoder.cross", "word_out")
    low, high = np.frombuffer(zlib.decompress(sent.weights.tobytes()), np.uint8).reshape(2, -1).astype(int)
    weights = made.sentences[1].weights["decoder.cross"]
    # A film has weights as parts of 255.
    assert (low + 256 * high).tolist() == code(weights.ravel() / np.float32(255)).tolist()
    values = np.frombuffer(zlib.decompress(sent.numbers.tobytes()), "<f4").reshape(len(STEPS), 2, 2)
    assert values[0, 0, 0] < 0.3 < 0.5 < values[-1, 0, 0]


def test_a_row_of_a_decoder_is_named_by_what_it_reads_and_writes() -> None:
    shown = view(OpenFilm(invented_film(), "named"), 0, "decoder.self", "same")
    assert shown.row_tokens == ["<s> → Ein", "Ein → Hund", "Hund → rennt", "rennt → </s>"]
    assert shown.column_tokens == ["<s>", "Ein", "Hund", "rennt"]
    assert [bool(component.rows_note(site)) for site in SITES] == [False, True, True]


def test_of_many_weights_only_some_frames_are_sent_the_first_and_the_last_among_them() -> None:
    assert component.kept_frames(30, 1_000) == tuple(range(30))
    few = component.kept_frames(200, component.MOST_SENT // 10)
    assert (len(few), few[0], few[-1]) == (10, 0, 199)
    assert component.kept_frames(200, component.MOST_SENT) == (199,)
    assert component.kept_frames(200, component.MOST_SENT + 1) == (199,)
    just = np.zeros((2, 1, 1, 1, component.MOST_SENT), np.uint8)
    assert not component.is_too_large(just)
    assert component.is_too_large(np.zeros((1, 1, 12, 512, 512), np.uint8))


def test_a_report_counts_only_if_all_that_it_names_exists() -> None:
    sent = view(OpenFilm(invented_film(), "report"), 0, "encoder.self", "first")
    report = {"step": 5, "layer": 1, "head": 1, "digest": sent.digest, "command": 1}
    assert read_state(sent, report) == FilmState(5, 1, 1)
    for change in ({"step": 6}, {"layer": -1}, {"head": 2}, {"step": True}, {"head": None}):
        assert read_state(sent, report | change) is None, change
    assert read_state(sent, None) is None


def heads(*lines: list[float]) -> np.ndarray:
    """Frame · layer · head of one layer, a line of frames for each head."""
    return np.array(lines, np.float32).T[:, None, :]


FLAT = [0.1, 0.1, 0.1, 0.1]
RISING = [0.1, 0.2, 0.6, 0.7]


def test_the_head_whose_alignment_grows_most_comes_first_at_the_frame_after_its_largest_step() -> None:
    encoder = {"previous": heads([0.0, 0.0, 0.9, 0.9], FLAT)}
    cross = {"word_in": heads(FLAT, FLAT), "word_out": heads(FLAT, RISING)}
    found = opening({"encoder.self": encoder, "decoder.cross": cross})
    assert (found.site, found.layer, found.head, found.metric, found.frame) == ("decoder.cross", 0, 1, "word_out", 2)
    # What grows most, not what is highest.
    cross["word_in"] = heads([0.8, 0.8, 0.8, 0.85], FLAT)
    encoder["same"] = heads([0.9, 0.9, 0.9, 0.95], FLAT)
    assert opening({"encoder.self": encoder, "decoder.cross": cross}) == found
    cross["word_out"] = heads(FLAT, [0, 0, 0, 0]).astype(float)
    cross["word_out"][-1, 0, 1] = data.CLEAR
    assert opening({"encoder.self": encoder, "decoder.cross": cross}).metric == "word_out"
    cross["word_out"] = heads(FLAT, [0.1, 0.1, 0.1, 0.2])
    found = opening({"encoder.self": encoder, "decoder.cross": cross})
    assert (found.site, found.head, found.metric) == ("encoder.self", 0, "previous")


def test_a_head_that_loses_its_job_for_a_while_has_it_since_it_came_back() -> None:
    job = (0, 1, "previous")
    metrics = {"previous": heads(FLAT, RISING)}
    (found,) = arrivals("encoder.self", metrics, [{job}, set(), {job}, {job}])
    assert (found.layer, found.head, found.since) == (0, 1, 2)
    assert abs(found.value - 0.7) < 1e-6
    assert not arrivals("encoder.self", metrics, [{job}, {job}, {job}, set()])


def test_alignment_counts_from_its_share_on() -> None:
    exact = np.float64(data.ALIGNED)
    metrics = {"word_in": heads(FLAT, FLAT), "word_out": heads(FLAT, RISING), "same": heads(RISING, RISING)}
    metrics["word_in"] = np.array([0.1, 0.1, 0.1, exact])[:, None, None].repeat(2, 2) * [[[1, 0.99]]]
    best, least = arrivals("decoder.cross", metrics, [set()] * 4)
    # The highest number first.
    assert (best.head, best.metric, best.since) == (1, "word_out", 2)
    assert (least.head, least.metric, least.since) == (0, "word_in", 3)
    assert not arrivals("encoder.self", metrics, [set()] * 4)


def test_a_film_as_large_as_allowed_is_read_and_a_larger_one_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = len(saved(tmp_path / "film.npz"))
    # What a file may unpack to has a bound of its own.
    monkeypatch.setattr(data, "LARGEST", 1 << 20)
    assert len(data.at(tmp_path / "film.npz").film.steps) == 6
    with (tmp_path / "film.npz").open("ab") as file:
        file.truncate((1 << 20) + 1)
    with pytest.raises(DataError, match=r"film\.npz has more than 1,048,576 bytes"):
        data.at(tmp_path / "film.npz")
    assert size < 1 << 20


def test_a_film_that_is_a_link_out_of_its_folder_is_not_followed(tmp_path: Path) -> None:
    saved(tmp_path / "elsewhere.npz")
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "film.npz").symlink_to("../elsewhere.npz")
    with pytest.raises(DataError, match=r"model/film\.npz is a link that leads out of the folder"):
        data.at(folder / "film.npz")
    with pytest.raises(DataError, match="There is no file"):
        data.at(folder / "none.npz")


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


def test_the_longest_texts_and_tokens_are_cut() -> None:
    made = invented_film()
    just = replace(made.sentences[0], source="x" * component.MOST_TEXT, source_tokens=("y" * component.MOST_TOKEN,) * 4)
    shown = view(OpenFilm(replace(made, sentences=(just,)), "just"), 0, "encoder.self", "first")
    assert "…" not in str(unpack(pack(shown))[0]["source"]) + "".join(shown.column_tokens)
    long = replace(made.sentences[0], source="x" * 4_000, source_tokens=("y" * 4_000,) * 4)
    shown = view(OpenFilm(replace(made, sentences=(long,)), "long"), 0, "encoder.self", "first")
    assert len(str(unpack(pack(shown))[0]["source"])) == component.MOST_TEXT
    # A row of a decoder names two tokens.
    assert (max(map(len, shown.column_tokens)), max(map(len, shown.row_tokens))) == (32, 64)
