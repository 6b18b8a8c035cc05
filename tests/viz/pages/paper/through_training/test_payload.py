"""What is sent of a film: every weight that it holds, no more frames than a browser takes, no text of any length."""

import zlib
from dataclasses import replace

import numpy as np

from tests.viz.pages.paper.through_training.invented import STEPS, film
from tests.viz.sent import unpack
from viz.pages.paper.through_training import component
from viz.pages.paper.through_training.component import FilmState, read_state
from viz.pages.paper.through_training.data import MOST_HEADS, OpenFilm, view
from viz.pictures.payload import pack


def test_every_weight_of_a_film_is_sent_as_the_number_that_it_is() -> None:
    made = film()
    sent = view(OpenFilm(made, "sent"), 1, "decoder.cross", "word_out")
    low, high = np.frombuffer(zlib.decompress(sent.weights.tobytes()), np.uint8).reshape(2, -1).astype(int)
    weights = made.sentences[1].weights["decoder.cross"]
    assert (low + 256 * high).tolist() == component._CELLS[weights].ravel().tolist()
    assert len(set(component._CELLS.tolist())) == 256
    values = np.frombuffer(zlib.decompress(sent.numbers.tobytes()), "<f4").reshape(len(STEPS), 2, 2)
    assert values[0, 0, 0] < 0.3 < 0.5 < values[-1, 0, 0]


def test_a_row_of_a_decoder_is_named_by_what_it_reads_and_writes() -> None:
    shown = view(OpenFilm(film(), "named"), 0, "decoder.self", "same")
    assert shown.row_tokens == ["<s> → Ein", "Ein → Hund", "Hund → rennt", "rennt → </s>"]
    assert shown.column_tokens == ["<s>", "Ein", "Hund", "rennt"]


def test_of_many_weights_only_some_frames_are_sent_the_first_and_the_last_among_them() -> None:
    assert component.kept_frames(30, 1_000) == tuple(range(30))
    few = component.kept_frames(200, component.MOST_SENT // 10)
    assert (len(few), few[0], few[-1]) == (10, 0, 199)
    assert component.kept_frames(200, component.MOST_SENT) == (199,)
    assert component.is_too_large(np.zeros((1, 1, 12, 512, 512), np.uint8))


def test_the_longest_texts_and_tokens_are_cut() -> None:
    made = film()
    long = replace(made.sentences[0], source="x" * 4_000, source_tokens=("y" * 4_000,) * 4)
    shown = view(OpenFilm(replace(made, sentences=(long,)), "long"), 0, "encoder.self", "first")
    assert len(str(unpack(pack(shown))[0]["source"])) == component.MOST_TEXT
    assert max(map(len, shown.column_tokens)) == component.MOST_TOKEN


def test_a_report_counts_only_if_all_that_it_names_exists() -> None:
    sent = view(OpenFilm(film(), "report"), 0, "encoder.self", "first")
    report = {"step": 5, "layer": 1, "head": 1, "digest": sent.digest, "command": 1}
    assert read_state(sent, report) == FilmState(5, 1, 1)
    for change in ({"step": 6}, {"layer": -1}, {"head": 2}, {"step": True}, {"head": None}):
        assert read_state(sent, report | change) is None, change
    assert read_state(sent, None) is None


def test_the_greatest_message_is_a_few_megabytes() -> None:
    """Two bytes for each weight that is sent, before they are compressed; numbers of heads and texts come to less."""
    assert 2 * component.MOST_SENT <= 6_000_000
    most_texts = 200 * component.MOST_TEXT
    assert most_texts + 4 * 200 * MOST_HEADS < 300_000
