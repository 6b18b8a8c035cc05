"""Models that write, and the trace of what they have written.

The trace of a decoder-only model has a row for every token of the text too; where writing is shown, its steps are those
that wrote, the last of these rows. Knows nothing of widgets, branches or figures.
"""

from typing import TYPE_CHECKING, Any

from model.errors import SessionError
from viz.access import loader
from viz.selection.selection import Selection

if TYPE_CHECKING:
    from model import Trace
    from model.trace.spread import Spread


def writer(selection: Selection) -> Any:
    """The chosen model, where it writes: a `Translator`, or a `TextWriter`, which have `decode`, `beam_tree`, `sample`.

    Raises:
        SessionError: it only reads.
    """
    loaded: Any = loader.reader(selection)
    if not loaded.abilities.generates or not hasattr(loaded, "decode"):
        raise SessionError(loaded.abilities.lacks.get("decoding", "This model reads and does not write."))
    return loaded


def extras(selection: Selection) -> set[str]:
    """What a session records beside: the heads' real outputs, where the model gives them."""
    return {loader.OUTPUTS} if loader.abilities(selection).has("head outputs") else set()


def trace_of(session: Any) -> "Trace":
    """What a session has written, as the decoding page shows it."""

    trace: Trace = session.trace()
    return trace.only_written(session.steps)


def rows_before(trace: "Trace") -> int:
    """The decoder's rows before that of the first step: the text of a decoder-only model but for its last token."""
    return trace.rows_before


def spread(trace: "Trace", loaded: Any) -> "Spread":
    """How the probability of each step is spread over the vocabulary."""
    found: Spread = loaded.spread(trace)
    return found


def pieces(selection: Selection) -> Any:
    """The tokenizer: `token_id(piece)`, `tokens(ids)`."""
    loaded = writer(selection)
    return getattr(loaded, "tokenizer", None) or loaded.pieces


def end_ids(selection: Selection) -> frozenset[int]:
    """The tokens each of which ends what the model writes; none where it writes as long as it may."""
    loaded = writer(selection)
    if loader.is_translator(selection):
        return frozenset((loaded.config.eos_id,))
    # What a folder's generation_config.json says, as `generate` reads it: one token, several, or none.
    ends = loaded.model.generation_config.eos_token_id
    named = [ends] if isinstance(ends, int) else ends or ()
    return frozenset(one for one in named if one < loaded.vocab_size)


def end_tokens(selection: Selection) -> tuple[str, ...]:
    """`end_ids` as candidates show them."""
    return tuple(pieces(selection).tokens(sorted(end_ids(selection))))


def refused_tokens(selection: Selection) -> frozenset[str]:
    """What stands for no text and is no end: padding, the beginning, an unknown piece."""
    loaded = writer(selection)
    if loader.is_translator(selection):
        named = (loaded.config.pad_id, loaded.config.unk_id, loaded.config.bos_id)
    else:
        tokenizer = loaded.pieces.tokenizer
        named = (tokenizer.pad_token_id, tokenizer.unk_token_id, tokenizer.bos_token_id)
    own = {one for one in named if one is not None} - end_ids(selection)
    return frozenset(pieces(selection).tokens(sorted(own)))


def ids_of(word: str, selection: Selection) -> list[int]:
    """The tokens of a word that is written after others."""
    found = pieces(selection)
    if loader.is_translator(selection):
        return list(found.encode(word))
    return list(found.encode(word if word[:1] == " " else f" {word}", with_special=False).ids)
