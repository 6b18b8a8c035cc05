"""Record the film of a training: at some steps, what a model attends to and how it translates."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch

from model.arrays_file import Array
from model.decoding.search import translate_all
from model.errors import ConfigError
from model.evaluation import evaluate
from model.nn.encoder_decoder import EncoderDecoder, site_path
from model.nn.hooks import listen
from model.pairs import Pair
from model.tokenizer import Tokenizer
from model.training.film import Film, FilmSentence, Links, frame_steps, joined, load_film, save_film
from model.words import pieces_of_words

#: Sentences of a film, and for each word of the translation the words of the source that it renders, from 0.
SENTENCES: Final = (
    ("A dog is running on the beach.", "Ein Hund rennt am Strand.", ((0,), (1,), (3,), (4, 5), (6,))),
    ("Two children are playing in the snow.", "Zwei Kinder spielen im Schnee.", ((0,), (1,), (3,), (4, 5), (6,))),
    ("I do not know where he lives.", "Ich weiß nicht, wo er wohnt.", ((0,), (3,), (2,), (4,), (5,), (6,))),
    (
        "Tom bought a red car because it was cheap.",
        "Tom kaufte ein rotes Auto, weil es billig war.",
        ((0,), (1,), (2,), (3,), (4,), (5,), (6,), (8,), (7,)),
    ),
    (
        "The old man reads a book in the park.",
        "Der alte Mann liest ein Buch im Park.",
        ((0,), (1,), (2,), (3,), (4,), (5,), (6, 7), (8,)),
    ),
    ("She has already eaten the apple.", "Sie hat den Apfel schon gegessen.", ((0,), (1,), (4,), (5,), (2,), (3,))),
)
#: Pairs of each dev set that are translated at each frame.
DEV_PAIRS: Final = 100


class FilmRecorder:
    """Takes the frames of one run, and writes the file again at each.

    Args:
        path: of the film; one of the same run is gone on with.
        run: what is trained and how; short values only, for they are shown.
        total: steps of the whole run.

    Raises:
        ConfigError: the path holds a film of another run.
        DataError: it holds something else.
    """

    def __init__(
        self,
        path: Path,
        model: EncoderDecoder,
        tokenizer: Tokenizer,
        *,
        run: Mapping[str, Any],
        total: int,
        dev: Mapping[str, Sequence[Pair]],
    ) -> None:
        self._path, self._model, self._tokenizer = path, model, tokenizer
        self._run, self._frames = dict(run), frozenset(frame_steps(total))
        self._dev = {name: pairs[:DEV_PAIRS] for name, pairs in dev.items()}
        self._losses: list[float] = []
        self._film = load_film(path) if path.exists() else None
        if self._film is not None and dict(self._film.run) != self._run:
            raise ConfigError("{path} contains the film of another run; use another file name.", path=path)

    def begin(self, step: int) -> None:
        """Forget frames after the step from which the run goes on, and take the first of a new run."""
        if self._film is not None:
            kept = sum(taken <= step for taken in self._film.steps)
            self._film = self._film.cut(slice(kept)) if kept else None
        if step == 0 and self._film is None:
            self._take(0)

    def see(self, step: int, loss: float) -> None:
        """Take a frame after this step if it is one of those."""
        self._losses.append(loss)
        if step in self._frames:
            self._take(step)
            self._losses.clear()

    def _take(self, step: int) -> None:
        was_training = self._model.training
        self._model.eval()
        with torch.inference_mode():
            own = translate_all(self._model, self._tokenizer, [source for source, _, _ in SENTENCES])
            scores = {name: evaluate(self._model, self._tokenizer, pairs).bleu for name, pairs in self._dev.items()}
            sentences = tuple(
                self._sentence(*sentence, translation) for sentence, translation in zip(SENTENCES, own, strict=True)
            )
        self._model.train(was_training)
        frame = Film(
            run=self._run,
            steps=(step,),
            losses=(float(np.mean(self._losses)) if self._losses else float("nan"),),
            scores={name: (score,) for name, score in scores.items()},
            sentences=sentences,
        )
        self._film = frame if self._film is None else joined([self._film, frame])
        save_film(self._film, self._path)

    def _sentence(self, source: str, target: str, words: Sequence[Sequence[int]], translation: str) -> FilmSentence:
        config, tokenizer = self._model.config, self._tokenizer
        source_ids = [*tokenizer.encode(source), config.eos_id]
        target_ids = [config.bos_id, *tokenizer.encode(target)]
        with listen(record={"hook_weights"}) as recorded:
            self._model(*(torch.tensor([ids], device=self._model.device) for ids in (source_ids, target_ids)))
        return FilmSentence(
            source=source,
            target=target,
            source_tokens=tokenizer.tokens(source_ids),
            target_tokens=tokenizer.tokens(target_ids),
            links=piece_links(tokenizer, source, target, words),
            translations=(translation,),
            weights={site: _weights(recorded, site, layers) for site, (layers, _) in config.shapes.items()},
        )


def piece_links(tokenizer: Tokenizer, source: str, target: str, words: Sequence[Sequence[int]]) -> Links:
    """Which source pieces a row that reads a piece of the target renders; row 1 reads piece 0, words are from 0."""
    keys, rows = (pieces_of_words(text, tokenizer.offsets(text)) for text in (source, target))
    return tuple(
        (piece + 1, tuple(key for word in linked for key in keys[word]))
        for pieces, linked in zip(rows, words, strict=True)
        for piece in pieces
    )


def _weights(recorded: Mapping[str, list[torch.Tensor]], site: str, layers: int) -> Array:
    """[1, layer, head, query, key], of 255."""
    # A recurrent decoder computes its rows one after the other.
    rows = [torch.cat(recorded[f"{site_path(site, layer)}.hook_weights"], dim=-2)[0] for layer in range(layers)]
    weights = torch.stack(rows)
    return (weights.float() * 255).round().to(torch.uint8).cpu().numpy()[None]
