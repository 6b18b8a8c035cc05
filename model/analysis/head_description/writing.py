"""What a head does to what its model writes: the tokens that it promotes, and what is lost without it over a corpus.

What it promotes is read off its weights (`head_circuits`), for the tokens of the corpus that it looks at more than an
even look would. The loss is measured: each text is read with the head and without it (`SwitchOff`).
"""

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import torch

from model.analysis.atlas.file import UNFINISHED
from model.analysis.head_circuits import head_circuits
from model.analysis.head_description.measure import Measured
from model.analysis.metrics.estimates import bootstrap_ratio
from model.analysis.metrics.head_metrics import DECODER, ENCODER, HeadName, check_heads
from model.analysis.moved_heads import likelihood
from model.errors import DataError, InputTextError
from model.file_writing import json_text, make_folder, remove_oldest, write_text
from model.folder_files import open_file
from model.interruption import Progress, no_progress
from model.nn.edits import SwitchOff
from model.over_corpus import Partial, Sum, over_corpus
from model.reader import Reader
from model.sources.source import WORD_BEGIN

#: Tokens that are named as what a head looks at, and as what it promotes on one of them.
LOOKED_AT, PROMOTED = 6, 5
#: Costs that a folder keeps; and bytes beyond which a file is none.
MOST_KEPT: Final = 1_000
_LARGEST: Final = 1 << 12


class Promoted(NamedTuple):
    """A token that a head looks at, and what it promotes there."""

    token: str
    share: float  #: of the head's free weight
    even: float  #: what an even look would give it
    most: tuple[str, ...]  #: the tokens to which it adds most, the first most
    own_place: int  #: the place of the token itself among all, from 1


class Cost(NamedTuple):
    """What becomes of the log-likelihood of a token (nats) without a head, with its 95% interval by text."""

    change: float
    low: float
    high: float
    intact: float  #: the mean log-likelihood of a token with the head
    texts: int
    tokens: int


def promoted(
    reader: Reader, measured: Measured, head: HeadName, progress: Progress = no_progress
) -> tuple[Promoted, ...]:
    """What a head promotes on the tokens that it looks at more than an even look would. Raises as `head_circuits`."""
    read = reader.all_tokens(of_source=head.site != DECODER)
    written = read if head.site == ENCODER else reader.all_tokens()
    circuits = head_circuits(reader, *head, progress=progress)
    sums, at = measured.sites[head.site], measured.index(head)
    shares = sums.of_tokens[:, :, at] / max(float(sums.free[:, at].sum()), 1e-9)
    ids = _ids(read)
    order = np.argsort(shares[:, 1] - shares[:, 0], kind="stable").tolist()
    named = [number for number in order if sums.tokens[number] in ids and shares[number, 0] > shares[number, 1]]
    numbers = named[:LOOKED_AT]
    found = circuits.most_written([ids[sums.tokens[number]] for number in numbers], PROMOTED)
    made = []
    for number, each in zip(numbers, found, strict=True):
        share, even = (float(value) for value in shares[number])
        most = tuple(written[token] for token in each.most)
        made.append(Promoted(read[each.token], share, even, most, each.own_place))
    return tuple(made)


def _ids(vocabulary: Sequence[str]) -> dict[str, int]:
    """The id of each token as `SiteSums.tokens` spells it: of several, that which begins a word in small letters."""
    found: dict[str, int] = {}
    for number, token in enumerate(vocabulary):
        name = token.removeprefix(WORD_BEGIN).casefold() or token
        if name not in found or token == f"{WORD_BEGIN}{name}":
            found[name] = number
    return found


def cost(
    reader: Reader, measured: Measured, head: HeadName, progress: Progress = no_progress, folder: Path | None = None
) -> Cost:
    """What switching a head off costs over the texts that were measured, counted by `progress`; kept in a folder.

    Raises a DataError, in one sentence, if the model writes nothing, or its heads cannot be switched off.
    """
    lacks = reader.abilities.lacks
    if why := lacks.get("edits") or lacks.get("decoding"):
        raise DataError(why)
    check_heads(reader.abilities.heads, [head])
    path = None if folder is None else folder / f"without-{_digest(measured, head)}.json"
    if path is not None and (found := _kept(path)) is not None:
        return found

    def of_chunk(texts: Sequence[tuple[str, str]], progress: Progress) -> Partial:
        rows = []
        for text, translation in texts:
            with suppress(InputTextError):
                target = translation if reader.abilities.kind == "encoder-decoder" else None
                whole, tokens = likelihood(reader.trace(text, target))
                without, _tokens = likelihood(reader.trace(text, target, edits=[SwitchOff(*head)]))
                rows.append([without - whole, whole, tokens])
            progress(1)
        return Partial({}, {"rows": np.array(rows, np.float64).reshape(len(rows), 3)})

    texts = list(zip(measured.texts, measured.translations, strict=True))
    summed = Sum(
        of_chunk=of_chunk, finish=lambda total: total.rows["rows"], name=lambda: f"without 1 {head} {reader.key}"
    )
    rows = torch.from_numpy(over_corpus(texts, summed, progress, folder and folder / UNFINISHED))
    tokens = rows[:, 2]
    if not tokens.sum():
        raise DataError("No text of the corpus has a token that this model predicts.")
    change = bootstrap_ratio(rows[:, 0], tokens)
    made = Cost(*change.at(), float(rows[:, 1].sum() / tokens.sum()), len(rows), int(tokens.sum()))
    if path is not None and folder is not None:
        # A folder that cannot be written costs time the next time, not the result now.
        with suppress(OSError, DataError):
            make_folder(folder)
            write_text(path, json_text(made._asdict()), folder)
            remove_oldest(folder, MOST_KEPT)
    return made


def _digest(measured: Measured, head: HeadName) -> str:
    named = f"1 {measured.model} {measured.corpus} {measured.given} {head}"
    return hashlib.sha256(named.encode()).hexdigest()[:24]


def _kept(path: Path) -> Cost | None:
    """What a file keeps; None where there is none, or it is damaged."""
    with suppress(Exception), open_file(path.parent, path.name, _LARGEST) as file:  # Whatever it may hold.
        values = json.load(file)
        kinds = Cost.__annotations__
        return Cost(**{name: kind(values[name]) for name, kind in kinds.items()})
    return None
