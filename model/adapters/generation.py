"""Generate text with a Hugging Face model step by step: forwards, backwards, or with a chosen token.

Greedy steps are those of
`generate` under the model's own settings, as far as they are kept when a folder is opened (`library.TOKEN_SETTINGS`:
tokens that must or must not come).

| | decoder only | encoder–decoder |
|---|---|---|
| the decoder begins with | the text | the token with which a target begins |
| row of step n | the text's last token, then what was written | n |

Each step computes one row; going back cuts the key/value cache, which keeps every row also where layers look no further
than a window, so that it can always be cut.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from model.adapters.capture import head_edits, named_only
from model.adapters.generate_call import Beginning, GenerationRows, begin_writing, write_greedily
from model.adapters.layout import OUTPUTS
from model.adapters.limited_process import first_words
from model.adapters.text_reader import TextReader
from model.decoding.session import Session
from model.errors import SessionError, said
from model.nn.edit_hooks import Edits
from model.nn.edits import edits_before, edits_from
from model.nn.hooks import Edit, listen
from model.trace.steps import ROWS_AT_ONCE, Spread, most_probable, spread_of
from model.trace.trace import Trace


class GenerationSession(Session):
    """A text by a model of transformers, of `generate_call.most_steps` tokens at most.

    Args:
        text: to translate, or to go on with.
        extras: {"hook_head_output"} to record the real head outputs.
        edits: named edits of heads, applied in every step; rows count from the decoder's first.

    Raises:
        SessionError: the model does not write.
        InputTextError: the text is blank or too long.
        EditError: an edit is a function, or speaks of what does not exist, or the model's heads cannot be edited.
        TraceError: an extra is asked for that this model does not record.
    """

    def __init__(
        self, reader: TextReader, text: str, *, extras: Collection[str] = (), edits: Edits | None = None
    ) -> None:
        check_writes(reader)
        self._reader, self._text = reader, text
        self._keeps_outputs = OUTPUTS in reader.checked_extras(extras)
        self._source_ids = reader.source(text).ids
        self._most = reader.most_steps(self._source_ids)
        self._edits = named_only(edits)
        with torch.inference_mode(), listen(edits=self._edit_functions()):
            self._beginning = beginning_of(reader, self._source_ids, self._most)
        begun = self._beginning
        super().__init__(reader.pieces, begun.token_ids, begun.eos_ids, reader.vocab_size, self._most)
        self._rows = GenerationRows(reader.model, begun, caches=reader.caches)
        self._logits: list[Tensor] = []

    @property
    def num_bytes(self) -> int:
        """About how many bytes it holds once it is finished: query, key, value, output and logits of every row."""
        rows, layers = self.max_steps + len(self.target_ids), sum(map(len, self._reader.abilities.heads.values()))
        return 4 * rows * (4 * self._reader.d_model * layers + self._reader.vocab_size)

    @property
    def log_probs(self) -> Float[Tensor, "step vocab"]:
        """Of every step so far, in nats; of all tokens that the model's rules allow, −∞ of the others."""
        return self._log_probs(slice(None))

    def _log_probs(self, steps: slice) -> Float[Tensor, "step vocab"]:
        return torch.stack(self._logits[steps]).float().log_softmax(-1)

    def _trace(self) -> Trace:
        """One target row for each token that the decoder has read.

        The same tokens are read once more, in one pass under the same edits (without those of rows that are yet to
        come), for what every site computed; what was chosen, and by what chance, is the session's.
        """
        written, has_encoder = self.written_ids, bool(self._beginning.encoded)
        trace = self._reader.trace_rows(
            self._text,
            self._source_ids,
            written if has_encoder else written[:-1],
            begin=self.prompt_ids if has_encoder else (),
            keep_outputs=self._keeps_outputs,
            edits=[edit for edit in self._edits if edit.site == "encoder.self" or edit.first_row < self._num_read],
        )
        # A few rows at once: the scores of a long transcript take more memory than all of its attention.
        firsts = range(0, len(written), ROWS_AT_ONCE)
        blocks = ((self._log_probs(part), written[part]) for part in (slice(at, at + ROWS_AT_ONCE) for at in firsts))
        spread = Spread.joined(spread_of(*block) for block in blocks)
        trace = replace(trace, translation=self.translation, spread=spread)
        if not trace.steps:  # of a long text, whose rows nobody asks for one by one
            return trace
        before = len(trace.predicted_ids) - len(written)
        predicted = (*trace.predicted_ids[:before], *map(most_probable, self._logits))
        return replace(
            trace,
            steps=(*trace.steps[: len(trace.steps) - len(written)], *self.steps),
            predicted_ids=predicted,
            predicted_tokens=self._reader.pieces.tokens(predicted),
        )

    @property
    def _num_read(self) -> int:
        """Rows that the decoder has computed of what is written."""
        return len(self.target_ids) - 1 if self._written else 0

    def _next_logits(self) -> Float[Tensor, " vocab"]:
        try:
            logits = self._rows.ruled(self._read(self.target_ids[self._num_read :]))[0]
        except BaseException:
            # Half a pass may be cached: it is forgotten, and the rest read again without what broke it off.
            self._rows.truncate(0)
            if self._num_read:
                self._read(self.target_ids[: self._num_read])
            raise
        self._logits.append(logits)
        return logits

    def _read(self, token_ids: Sequence[int]) -> Float[Tensor, "1 vocab"]:
        with listen(edits=self._edit_functions()):
            return self._rows.read(torch.tensor([token_ids], device=self._reader.device))

    def _forget_unwritten(self) -> None:
        del self._logits[len(self._written) :]
        self._rows.truncate(self._num_read)

    def _own_rows(self) -> None:
        self._logits, self._rows = list(self._logits), self._rows.copy()

    def _edit_from_here(self, edits: Edits) -> None:
        own = [edit for edit in self._edits if edit.site == "encoder.self"]
        later = named_only(edits)
        if any(edit.site == "encoder.self" for edit in later):
            raise SessionError(
                "A branch uses the encoder's output of its session, so it cannot edit the encoder. Start a new session "
                "with this edit, or edit only the decoder."
            )
        begun = self._num_read
        before = edits_before([edit for edit in self._edits if edit.site != "encoder.self"], begun)
        self._edits = (*own, *before, *edits_from(later, begun))
        self._edit_functions()

    def _edit_functions(self) -> Mapping[str, Edit]:
        """For one pass; also checks the edits."""
        abilities, num_source = self._reader.abilities, len(self._source_ids)
        most_rows = self._most + (
            len(self._reader.begin_before((0,))) if abilities.kind == "encoder-decoder" else num_source
        )
        return head_edits(self._edits, abilities, num_source=num_source, num_target=most_rows)


def check_writes(reader: TextReader) -> None:
    """Make sure that a model writes. Raises a SessionError if it only reads."""
    if not reader.abilities.generates:
        raise SessionError(reader.abilities.lacks.get("decoding", said("This model only reads: it generates no text.")))


def beginning_of(reader: TextReader, source_ids: Sequence[int], most: int) -> Beginning:
    """How this model begins to write; the encoder runs."""
    return begin_writing(reader.model, reader.read_first(source_ids), most, reader.start_options)


#: Tokens that a model writes to be proven, and how many of them it takes back.
PROVEN_STEPS, TAKEN_BACK = 6, 3


@torch.inference_mode()
def wrong_with_writing(reader: TextReader, source_ids: Sequence[int]) -> str:
    """Why what this model writes here, greedily, is not what `generate` writes, as a sentence; "" if it is.

    Settings for writing that do not fit the model are left to who writes with it.
    """
    source = reader.read_first(source_ids)
    try:
        expected = write_greedily(reader.model, source, PROVEN_STEPS, reader.start_options)[0]
        begun = begin_writing(reader.model, source, PROVEN_STEPS, reader.start_options)
    except SessionError as error:
        return "" if reader.caches else error.message
    rows, written = GenerationRows(reader.model, begun, caches=reader.caches), list(begun.token_ids)
    logits: list[Tensor] = []
    try:
        while len(logits) < PROVEN_STEPS and not (logits and written[-1] in begun.eos_ids):
            unread = torch.tensor([written[len(rows) :]], device=reader.device)
            logits.append(rows.ruled(rows.read(unread))[0])
            written.append(int(logits[-1].argmax()))
        *_, last = logits
        back = min(TAKEN_BACK, len(logits) - 1)
        rows.truncate(len(rows) - back)
        again = (
            rows.ruled(rows.read(torch.tensor([written[len(rows) : len(written) - 1]], device=reader.device)))[0]
            if back
            else last
        )
    except Exception as error:  # Whatever a class of the library thinks of a cache that is not its own.
        message = "Headlight cannot generate text with this model step by step ({reason})."
        return said(message, reason=first_words(error))
    finite = last.isfinite()
    if not finite.any():
        # Who writes with it says that no token has a probability.
        return ""
    scale = max(1.0, float(last[finite].abs().max()))
    is_same = torch.allclose(again[finite], last[finite], rtol=0, atol=1e-2 * scale)
    if written != expected[: len(written)] or not is_same:
        return said(
            "With this model, the text that Headlight generates step by step differs from that of transformers, "
            "so the model is used only for reading."
        )
    return ""
