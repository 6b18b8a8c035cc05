"""Folders with small random speech models: unequal numbers of heads, layers and lengths, and what hears for them."""

from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
import transformers

from model.sources.sound_file import Sound
from tests.model.adapters import zoo

RATE: Final = 16_000
#: Other stacks than the decoder's, so that nothing can be mistaken for the other.
STACKS: Final[dict[str, Any]] = {
    "d_model": 32,
    "encoder_layers": 3,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 40,
}
#: What tells Whisper what to write.
TOLD: Final = ("<|startoftranscript|>", "<|en|>", "<|de|>", "<|fr|>", "<|translate|>", "<|transcribe|>", "<|notimestamps|>")
#: Timestamps up to the end of a window, of 0.02 s each.
TIMES: Final = 51


def sound(seconds: float = 0.7, seed: int = 0) -> Sound:
    """A tone that rises, in noise."""
    time = np.arange(round(seconds * RATE)) / RATE
    noise = np.random.default_rng(seed).normal(0, 0.1, len(time))
    return Sound((0.4 * np.sin(2 * np.pi * (200 + 300 * time) * time) + noise).astype(np.float32), RATE)


def save_whisper(folder: Path, *, hears_many: bool = True, **changes: Any) -> Path:
    """A Whisper whose window is one second, 50 frames; it hears three languages, or one."""
    tokenizer = zoo.byte_level()
    tokenizer.add_special_tokens({"additional_special_tokens": list(TOLD)})
    ids = dict(zip(TOLD, tokenizer.convert_tokens_to_ids(list(TOLD)), strict=True))
    vocab = len(tokenizer) + TIMES
    config = transformers.WhisperConfig(
        **STACKS, vocab_size=vocab, num_mel_bins=8, max_source_positions=50, max_target_positions=40,
        pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=ids[TOLD[0]],
        suppress_tokens=None, begin_suppress_tokens=None, **changes,
    )  # fmt: skip
    torch.manual_seed(0)
    model = transformers.WhisperForConditionalGeneration(config)
    stir(model)
    settings: dict[str, Any] = {"is_multilingual": hears_many, "no_timestamps_token_id": ids["<|notimestamps|>"]}
    if hears_many:
        settings |= {"lang_to_id": {token: ids[token] for token in TOLD[1:4]}}
        settings |= {"task_to_id": {task: ids[f"<|{task}|>"] for task in ("translate", "transcribe")}}
    model.generation_config = transformers.GenerationConfig(
        pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=ids[TOLD[0]],
        suppress_tokens=[5, 6], begin_suppress_tokens=[7], **settings,
    )  # fmt: skip
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    transformers.WhisperFeatureExtractor(feature_size=8, chunk_length=1).save_pretrained(folder)
    return folder


def stir(model: torch.nn.Module) -> None:
    """Weights by which attention is far from even, and no parameter is an identity."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() > 1:
                parameter.normal_(std=0.25)
            else:
                parameter.add_(torch.randn_like(parameter) * 0.2)


#: Kind → what saves a folder of it.
SAVED: Final = {"whisper": save_whisper}
WRITERS: Final = tuple(SAVED)
