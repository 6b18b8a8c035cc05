"""Heads whose word starts are known: their error, their lag, the set that is found, and how far they agree."""

import re
from itertools import pairwise

import pytest
import torch
from jaxtyping import Float
from torch import Tensor

from model.analysis.metrics.head_metrics import LayerHead
from model.analysis.timing.report import timing_json, timing_report
from model.analysis.timing.scores import agreement, check_order, find_set, score_timing
from model.analysis.timing.transcript import Transcript, WrittenWord
from model.analysis.timing.warping import smoothed
from model.analysis.timing.word_times import WordTime
from model.errors import DataError, TraceError

FRAME = 0.05
FRAMES = 160
#: Exact, late by 8 frames, and noise, in layers of two.
HEADS = tuple(LayerHead(layer, head) for layer in range(2) for head in range(2))[:3]
EXACT, LATE, NOISE = range(3)


def heard(number: int) -> Transcript:
    """Six words of one or two rows, and a last row for the end of the text."""
    generator = torch.Generator().manual_seed(number)
    lengths = torch.randint(14, 20, (7,), generator=generator).tolist()
    rows = [0, 1, 3, 4, 6, 7, 8]
    begins = [0, *torch.tensor(lengths).cumsum(0).tolist()][:7]

    def noise() -> Float[Tensor, "row frame"]:
        return 0.002 + 0.001 * torch.rand(9, FRAMES + 8, generator=generator)

    def weights(late: int) -> Float[Tensor, "row frame"]:
        made = noise()
        for word, (first, after) in enumerate(zip(rows, [*rows[1:], 9], strict=True)):
            end = begins[word + 1] if word < 6 else FRAMES
            bounds = torch.linspace(begins[word], end, after - first + 1).int().tolist()
            for row, (start, stop) in enumerate(pairwise(bounds), first):
                made[row, start + late if start else 0 : stop + late] = 1
        return made

    # Each row weighs the silence after the sound as much as it likes.
    matrices = torch.stack([weights(0), weights(8), noise()])
    names = ["One", "two", "“Three,”", "four", "five", "six."]
    words = [WrittenWord(name, first, after) for name, first, after in zip(names, rows, rows[1:], strict=False)]
    given = [WordTime(name, 2 + FRAME * begin, 10.0) for name, begin in zip(names, begins, strict=False)]
    # The person spells it otherwise, hears another word, and one that was not written.
    given[2], given[3] = (WordTime(word, *at[1:]) for word, at in zip(("three", "for"), given[2:4], strict=True))
    given.insert(5, WordTime("uh", given[5].start, 10.0))
    return Transcript(
        name=f"sound {number}",
        words=tuple(words),
        matrices=smoothed(matrices / matrices.sum(-1, keepdim=True), FRAMES),
        frame_seconds=FRAME,
        begin=2.0,
        given=tuple(given),
    )


SOUNDS = [heard(number) for number in range(7)]


def test_a_head_has_an_error_and_a_lag_of_which_the_lag_can_be_taken_off() -> None:
    scores = score_timing(SOUNDS, HEADS, own=(HEADS[LATE],))
    # Of six words, the first is left out and one was written otherwise.
    assert (scores.sounds, scores.words, scores.left_out) == (7, 7 * 4, 7 * 3)
    value = {name: getattr(scores.each, name).value.tolist() for name in ("error", "lag", "without_lag")}
    assert value["error"][EXACT] == value["lag"][EXACT] == pytest.approx(0, abs=1e-6)
    assert value["error"][LATE] == value["lag"][LATE] == pytest.approx(8 * FRAME, abs=1e-5)
    assert value["without_lag"][LATE] == pytest.approx(0, abs=1e-5)
    assert scores.each.error.value.argmax() == NOISE
    own = scores.own
    assert own is not None
    assert own.error.at(0) == pytest.approx(scores.each.error.at(LATE))
    evenly = torch.tensor(
        [
            2 + FRAME * FRAMES * at / 6 - sound.given[to].start
            for sound in SOUNDS
            for at, to in ((1, 1), (2, 2), (4, 4), (5, 6))
        ]
    )
    assert scores.evenly.error.at(0)[0] == pytest.approx(float(evenly.abs().quantile(0.5)), abs=1e-5)
    for found in scores.found:
        # Nothing is gained beyond the exact head, so it stays alone.
        assert found.heads == (HEADS[EXACT],)
        assert found.gain is not None
        assert found.gain_without_lag is not None
        assert found.gain.at() == pytest.approx((8 * FRAME,) * 3, abs=1e-5)
        assert found.gain_without_lag.at()[0] == pytest.approx(0, abs=1e-5)
    report, told = timing_report("set", scores), timing_json(scores)
    assert report.splitlines()[4].startswith("layer 1, head 1 ")
    assert "Found on half 2: alignment_heads = [[0, 0]]" in report
    gains = r"error less lag below that of the model's own .* by -?0\.000 \(.*\): no gain that could be told from none"
    assert len(re.findall(gains, report)) == len(scores.found) == 2
    assert told["own"]["heads"] == [[0, 1]]
    assert told["found"][0]["gain"]["value"] == 0.4


def test_a_set_is_of_heads_that_help_each_other() -> None:
    def early_and_late(exact: Float[Tensor, "row frame"]) -> Float[Tensor, "2 row frame"]:
        """Heads that fade in and out over 17 frames, 8 frames too early and too late: where they cross is right."""
        fading = torch.nn.functional.avg_pool1d(exact, 17, stride=1, padding=8)
        return torch.stack([fading.roll(-8, -1), fading.roll(8, -1)])

    sounds = [
        Transcript(
            **{**vars(sound), "matrices": torch.cat((sound.matrices[NOISE:], early_and_late(sound.matrices[EXACT])))}
        )
        for sound in SOUNDS
    ]
    assert set(find_set(sounds)[:2]) == {1, 2}


def test_agreement_is_with_the_other_heads_of_the_own_set_or_with_all_others() -> None:
    apart = agreement(SOUNDS, own=(EXACT, LATE)).value
    # Each of the two is compared with the other, all else with both.
    assert apart[EXACT] == apart[LATE] == pytest.approx(8 * FRAME, abs=1e-5)
    assert torch.isnan(agreement(SOUNDS, own=(EXACT,)).value).tolist() == [True, False, False]
    assert agreement(SOUNDS, own=(EXACT,)).value[LATE] == pytest.approx(8 * FRAME, abs=1e-5)
    assert agreement(SOUNDS).value.argmax() == NOISE


def test_word_times_are_those_of_the_rows_and_a_translation_has_none() -> None:
    (sound, *_others) = SOUNDS
    words = sound.word_times((EXACT,))
    starts = [0, *(word.start for word in (*sound.given[1:5], sound.given[6]))]
    assert [word.start for word in words[1:]] == pytest.approx(starts[1:])
    assert words[0].start == 2
    assert [word.end for word in words[:-1]] == pytest.approx([word.start for word in words[1:]])
    assert words[-1].start < words[-1].end < 2 + FRAMES * FRAME
    check_order("transcribe")
    with pytest.raises(TraceError, match="The words of a translation and their order differ from those spoken"):
        check_order("translate")


def test_without_words_in_common_nothing_is_scored() -> None:
    others = [Transcript(**{**vars(sound), "given": (WordTime("hello", 0.0, 1.0),)}) for sound in SOUNDS]
    with pytest.raises(DataError, match="The model wrote only 0 of the given words"):
        score_timing(others, HEADS)
