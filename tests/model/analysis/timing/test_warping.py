"""Warping against transformers' own timestamps, and what the silence after a sound does to it."""

from typing import Any

import torch
from transformers import WhisperConfig, WhisperForConditionalGeneration

from model.analysis.timing.warping import first_frames, smoothed

FRAMES = 70
PROMPT = [57, 58]


def tiny_whisper() -> WhisperForConditionalGeneration:
    torch.manual_seed(3)
    config = WhisperConfig(
        vocab_size=60,
        d_model=24,
        encoder_layers=1,
        decoder_layers=3,
        encoder_attention_heads=2,
        decoder_attention_heads=4,
        encoder_ffn_dim=20,
        decoder_ffn_dim=28,
        num_mel_bins=6,
        max_source_positions=FRAMES,
        max_target_positions=50,
        pad_token_id=50,
        bos_token_id=50,
        eos_token_id=51,
        decoder_start_token_id=PROMPT[0],
        begin_suppress_tokens=None,
        init_std=0.2,
    )
    model = WhisperForConditionalGeneration(config).eval()
    model.set_attn_implementation("eager")
    return model


def test_token_times_are_those_of_transformers() -> None:
    model = tiny_whisper()
    heads = [[0, 1], [2, 3], [2, 0]]
    settings: Any = model.generation_config
    settings.alignment_heads, settings.no_timestamps_token_id = heads, 59
    features = torch.randn(1, 6, 2 * FRAMES)
    with torch.no_grad():
        written = model.generate(
            features,
            decoder_input_ids=torch.tensor([PROMPT]),
            return_token_timestamps=True,
            return_dict_in_generate=True,
            # What it would write most probably is one token again and again, whose rows are alike.
            do_sample=True,
            max_new_tokens=30,
        )
        run = model(features, decoder_input_ids=written["sequences"], output_attentions=True)
    # The library warps the rows that read what was written, but for the last.
    weights = torch.stack([run.cross_attentions[layer][0, head] for layer, head in heads])[:, len(PROMPT) : -1]
    own = first_frames(smoothed(weights, FRAMES).mean(0, keepdim=True))[0] * 0.02
    expected = written["token_timestamps"][0, len(PROMPT) : -1]
    assert len(expected.unique()) > 8
    torch.testing.assert_close(own, expected.float())


def test_weights_after_the_sound_count_for_nothing() -> None:
    torch.manual_seed(1)
    scores = 3 * torch.randn(5, 12, 90)
    whole = smoothed(scores.softmax(-1), 61)
    torch.testing.assert_close(whole, smoothed(scores[..., :61].softmax(-1), 61))


def best_path(matrix: list[list[float]], row: int, frame: int) -> tuple[float, list[tuple[int, int]]]:
    """The best of all ways to a cell: its sum and its cells."""
    before = [(row - 1, frame), (row, frame - 1), (row - 1, frame - 1)]
    total, cells = max((best_path(matrix, *cell) for cell in before if min(cell) >= 0), default=(0.0, []))
    return total + matrix[row][frame], [*cells, (row, frame)]


def test_the_path_is_the_best_of_all() -> None:
    torch.manual_seed(2)
    for rows, frames in ((4, 7), (6, 3), (1, 5), (5, 1)):
        matrices = torch.randn(3, rows, frames)
        for matrix, found in zip(matrices.tolist(), first_frames(matrices).tolist(), strict=True):
            _total, cells = best_path(matrix, rows - 1, frames - 1)
            assert found == [min(frame for row, frame in cells if row == at) for at in range(rows)]
