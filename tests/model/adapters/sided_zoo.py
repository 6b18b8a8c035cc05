"""Folders with small random models that have one side for pictures and another one, of other shapes, for texts."""

from pathlib import Path
from typing import Any

import torch
import transformers

from tests.model.adapters import zoo
from tests.model.adapters.speech_zoo import stir

TEXTS = zoo.SMALL | {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
PICTURES = zoo.PATCHES | {"hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 2}
#: Kind of model → settings of its encoder of pictures, its processor, and what that makes of a picture of 20 × 50.
SIDED: dict[str, tuple[dict[str, Any], Any, tuple[int, int]]] = {
    "clip": (
        PICTURES,
        lambda: transformers.CLIPImageProcessorPil(size={"shortest_edge": 24}, crop_size={"height": 24, "width": 24}),
        (3, 3),
    ),
    "siglip": (PICTURES, lambda: transformers.ViTImageProcessorPil(size={"height": 24, "width": 24}), (3, 3)),
    # It reads as many patches as fit, in the shape that the picture has.
    "siglip2": (
        {name: value for name, value in PICTURES.items() if name != "image_size"} | {"num_patches": 16},
        lambda: transformers.Siglip2ImageProcessorPil(patch_size=8, max_num_patches=12),
        (2, 5),
    ),
}


def save_sided(folder: Path, model_type: str) -> Any:
    """The library's own model, saved with its processor and a tokenizer."""
    pictures, processor, _ = SIDED[model_type]
    config = transformers.AutoConfig.for_model(
        model_type, text_config=TEXTS | {"projection_size": 48}, vision_config=pictures, projection_dim=20
    )
    torch.manual_seed(1)
    model = stir(transformers.AutoModel.from_config(config, attn_implementation="eager")).eval()
    model.save_pretrained(folder)
    zoo.save_tokenizer(folder, "metaspace")
    processor().save_pretrained(folder)
    return model
