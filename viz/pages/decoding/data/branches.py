"""Write the branches of a translation: other tokens, draws and edits of heads from a step on.

A branch is grown out of the session of the one that it leaves, so only its new rows are computed (an edit of the
encoder changes all of them).
"""

from dataclasses import dataclass
from math import inf
from threading import RLock
from typing import TYPE_CHECKING, Final
from unicodedata import category

import numpy as np
from jaxtyping import Float

from model.errors import SessionError, TokenError
from viz.access import traces
from viz.core.background_jobs import Progress, Task
from viz.core.bounded_cache import BoundedCache
from viz.core.sites import ENCODER
from viz.core.token_text import display_token
from viz.pages.decoding.branch_codes import MAX_PIECES, Action, Draw, EditHead, Path, Write

if TYPE_CHECKING:
    from model import Trace
    from model.decoding.sampling import Draws
    from model.nn.edits import HeadEdit
    from model.writer import Session, Writer

#: So many branches of a viewer are remembered, of all sentences; others are grown again when they are wanted.
MAX_KEPT: Final = 32
#: No word of a language is longer.
MAX_WORD: Final = 200

#: Full stops, closing brackets and closing quotation marks stand close to the word before them.
_CLINGING: Final = frozenset({"Po", "Pe", "Pf"})


@dataclass(eq=False)
class _Grown:
    session: "Session"
    trace: "Trace | None" = None


class Sessions:
    """The decoding sessions of one viewer's branches, those used last."""

    def __init__(self) -> None:
        self.kept = BoundedCache[tuple[str, str, Path], _Grown](MAX_KEPT)
        # A file is made in another thread than the page, and two must not write on in one session.
        self.lock = RLock()


def begin(sessions: Sessions, writer: "Writer", text: str, path: Path) -> None:
    """Grow a branch as far as the change that makes it, so that `grow` cannot fail any more.

    Raises:
        HeadlightError: there is no such step, token, head or key, or nothing can follow there.
    """
    with sessions.lock:
        _begun(sessions, writer, text, path)


def grow(
    sessions: Sessions,
    writer: "Writer",
    text: str,
    path: Path,
    progress: traces.Progress = traces.no_progress,
) -> "Trace":
    """The trace of a branch, computed as far as it is not known yet. Raises what `begin` raises.

    Args:
        sessions: of this viewer.
        writer: the model.
        text: the sentence as typed.
        path: what was done, first thing first; nothing for the model's own translation.
        progress: called after every new token of the branch with the number of tokens and the most there can be.
    """
    if not path:
        return traces.written(writer, text, progress)
    with sessions.lock:
        grown = _finished(sessions, writer, text, path, progress)
        grown.trace = grown.trace or traces.written_trace(grown.session)
        return grown.trace


def log_prob(sessions: Sessions, writer: "Writer", text: str, path: Path, step: int, token_id: int) -> float:
    """What a token would have at a step of a branch, in nats, whatever is written there."""
    with sessions.lock:
        session = _standing_at(_finished(sessions, writer, text, path).session, step)
        return session.force(token_id).log_prob


def effects_of_heads(
    sessions: Sessions,
    writer: "Writer",
    text: str,
    path: Path,
    step: int,
    site: str,
) -> Task[Float[np.ndarray, "layer head"]]:
    """By how much the log-probability (nats) of a step's token changes if one head of a site is switched off there.

    Args:
        sessions, writer, text, path: as in `grow`.
        step: whose token is meant.
        site: whose heads are switched off, one after the other; in the encoder throughout the sentence.
    """
    layers, heads = writer.abilities.shapes[site]

    def compute(progress: Progress) -> Float[np.ndarray, "layer head"]:
        changes = np.zeros((layers, heads), np.float32)
        with sessions.lock:
            session = _finished(sessions, writer, text, path).session
        written = session.steps[step]
        for layer, head in np.ndindex(changes.shape):
            edit = EditHead("off", site, layer, head)
            edited = _edited(writer, text, session, (*path, (step, edit)))
            changes[layer, head] = edited.force(written.token_id).log_prob - written.log_prob
            progress(1)
        return changes

    key = ("effects of heads", text, writer.key, path, step, site)
    return Task(key, layers * heads, "heads", compute, "{done:,} of {total:,} heads")


def spell(word: str, writer: "Writer") -> tuple[int, ...]:
    """The tokens that write a word, or several, as a new word; a mark such as "." clings to the word before it.

    A piece as candidates show it ("▁sie"), and a token that ends a text ("</s>"), are taken as they are.

    Raises:
        TokenError: there is nothing to write, too much, or something that the vocabulary cannot spell.
    """
    vocabulary = writer.vocabulary
    ends, reserved = (vocabulary.tokens(sorted(ids)) for ids in (writer.end_ids, writer.reserved_ids))
    word = word.strip()
    if not word:
        raise TokenError("Type the word that the model should write, for example “sie”.")
    shown = f"“{word[:40]}{'…' if len(word) > 40 else ''}”"
    if word in reserved:
        can = f"Of these only {' and '.join(ends)}, the end, can be written." if ends else "Type a word instead."
        raise TokenError(f"{shown} is a sign of the model's own. {can}")
    if len(word) > MAX_WORD:
        raise TokenError(f"{shown} has {len(word):,} characters; write at most {MAX_WORD} at once.")
    if word in ends or word.startswith("▁") or category(word[0]) in _CLINGING:
        try:
            return (int(vocabulary.token_id(word)),)
        except TokenError:
            pass
    token_ids = writer.spell(word.replace("▁", " "))
    if token_ids is None:
        raise TokenError(
            f"This vocabulary cannot spell {shown}: it has no piece for one of its characters. Type a word in letters "
            "that the training text had, for example “sie”."
        )
    if not token_ids:
        raise TokenError(f"{shown} holds only characters that cannot be seen. Type a word, for example “sie”.")
    if len(token_ids) > MAX_PIECES:
        raise TokenError(f"{shown} has {len(token_ids)} pieces; write at most {MAX_PIECES} at once.")
    return tuple(token_ids)


def finished_before(step: int, count: int) -> str:
    """Why nothing can be changed at a step of a translation of `count` tokens, and what to do."""
    return (
        f"There is no token {step + 1} to change: the translation has {count} and is finished there. Choose an "
        "earlier step."
    )


def _finished(
    sessions: Sessions,
    writer: "Writer",
    text: str,
    path: Path,
    progress: traces.Progress = traces.no_progress,
) -> _Grown:
    if not path:
        return _Grown(traces.session(writer, text, progress))
    grown = _begun(sessions, writer, text, path)
    draws = _draws(path[-1][1])
    while not grown.session.finished:
        grown.session.step(draws)
        progress(len(grown.session.steps), grown.session.max_steps)
    return grown


def _begun(sessions: Sessions, writer: "Writer", text: str, path: Path) -> _Grown:
    key = (text, writer.key, path)
    grown = sessions.kept.get(key)
    if grown is None:
        origin = _finished(sessions, writer, text, path[:-1]).session
        grown = sessions.kept.put(key, _Grown(_left(writer, text, origin, path)))
    return grown


def _left(writer: "Writer", text: str, origin: "Session", path: Path) -> "Session":
    """A session of the branch that leaves `origin` by the last action of the path, which is done."""
    step, action = path[-1]
    if step >= len(origin.steps):
        raise SessionError(finished_before(step, len(origin.steps)))
    if isinstance(action, EditHead):
        return _edited(writer, text, origin, path)
    session = _standing_at(origin, step)
    if isinstance(action, Write):
        for written, token_id in enumerate(action.token_ids):
            if session.finished:
                raise SessionError(
                    f"Of the {len(action.token_ids)} tokens only {written} can be written: then the translation is "
                    "finished. Begin at an earlier step, or write less."
                )
            forced = session.force(token_id)
            if forced.log_prob == -inf:
                raise SessionError(
                    f"The model's own settings forbid “{display_token(forced.token)}” at step {step + written + 1}: "
                    "its probability there is 0. Write another token, or choose another step."
                )
    return session


def _edited(writer: "Writer", text: str, origin: "Session", path: Path) -> "Session":
    """A session that stands at the step of the last action of the path, an edit, with all edits of the path."""
    step, action = path[-1]
    before = len(origin.target_ids) - len(origin.steps) - 1
    edits = [_head_edit(before + since, edit) for since, edit in path if isinstance(edit, EditHead)]
    if isinstance(action, EditHead) and action.is_of_encoder:
        session = writer.decode(text, extras=traces.extras(writer), edits=edits)
        for done in origin.steps[:step]:
            session.force(done.token_id)
        return session
    # What acted on single rows before this step stays in force there; the encoder's edits are in the memory.
    acting = [edit for edit in edits if edit.site != ENCODER and (edit.row is None or edit.row >= before + step)]
    return _standing_at(origin, step).branch(edits=acting)


def _standing_at(origin: "Session", step: int) -> "Session":
    session = origin.branch()
    while len(session.steps) > step:
        session.back()
    return session


def _head_edit(step: int, edit: EditHead) -> "HeadEdit":
    from model.nn.edits import MakeUniform, PointAt, SwitchOff

    head = (edit.site, edit.layer, edit.head)
    row, since = (step, 0) if edit.once else (None, 0 if edit.is_of_encoder else step)
    if edit.key is not None:
        return PointAt(*head, edit.key, row=row, since=since)
    made = SwitchOff if edit.edit == "off" else MakeUniform
    return made(*head, row=row, since=since)


def _draws(action: Action) -> "Draws | None":
    from model.decoding.sampling import Draws, Sampling

    if not isinstance(action, Draw):
        return None
    sampling = Sampling(temperature=action.temperature / 100, top_k=action.top_k or None, top_p=action.top_p / 100)
    return Draws(sampling=sampling, seed=action.seed)
