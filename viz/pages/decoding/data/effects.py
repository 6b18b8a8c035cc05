"""What edits of heads do to the token of a step, and which of them does most."""

from typing import TYPE_CHECKING, Final

import numpy as np
from jaxtyping import Float

from viz.access import traces
from viz.pages.decoding.data import branches
from viz.selection.branch_codes import EditHead, Path
from viz.server.background_jobs import Progress, Task
from viz.server.caches import cached
from viz.text.messages import said
from viz.text.sites import DECODER, ENCODER

if TYPE_CHECKING:
    from model.writer import Writer

MAX_KEPT: Final = 128
#: Of more heads or keys than this not all are tried.
MAX_TRIED: Final = 64


def effects_of_heads(
    sessions: branches.Sessions,
    writer: "Writer",
    text: str,
    path: Path,
    step: int,
    site: str,
) -> Task[Float[np.ndarray, "layer head"]]:
    """By how much the log-probability (nats) of a step's token changes if one head of a site is switched off there.

    Args:
        sessions, writer, text, path: as in `branches.grow`.
        step: whose token is meant.
        site: whose heads are switched off, one after the other; in the encoder throughout the sentence.
    """
    layers, heads = writer.abilities.shapes[site]

    def compute(progress: Progress) -> Float[np.ndarray, "layer head"]:
        changes = np.zeros((layers, heads), np.float32)
        with sessions.lock:
            session = branches.finished(sessions, writer, text, path)
        written = session.steps[step]
        for layer, head in np.ndindex(changes.shape):
            edit = EditHead("off", site, layer, head)
            session_edited = branches.edited(writer, text, session, (*path, (step, edit)))
            changes[layer, head] = session_edited.force(written.token_id).log_prob - written.log_prob
            progress(1)
        return changes

    key = ("effects of heads", text, writer.key, path, step, site)
    return Task(key, layers * heads, said("heads"), compute, said("{done:,} of {total:,} heads"))


@cached(max_entries=MAX_KEPT)
def strongest_edit(writer: "Writer", text: str, step: int, site: str) -> EditHead | None:
    """The edit of a decoder's head that makes the token of a step least probable; None where too many are to be tried.

    First every head of the site is switched off, one after the other; then of the head whose loss costs most, its
    weights are also made uniform, and put on one key after the other.

    Args:
        writer, text: the model and the sentence; the translation is its own.
        step: whose token is meant.
        site: an attention of the decoder.
    """
    layers, heads = writer.abilities.shapes[site]
    if layers * heads > MAX_TRIED:
        return None
    switched_off = [EditHead("off", site, layer, head) for layer, head in np.ndindex(layers, heads)]
    off = _strongest(writer, text, step, switched_off)
    keys = _keys(writer, text, step, site)
    pointed = [EditHead("point", site, off.layer, off.head, key) for key in range(min(keys, MAX_TRIED))]
    return _strongest(writer, text, step, [off, EditHead("uniform", site, off.layer, off.head), *pointed])


@cached(max_entries=MAX_KEPT)
def written_under(writer: "Writer", text: str, step: int, edit: EditHead) -> int:
    """The token that the model would write at a step of its own translation if a head were edited there."""
    session = traces.session(writer, text, traces.no_progress)
    written = branches.edited(writer, text, session, ((step, edit),)).force(session.steps[step].token_id)
    return written.candidates[0].token_id


@cached(max_entries=MAX_KEPT)
def strongest_key(writer: "Writer", text: str, step: int, site: str, layer: int, head: int) -> int:
    """The key that makes the token of a step least probable if the head points at it; of many the first are tried.

    In the encoder, where each try encodes the sentence anew, it is the first.
    """
    if site == ENCODER:
        return 0
    keys = range(min(_keys(writer, text, step, site), MAX_TRIED))
    edit = _strongest(writer, text, step, [EditHead("point", site, layer, head, key) for key in keys])
    assert edit.key is not None, "only edits with a key were tried"
    return edit.key


def _strongest(writer: "Writer", text: str, step: int, edits: list[EditHead]) -> EditHead:
    session = traces.session(writer, text, traces.no_progress)
    token_id = session.steps[step].token_id

    def log_prob(edit: EditHead) -> float:
        return branches.edited(writer, text, session, ((step, edit),)).force(token_id).log_prob

    return min(edits, key=log_prob)


def _keys(writer: "Writer", text: str, step: int, site: str) -> int:
    """How many keys the row of a step sees."""
    trace = traces.written(writer, text)
    return trace.rows_before + step + 1 if site == DECODER else len(trace.axis_tokens(site)[1])
