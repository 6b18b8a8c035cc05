"""Write the branches of a translation: other tokens, draws and edits of heads from a step on.

A branch is grown out of the session of the one that it leaves, so only its new rows are computed (an edit of the
encoder changes all of them). What is grown is kept for all viewers, by bytes, until the last who looked at it has gone.
"""

from dataclasses import dataclass, field
from math import inf
from threading import RLock
from typing import Final
from unicodedata import category

import streamlit as st

from model import Trace
from model.decoding.sampling import Draws, Sampling
from model.decoding.session import Session
from model.errors import SessionError, TokenError
from model.reader import Writer
from model.trace.steps import check_probabilities as model_check_probabilities
from viz.access import head_verdict, traces
from viz.selection.branch_codes import MAX_PIECES, Action, Draw, EditHead, Path, Write
from viz.server import viewers
from viz.server.caches import ViewedCache, share_of_memory
from viz.text.messages import Message, _, said
from viz.text.written import ENCODER, display_token

#: So many branches are kept, of all viewers and sentences, and this share of the machine's memory for them; others
#: are grown again when they are wanted.
MAX_KEPT: Final = 256
KEPT_SHARE: Final = 0.05
#: No word of a language is longer.
MAX_WORD: Final = 200
#: Full stops, closing brackets and closing quotation marks stand close to the word before them.
_CLINGING: Final = frozenset({"Po", "Pe", "Pf"})
#: The sentence, the key of the model, what was done.
Key = tuple[str, str, Path]


@dataclass(frozen=True)
class _Grown:
    """A finished branch; its session takes no further steps."""

    session: Session
    trace: Trace


@dataclass(eq=False)
class Sessions:
    """State of one viewer: the branch begun last, until it is finished."""

    viewer: str = field(default_factory=viewers.current)  #: who looks at the branches
    begun: "tuple[Key, Session] | None" = None  #: the branch and its session
    #: a file is made in another thread than the page, and two must not write on in one session.
    lock: RLock = field(default_factory=RLock)


def begin(sessions: Sessions, writer: Writer, text: str, path: Path) -> None:
    """Grow a branch as far as the change that makes it, so that `grow` cannot fail any more.

    Raises a HeadlightError if there is no such step, token, head or key, or nothing can follow there.
    """
    with sessions.lock:
        if _kept().get((text, writer.key, path), sessions.viewer) is None:
            _begin(sessions, writer, text, path)


def grow(
    sessions: Sessions, writer: Writer, text: str, path: Path, progress: traces.Progress = traces.no_progress
) -> Trace:
    """The trace of a branch, in a viewer's sessions, as far as it is not known yet. Raises what `begin` raises."""
    if not path:
        return traces.written(writer, text, progress)
    with sessions.lock:
        return _grown(sessions, writer, text, path, progress).trace


def is_grown(sessions: Sessions, writer: Writer, text: str, path: Path) -> bool:
    """Whether the trace of a branch is known, so that `grow` computes nothing."""
    return not path or _kept().get((text, writer.key, path), sessions.viewer) is not None


def check_probabilities(trace: Trace) -> None:
    """Refuse a translation with a step at which no token has a probability, by a SessionError."""
    model_check_probabilities(trace.steps)


def spell(word: str, writer: Writer) -> tuple[int, ...]:
    """The tokens that write a word, or several, as a new word; a mark such as "." clings to the word before it.

    A piece as candidates show it ("▁sie"), and a token that ends a text ("</s>"), are taken as they are. Raises a
    TokenError if there is nothing to write, too much, or something that the vocabulary cannot spell.
    """
    vocabulary = writer.vocabulary
    ends, reserved = (vocabulary.tokens(sorted(ids)) for ids in (writer.end_ids, writer.reserved_ids))
    word = word.strip()
    if not word:
        raise TokenError("Type the word that the model should write, for example “sie”.")
    shown = f"“{word[:40]}{'…' if len(word) > 40 else ''}”"
    if word in reserved:
        if not ends:
            raise TokenError("{word} is a special token of the model. Type a word instead.", word=shown)
        message = (
            "{word} is a special token of the model. The only special token that can be written is {ends}, which "
            "ends the text."
        )
        raise TokenError(message, word=shown, ends=_(" and ").join(ends))
    if len(word) > MAX_WORD:
        message = "{word} has {count:,} characters; at most {most} can be written at once."
        raise TokenError(message, word=shown, count=len(word), most=MAX_WORD)
    if word in ends or word.startswith("▁") or category(word[0]) in _CLINGING:
        try:
            return (int(vocabulary.token_id(word)),)
        except TokenError:
            pass
    token_ids = writer.spell(word.replace("▁", " "))
    if token_ids is None:
        raise TokenError(
            "This vocabulary cannot spell {word}: it has no token for one of its characters. Type a word in letters "
            "that occurred in the training text, for example “sie”.",
            word=shown,
        )
    if not token_ids:
        raise TokenError("{word} contains only invisible characters. Type a word, for example “sie”.", word=shown)
    if len(token_ids) > MAX_PIECES:
        message = "{word} has {count} tokens; at most {most} can be written at once."
        raise TokenError(message, word=shown, count=len(token_ids), most=MAX_PIECES)
    return tuple(token_ids)


def finished_before(step: int, count: int) -> Message:
    """Why nothing can be changed at a step of a translation of `count` tokens, and what to do."""
    message = "There is no token {number} to change: the translation ends after {count} tokens. Choose an earlier step."
    return said(message, number=step + 1, count=count)


def finished(sessions: Sessions, writer: Writer, text: str, path: Path) -> Session:
    """Return the finished session of a branch, which must not be stepped. Raises what `begin` raises."""
    if not path:
        return traces.session(writer, text)
    return _grown(sessions, writer, text, path, traces.no_progress).session


def _grown(sessions: Sessions, writer: Writer, text: str, path: Path, progress: traces.Progress) -> _Grown:
    key = (text, writer.key, path)
    grown = _kept().get(key, sessions.viewer)
    if grown is not None:
        return grown
    session = _begin(sessions, writer, text, path)
    draws = _draws(path[-1][1])
    while not session.finished:
        session.step(draws)
        progress(len(session.steps), session.max_steps)
    sessions.begun = None
    grown = _Grown(session, traces.written_trace(session))
    return _kept().put(key, grown, session.num_bytes + traces.num_bytes(grown.trace), sessions.viewer)


def _begin(sessions: Sessions, writer: Writer, text: str, path: Path) -> Session:
    """The session of a branch that is not finished."""
    key = (text, writer.key, path)
    if sessions.begun is None or sessions.begun[0] != key:
        origin = finished(sessions, writer, text, path[:-1])
        sessions.begun = (key, _left(writer, text, origin, path))
    return sessions.begun[1]


def _left(writer: Writer, text: str, origin: Session, path: Path) -> Session:
    """A session of the branch that leaves `origin` by the last action of the path, which is done."""
    step, action = path[-1]
    if step >= len(origin.steps):
        raise SessionError(finished_before(step, len(origin.steps)))
    if isinstance(action, EditHead):
        return edited(writer, text, origin, path)
    session = _standing_at(origin, step)
    if isinstance(action, Write):
        for written, token_id in enumerate(action.token_ids):
            if session.finished:
                message = (
                    "Of the {count} tokens, only {written} can be written before the translation ends. Start at an "
                    "earlier step, or write less."
                )
                raise SessionError(message, count=len(action.token_ids), written=written)
            forced = session.force(token_id)
            if forced.log_prob == -inf:
                message = (
                    "The model's own settings forbid “{token}” at step {step}: its probability there is 0. Write "
                    "another token, or choose another step."
                )
                raise SessionError(message, token=display_token(forced.token), step=step + written + 1)
    return session


def edited(writer: Writer, text: str, origin: Session, path: Path) -> Session:
    """A session that stands at the step of the last action of the path, an edit, with all edits of the path."""
    step, action = path[-1]
    before = len(origin.target_ids) - len(origin.steps) - 1
    edits = [head_verdict.head_edit(before + since, edit) for since, edit in path if isinstance(edit, EditHead)]
    if isinstance(action, EditHead) and action.is_of_encoder:
        session = writer.decode(text, extras=traces.extras(writer, text), edits=edits)
        for done in origin.steps[:step]:
            session.force(done.token_id)
        return session
    # What acted on single rows before this step stays in force there; the encoder's edits are in the memory.
    acting = [edit for edit in edits if edit.site != ENCODER and (edit.row is None or edit.row >= before + step)]
    return _standing_at(origin, step).branch(edits=acting)


def _standing_at(origin: Session, step: int) -> Session:
    session = origin.branch()
    while len(session.steps) > step:
        session.back()
    return session


def _draws(action: Action) -> Draws | None:
    if not isinstance(action, Draw):
        return None
    sampling = Sampling(temperature=action.temperature / 100, top_k=action.top_k or None, top_p=action.top_p / 100)
    return Draws(sampling=sampling, seed=action.seed)


@st.cache_resource(show_spinner=False)
def _kept() -> ViewedCache[Key, _Grown]:
    return ViewedCache(MAX_KEPT, share_of_memory(KEPT_SHARE))
