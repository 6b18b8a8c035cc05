"""Ask the model for the path of one token, kept for all viewers; and which token and stage are most worth seeing."""

from typing import TYPE_CHECKING

from model import Reader, Trace
from model.analysis.embedding_space import EmbeddingSpace, SeenIn
from model.analysis.embedding_space import embedding_space as model_embedding_space
from model.analysis.embedding_space import is_shared as model_is_shared
from model.analysis.embedding_space import seen_in as model_seen_in
from model.analysis.residual_stream.additions import Kind, Stack, TokenPath, cosine
from model.analysis.residual_stream.capture import CapturedRun, Sublayer, capture
from model.analysis.residual_stream.norms import NormedBatch
from model.analysis.residual_stream.norms import normed_batch as model_normed_batch
from model.analysis.residual_stream.token_path import follow
from model.errors import TraceError
from model.sequence_translator import SequenceTranslator
from model.translator import Translator
from viz.access import traces
from viz.server.caches import cached
from viz.text.messages import said

if TYPE_CHECKING:
    from model.adapters.text_reader import TextReader
MAX_RUNS, MAX_PATHS, MAX_SPACES = 8, 8, 4


@cached(max_entries=MAX_RUNS)
def captured_run(trace: Trace, translator: Translator) -> CapturedRun:
    """A trace with the residual stream at every sub-layer."""
    return capture(translator, trace)


@cached(max_entries=MAX_PATHS)
def token_path(trace: Trace, reader: Reader, stack: Stack, position: int) -> TokenPath:
    """One position from its embedding to the last layer.

    Raises:
        TraceError: the model does not tell its parts; the message says why.
    """
    from model.analysis.residual_stream.library_path import follow_in_library

    if isinstance(reader, Translator):
        return follow(captured_run(trace, reader), stack, position)
    return follow_in_library(_library_reader(reader), trace, stack, position)


@cached(max_entries=MAX_PATHS)
def most_changed(trace: Trace, reader: Reader) -> tuple[Stack, int]:
    """The token whose residual stream points elsewhere most at the end of its stack, compared with its beginning."""
    from model.analysis.residual_stream.library_path import most_turned

    if not isinstance(reader, Translator):
        return most_turned(_library_reader(reader), trace)
    run = captured_run(trace, reader)
    sides: tuple[tuple[Stack, tuple[str, ...]], ...] = (
        ("encoder", trace.source_tokens),
        ("decoder", trace.target_tokens),
    )
    kept = {
        (stack, position): cosine(begin, end)
        for stack, tokens in sides
        for position, (token, begin, end) in enumerate(zip(tokens, run.begin(stack), run.end(stack), strict=True))
        if token not in trace.special_tokens
    }
    return min(kept, key=kept.__getitem__, default=("encoder", 0))


def why_not(reader: Reader) -> str:
    """Why no token of a model can be followed, as a sentence; "" where one may be."""
    abilities = reader.abilities
    if "self-attention" in abilities.lacks:
        return said(
            "Not all of its layers add to one sum, the residual stream. {why}", why=abilities.lacks["self-attention"]
        )
    if abilities.kind == "image":
        return said("It reads patches of a picture, not tokens; its heads are on the Attention page.")
    return (
        ""
        if abilities.knows_inputs
        else said("It exposes only its attention weights, so what its sub-layers add is unknown.")
    )


def _library_reader(reader: Reader) -> "TextReader":
    from model.adapters.text_reader import TextReader

    if not isinstance(reader, TextReader):
        raise TraceError(why_not(reader))
    return reader


def most_changing_stage(path: TokenPath) -> int:
    """The layer that turns the stream most, counted from 1: the input is stage 0."""
    turned = [cosine(layer[0].before, layer[-1].after) for layer in path.layers]
    return 1 + turned.index(min(turned))


@cached(max_entries=MAX_PATHS)
def normed_batch(
    trace: Trace, translator: Translator, texts: tuple[str, ...], stack: Stack, layer: int, kind: Kind, at: int
) -> NormedBatch:
    """What the norm of a sub-layer reads of this and further sentences, and what both norms make of it."""
    others = [traces.written_alone(translator, text) for text in texts]
    runs = [captured_run(each, translator) for each in (trace, *others)]
    return model_normed_batch(runs, Sublayer(stack, layer, kind), at)


@cached(max_entries=MAX_SPACES)
def embedding_space(reader: Reader, *, is_target: bool) -> EmbeddingSpace:
    """The embeddings of a model."""
    return model_embedding_space(reader, is_target=is_target)


def is_shared(reader: Reader) -> bool:
    """Whether source and target have the same embeddings."""
    return model_is_shared(reader)


@cached(max_entries=MAX_SPACES)
def seen_in(translator: SequenceTranslator) -> tuple[SeenIn, ...]:
    """In which language each piece was seen, of a model that translates English to German."""
    return model_seen_in(translator.tokenizer)
