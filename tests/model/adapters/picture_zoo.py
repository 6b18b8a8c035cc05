"""Folders with small random models that write about pictures: unequal numbers of heads, layers and lengths.

`python -m tests.model.adapters.picture_zoo FOLDER` saves one of each kind.
"""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
import transformers
from PIL import Image

from tests.model.adapters import zoo
from tests.model.adapters.speech_zoo import stir

#: 3 × 3 patches.
_EYE: Final[dict[str, Any]] = {
    "image_size": 24, "patch_size": 8, "hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4,
    "intermediate_size": 40,
}  # fmt: skip
#: Of another width than what writes.
NARROW: Final[dict[str, Any]] = _EYE | {"hidden_size": 24}
_ENDS: Final[dict[str, Any]] = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
HAND: Final[dict[str, Any]] = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2,
    "intermediate_size": 48, "max_position_embeddings": 40, "is_decoder": True, "add_cross_attention": True, **_ENDS,
}  # fmt: skip
_GPT2: Final[dict[str, Any]] = {
    "n_embd": 32, "n_layer": 2, "n_head": 2, "n_positions": 40, "add_cross_attention": True,
    "is_decoder": True, **_ENDS,
}  # fmt: skip
_TROCR: Final[dict[str, Any]] = {
    "d_model": 32, "decoder_layers": 2, "decoder_attention_heads": 2, "decoder_ffn_dim": 48,
    "max_position_embeddings": 40, "cross_attention_hidden_size": 24, **_ENDS, "pad_token_id": 1,
    "decoder_start_token_id": 2,
}  # fmt: skip
#: Special tokens of a Donut: two of tasks, and what stands around a part of what is written.
TASKS: Final = ("<s_receipt-v2>", "<s_menu>", "</s_menu>", "<s_letter>", "<s_question>", "</s_question>")
_MEAN: Final[dict[str, Any]] = {"image_mean": [0.4, 0.5, 0.6], "image_std": [0.2, 0.3, 0.25]}


def picture(seed: int = 0, size: tuple[int, int] = (50, 30)) -> Image.Image:
    """Noise, a part of which is red."""
    noise = np.random.default_rng(seed).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
    made = Image.fromarray(noise)
    made.paste("red", (30, 4, 44, 14))
    return made


def save_joined(folder: Path, eye: Any, hand: Any, processor: Any = None, pieces: str = "wordpiece") -> Path:
    """An encoder of pictures and a decoder, joined."""
    config = transformers.VisionEncoderDecoderConfig.from_encoder_decoder_configs(eye, hand)
    config.decoder_start_token_id, config.pad_token_id, config.eos_token_id = 1, hand.pad_token_id, 2
    processor = processor or transformers.ViTImageProcessor(size={"height": 24, "width": 24}, **_MEAN)
    return save(folder, transformers.VisionEncoderDecoderModel, config, processor, pieces)


def save(folder: Path, made: Any, config: Any, processor: Any, pieces: str, more: int = 0) -> Path:
    """A model that may write every token of its tokenizer, and so many more, with that and its processor."""
    zoo.save_tokenizer(folder, pieces)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    if isinstance(processor, transformers.DonutImageProcessorPil):
        tokenizer.add_tokens(list(TASKS), special_tokens=True)
        tokenizer.save_pretrained(folder)
    hand: Any = config.get_text_config(decoder=True)
    hand.vocab_size = len(tokenizer) + more
    torch.manual_seed(0)
    model = made(config)
    stir(model)
    model.generation_config = transformers.GenerationConfig(
        decoder_start_token_id=1, pad_token_id=0, bos_token_id=1, eos_token_id=2
    )
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def save_pix2struct(folder: Path) -> Path:
    """A Pix2Struct, which reads as many patches as a picture's shape has room for; the others are padding."""
    eye = {
        "hidden_size": 32, "patch_embed_hidden_size": 192, "d_ff": 40, "d_kv": 8, "num_hidden_layers": 3,
        "num_attention_heads": 4, "seq_len": 16, "patch_size": 8,
    }  # fmt: skip
    hand = {"hidden_size": 32, "d_kv": 16, "d_ff": 48, "num_layers": 2, "num_heads": 2, **_ENDS, "pad_token_id": 0}
    config = transformers.Pix2StructConfig(vision_config=eye, text_config=hand)
    patches: dict[str, Any] = {"max_patches": 14, "patch_size": {"height": 8, "width": 8}}
    processor = transformers.Pix2StructImageProcessor(**patches)
    return save(folder, transformers.Pix2StructForConditionalGeneration, config, processor, "metaspace")


def save_blip(folder: Path) -> Path:
    """A BLIP, whose decoder begins with a token that its tokenizer does not have, and ends with [SEP]."""
    hand = HAND | {"encoder_hidden_size": 24, "bos_token_id": 260, "sep_token_id": 3}
    config = transformers.BlipConfig(vision_config=NARROW, text_config=hand)
    processor = transformers.BlipImageProcessorPil(size={"height": 24, "width": 24}, **_MEAN)
    return save(folder, transformers.BlipForConditionalGeneration, config, processor, "wordpiece", more=2)


def save_windowed(folder: Path, processor: Any) -> Path:
    """A Donut or nougat: windows in its encoder, tasks by tokens."""
    eye = transformers.DonutSwinConfig(
        image_size=[64, 32], patch_size=4, embed_dim=8, depths=[2, 2], num_heads=[2, 4], window_size=4
    )
    writes: dict[str, Any] = {
        "d_model": 16, "decoder_layers": 2, "decoder_attention_heads": 2, "decoder_ffn_dim": 48,
        "max_position_embeddings": 40, "is_decoder": True, "add_cross_attention": True, "scale_embedding": True,
        "add_final_layer_norm": True, **_ENDS,
    }  # fmt: skip
    hand = transformers.MBartConfig(**writes)
    return save_joined(folder, eye, hand, processor(size={"height": 64, "width": 32}, **_MEAN), "metaspace")


#: Kind → what saves a folder of it.
SAVED: Final[dict[str, Callable[[Path], Path]]] = {
    "vit-bert": partial(save_joined, eye=transformers.ViTConfig(**NARROW), hand=transformers.BertConfig(**HAND)),
    "vit-gpt2": partial(
        save_joined, eye=transformers.ViTConfig(**_EYE), hand=transformers.GPT2Config(**_GPT2), pieces="bytes"
    ),
    "deit-roberta": partial(
        save_joined,
        eye=transformers.DeiTConfig(**_EYE),
        hand=transformers.RobertaConfig(**HAND | {"pad_token_id": 0, "max_position_embeddings": 42}),
        pieces="bytes",
    ),
    "beit-trocr": partial(
        save_joined,
        eye=transformers.BeitConfig(**NARROW, use_relative_position_bias=True),
        hand=transformers.TrOCRConfig(**_TROCR),
        pieces="bytes",
    ),
    "pix2struct": save_pix2struct,
    "donut": partial(save_windowed, processor=transformers.DonutImageProcessorPil),
    "nougat": partial(save_windowed, processor=transformers.NougatImageProcessorPil),
    "blip": save_blip,
}

#: Kind → site → its layers.
LAYERS: Final = {kind: {"encoder.self": 3, "decoder.self": 2, "decoder.cross": 2} for kind in SAVED}
# What attends within windows is not shown.
LAYERS["donut"] = LAYERS["nougat"] = {"decoder.self": 2, "decoder.cross": 2}

#: Those whose scores are not split, as their encoders attend within windows.
UNSPLIT: Final = ("donut", "nougat")

if __name__ == "__main__":
    for kind, save_kind in SAVED.items():
        print(save_kind(Path(sys.argv[1]) / kind))
