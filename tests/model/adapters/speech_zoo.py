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
TOLD: Final = (
    "<|startoftranscript|>",
    "<|en|>",
    "<|de|>",
    "<|fr|>",
    "<|translate|>",
    "<|transcribe|>",
    "<|notimestamps|>",
)
#: Timestamps up to the end of a window, of 0.02 s each.
TIMES: Final = 51


def sound(seconds: float = 0.7, seed: int = 0) -> Sound:
    """A tone that rises, in noise."""
    time = np.arange(round(seconds * RATE)) / RATE
    noise = np.random.default_rng(seed).normal(0, 0.1, len(time))
    return Sound((0.4 * np.sin(2 * np.pi * (200 + 300 * time) * time) + noise).astype(np.float32), RATE)


def save_whisper(folder: Path, *, seconds: int = 1, hears_many: bool = True) -> Path:
    """A Whisper whose window has so many seconds, of 50 frames each; it hears three languages, or one."""
    tokenizer = zoo.byte_level()
    tokenizer.add_special_tokens({"additional_special_tokens": list(TOLD)})
    ids = {token: tokenizer.get_vocab()[token] for token in TOLD}
    vocab = len(tokenizer) + TIMES
    config = transformers.WhisperConfig(
        **STACKS, vocab_size=vocab, num_mel_bins=8, max_source_positions=50 * seconds, max_target_positions=40,
        pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=ids[TOLD[0]],
        suppress_tokens=None, begin_suppress_tokens=None,
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
    transformers.WhisperFeatureExtractor(feature_size=8, chunk_length=seconds).save_pretrained(folder)
    return folder


def stir(model: Any) -> Any:
    """The same model with weights by which attention is far from even, and no parameter that is an identity."""
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(std=0.25)
            else:
                parameter.add_(torch.randn_like(parameter) * 0.2)
    return model


def save_moonshine(folder: Path) -> Path:
    """A Moonshine, which reads samples as they are, and knows positions by turning."""
    config = transformers.MoonshineConfig(
        vocab_size=zoo.VOCAB, hidden_size=32, intermediate_size=48, encoder_num_hidden_layers=3,
        decoder_num_hidden_layers=2, encoder_num_attention_heads=4, decoder_num_attention_heads=2,
        max_position_embeddings=64, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1,
    )  # fmt: skip
    return _saved(folder, transformers.MoonshineForConditionalGeneration, config, _samples())


def save_speech_to_text(folder: Path) -> Path:
    """A Speech2Text, which reads a spectrogram as long as the sound."""
    config = transformers.Speech2TextConfig(
        **STACKS, vocab_size=zoo.VOCAB, input_feat_per_channel=8, conv_channels=24, max_source_positions=400,
        max_target_positions=40, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=2,
    )  # fmt: skip
    extractor = transformers.Speech2TextFeatureExtractor(feature_size=8, num_mel_bins=8)
    return _saved(folder, transformers.Speech2TextForConditionalGeneration, config, extractor)


_CONVOLUTIONS: Final[dict[str, Any]] = {
    "hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 48,
    "conv_dim": (16, 16, 16), "conv_kernel": (10, 8, 4), "conv_stride": (5, 8, 8), "num_feat_extract_layers": 3,
    "num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 4, "vocab_size": 40,
}  # fmt: skip


def save_wav2vec2(folder: Path) -> Path:
    """A wav2vec 2.0 with a head for letters, which is not shown."""
    config = transformers.Wav2Vec2Config(**_CONVOLUTIONS)
    return _saved(folder, transformers.Wav2Vec2ForCTC, config, _samples())


def save_hubert(folder: Path) -> Path:
    """A HuBERT."""
    return _saved(folder, transformers.HubertModel, transformers.HubertConfig(**_CONVOLUTIONS), _samples())


def save_conformer(folder: Path) -> Path:
    """A wav2vec 2.0 of Conformer layers, whose positions are rotary."""
    config = transformers.Wav2Vec2ConformerConfig(**_CONVOLUTIONS, position_embeddings_type="rotary")
    return _saved(folder, transformers.Wav2Vec2ConformerModel, config, _samples())


def _samples() -> transformers.Wav2Vec2FeatureExtractor:
    return transformers.Wav2Vec2FeatureExtractor(feature_size=1, sampling_rate=RATE, do_normalize=True)


def _saved(folder: Path, made: Any, config: Any, extractor: Any) -> Path:
    torch.manual_seed(0)
    model = made(config)
    stir(model)
    model.save_pretrained(folder)
    extractor.save_pretrained(folder)
    if config.is_encoder_decoder:
        zoo.metaspace().save_pretrained(folder)
    return folder


#: Kind → what saves a folder of it: those that write, and encoders alone.
WRITERS: Final = {"whisper": save_whisper, "moonshine": save_moonshine, "speech_to_text": save_speech_to_text}
ENCODERS: Final = {"wav2vec2": save_wav2vec2, "hubert": save_hubert, "conformer": save_conformer}
SAVED: Final = {**WRITERS, **ENCODERS}
