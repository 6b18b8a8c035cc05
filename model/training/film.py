"""Keep what a model attended to while it trained: a film of a few sentences, in one .npz file without pickle.

`film.json` (UTF-8 bytes) holds steps, losses, BLEU, tokens, translations and word links; `SENTENCE/SITE` the weights
[frame, layer, head, query, key] as whole numbers from 0 to 255, a 255th each. Six short sentences at 30 steps of a
model with 8 heads a site take less than a megabyte.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, Final

import numpy as np

from model import checked
from model.arrays_file import Array, open_arrays, read_json, said_of_file
from model.errors import DataError, said
from model.file_writing import written_file
from model.folder_files import open_file, read_as_data
from model.nn.encoder_decoder import SITES

FORMAT: Final = "headlight-film-1"
#: Bytes of unpacked content beyond which a file is refused.
LARGEST: Final = 1 << 26
#: Frames of a film, and the most of anything that a file may hold.
FRAMES: Final = 30
MOST_FRAMES, MOST_SENTENCES, MOST_TOKENS = 200, 24, 256

Links = tuple[tuple[int, tuple[int, ...]], ...]
"""Query rows of the cross-attention, each with the keys that its word was linked to by hand."""


@dataclass(frozen=True, eq=False, kw_only=True)
class FilmSentence:
    """One sentence, read with the same translation at every frame."""

    #: source, target: the sentence and the translation that the decoder reads.
    source: str
    target: str
    #: source_tokens, target_tokens: what encoder and decoder read, </s> last and <s> first; empty without such a stack.
    source_tokens: tuple[str, ...]
    target_tokens: tuple[str, ...]
    links: Links  #: which keys of the cross-attention belong to which row, by hand
    translations: tuple[str, ...]  #: what the model itself wrote at each frame, greedily; "" where it was not asked
    weights: Mapping[str, Array]  #: site → [frame, layer, head, query, key], of 255

    def frame(self, number: int, site: str) -> Array:
        """The weights of a site at a frame, [layer, head, query, key] in float32, as exact as 255 steps are."""
        weights: Array = self.weights[site][number].astype(np.float32) / 255
        return weights

    def cut(self, frames: slice) -> "FilmSentence":
        """The same with these frames only."""
        weights = {site: weights[frames] for site, weights in self.weights.items()}
        return replace(self, translations=self.translations[frames], weights=weights)


@dataclass(frozen=True, eq=False, kw_only=True)
class Film:
    """What a model attended to at some steps of its training."""

    #: what was trained and how, as its configuration and settings say; a film of another run has another.
    run: Mapping[str, Any]
    steps: tuple[int, ...]  #: of the frames, ascending; 0 is before the first
    losses: tuple[float, ...]  #: mean training loss of the steps since the frame before, in nats; NaN at step 0
    scores: Mapping[str, tuple[float, ...]]  #: dev set → BLEU at each frame
    sentences: tuple[FilmSentence, ...]  #: each with its weights at every frame

    def cut(self, frames: slice) -> "Film":
        """The same with these frames only."""
        return replace(
            self,
            steps=self.steps[frames],
            losses=self.losses[frames],
            scores={name: values[frames] for name, values in self.scores.items()},
            sentences=tuple(sentence.cut(frames) for sentence in self.sentences),
        )


def joined(parts: Sequence[Film]) -> Film:
    """The frames of films of the same run and sentences, one film after the other."""
    first = parts[0]

    def sentence(number: int) -> FilmSentence:
        own = [part.sentences[number] for part in parts]
        weights = {site: np.concatenate([one.weights[site] for one in own]) for site in own[0].weights}
        return replace(own[0], translations=tuple(text for one in own for text in one.translations), weights=weights)

    return replace(
        first,
        steps=tuple(step for part in parts for step in part.steps),
        losses=tuple(loss for part in parts for loss in part.losses),
        scores={name: tuple(score for part in parts for score in part.scores[name]) for name in first.scores},
        sentences=tuple(map(sentence, range(len(first.sentences)))),
    )


def frame_steps(total: int, count: int = FRAMES) -> list[int]:
    """0 and `count` − 1 further steps up to `total`, spaced by logarithm as well as whole numbers can be.

    A run of fewer steps has them all.
    """
    steps = [0]
    for left in range(min(count - 1, total), 0, -1):
        last = max(1, steps[-1])
        steps.append(max(steps[-1] + 1, round(last * (total / last) ** (1 / left))))
    return steps


def save_film(film: Film, path: str | Path) -> None:
    """Write a film, whole or not at all. Raises as `written_path`."""
    path = Path(path)
    header = {
        "format": FORMAT,
        "run": dict(film.run),
        "steps": film.steps,
        "losses": [None if np.isnan(loss) else loss for loss in film.losses],
        "scores": {name: list(values) for name, values in film.scores.items()},
        "sentences": [
            {field.name: getattr(sentence, field.name) for field in fields(sentence) if field.name != "weights"}
            for sentence in film.sentences
        ],
    }
    arrays = {
        f"{number}/{site}": weights
        for number, sentence in enumerate(film.sentences)
        for site, weights in sentence.weights.items()
    }
    arrays["film.json"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    with written_file(path) as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]


def load_film(path: str | Path) -> Film:
    """Read the film in a file. Raises a DataError if there is no such file, or as `read_film`."""
    path = Path(path)
    message = "There is no file {path}; `python -m model train --preset full --data DIR --film FILE.npz` makes one."
    missing = DataError(message, path=path)
    with read_as_data(path, missing), open_file(path.parent, path.name, LARGEST) as file:
        return read_film(file, path.name)


def read_film(file: BinaryIO, name: str) -> Film:
    """Read what `save_film` wrote, from the file `name`. Raises a DataError if it is no film, damaged, or too large."""
    message = said("{name} is not a film of a training run written by Headlight, or it is damaged ({reason}).")
    with said_of_file(name, message), open_arrays(file, LARGEST) as arrays:
        return _read(arrays)


def _read(arrays: Mapping[str, Array]) -> Film:
    header = read_json(arrays, "film.json")
    if header["format"] != FORMAT:
        raise ValueError(said("format {found}, expected {expected}", found=header["format"], expected=FORMAT))
    steps = tuple(checked.count(step, "a step") for step in header["steps"])
    if not 1 <= len(steps) <= MOST_FRAMES or list(steps) != sorted(set(steps)):
        raise ValueError(said("its steps must be 1 to {most} and ascend", most=MOST_FRAMES))
    losses = _numbers([np.nan if loss is None else loss for loss in header["losses"]], len(steps), "losses")
    scores = {
        checked.text(name, "a dev set"): _numbers(values, len(steps), "scores")
        for name, values in checked.json_object(header["scores"], "scores").items()
    }
    if not 1 <= len(header["sentences"]) <= MOST_SENTENCES:
        raise ValueError(said("it must contain 1 to {most} sentences", most=MOST_SENTENCES))
    sentences = tuple(
        _read_sentence(arrays, number, sentence, len(steps)) for number, sentence in enumerate(header["sentences"])
    )
    shapes = [{site: weights.shape[:3] for site, weights in sentence.weights.items()} for sentence in sentences]
    if any(shape != shapes[0] for shape in shapes):
        raise ValueError(said("its sentences have different layers or heads"))
    return Film(
        run=MappingProxyType(
            {
                checked.text(name, "a setting"): checked.scalar(value, name)
                for name, value in checked.json_object(header["run"], "run").items()
            }
        ),
        steps=steps,
        losses=losses,
        scores=MappingProxyType(scores),
        sentences=sentences,
    )


def _numbers(values: object, count: int, what: str) -> tuple[float, ...]:
    if not isinstance(values, list) or len(values) != count:
        raise ValueError(said("its {what} must be one for each frame", what=what))
    return tuple(float(value) if value != value else float(checked.number(value, what)) for value in values)


def _texts(values: object, least: int, most: int, what: str) -> tuple[str, ...]:
    if not isinstance(values, list) or not least <= len(values) <= most:
        raise ValueError(said("its {what} must be {least} to {most}", what=what, least=least, most=most))
    return tuple(checked.text(value, what) for value in values)


def _read_sentence(arrays: Mapping[str, Array], number: int, values: Mapping[str, Any], frames: int) -> FilmSentence:
    # A model of one stack reads nothing in the other one.
    tokens = {side: _texts(values[f"{side}_tokens"], 0, MOST_TOKENS, f"{side}_tokens") for side in ("source", "target")}
    weights = {}
    for site in SITES:
        if f"{number}/{site}" not in arrays:
            continue  # a model from before the Transformer has cross-attention alone
        array = arrays[f"{number}/{site}"]
        stack, kind = site.split(".")
        queries = len(tokens["source" if stack == "encoder" else "target"])
        keys = len(tokens["source"]) if kind == "cross" else queries
        if (
            array.dtype != np.uint8
            or array.ndim != 5
            or not array.size
            or (len(array), *array.shape[3:]) != (frames, queries, keys)
        ):
            message = "the weights of {site} do not fit the tokens of sentence {number}"
            raise ValueError(said(message, site=site, number=number))
        array.setflags(write=False)
        weights[site] = array
    if not weights:
        raise ValueError(said("it has no weights of sentence {number}", number=number))
    return FilmSentence(
        source=checked.text(values["source"], "a sentence"),
        target=checked.text(values["target"], "a translation"),
        source_tokens=tokens["source"],
        target_tokens=tokens["target"],
        links=_links(values["links"], len(tokens["target"]), len(tokens["source"])),
        translations=_texts(values["translations"], frames, frames, "translations"),
        weights=MappingProxyType(weights),
    )


def _links(values: Sequence[Any], rows: int, keys: int) -> Links:
    links = tuple((checked.count(row, "a row"), tuple(checked.count(k, "a key") for k in own)) for row, own in values)
    if len(links) > rows or any(row >= rows or not own or max(own) >= keys for row, own in links):
        raise ValueError(said("its links name rows or keys that there are not"))
    return links
