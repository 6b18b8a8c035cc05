"""An invented film in which one head becomes "previous token" and another looks at the word that it writes."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from model.training.film import Film, FilmSentence, save_film

STEPS = (0, 1, 10, 100, 1000, 2000)
#: From this frame on both heads do what they will do.
FROM = 3
HOSTILE = "<img src=https://evil.example/x.png> **b**"


def film(sites: Sequence[str] = ("encoder.self", "decoder.self", "decoder.cross"), heads: int = 2) -> Film:
    sentences = (sentence("A dog runs .", sites, heads, 0.4), sentence(HOSTILE, sites, heads, 0.8))
    losses = (float("nan"), *(8.0 - frame for frame in range(1, len(STEPS))))
    scores = {"dev": tuple(2.0 * frame for frame in range(len(STEPS)))}
    run = {"preset": "![x](https://evil.example/a.png)", "num_layers": 2, "seed": 0}
    return Film(run=run, steps=STEPS, losses=losses, scores=scores, sentences=sentences)


def sentence(source: str, sites: Sequence[str], heads: int, sharp: float) -> FilmSentence:
    """Much changes of L2 H2 of the encoder and of L1 H1 of the cross-attention, there by `sharp`."""
    tokens = (*source.split()[:3], "</s>")
    target = ("<s>", "Ein", "Hund", "rennt")
    weights = {site: np.full((len(STEPS), 2, heads, 4, 4), 64, np.uint8) for site in sites}
    if "decoder.self" in weights:
        weights["decoder.self"][:] = (255 * np.tril(np.ones((4, 4))) / np.arange(1, 5)[:, None]).astype(np.uint8)
    if "encoder.self" in weights:
        _point(weights["encoder.self"][FROM:, 1, 1], (0, 0, 1, 2), 0.9)
    if "decoder.cross" in weights:
        _point(weights["decoder.cross"][FROM:, 0, 0], (0, 1, 2, 3), sharp)
    return FilmSentence(
        source=source,
        target="Ein Hund rennt",
        source_tokens=tokens,
        target_tokens=target,
        links=((1, (0,)), (2, (1,)), (3, (2,))),
        translations=tuple(f"Schritt {step}" if step else "" for step in STEPS),
        weights=weights,
    )


def _point(of_frames: np.ndarray, keys: Sequence[int], weight: float) -> None:
    of_frames[:] = round(255 * (1 - weight) / 3)
    for row, key in enumerate(keys):
        of_frames[:, row, key] = round(255 * weight)


def saved(path: Path, made: Film | None = None) -> bytes:
    save_film(made or film(), path)
    return path.read_bytes()
