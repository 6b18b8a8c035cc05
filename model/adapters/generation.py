"""Generate text with a Hugging Face model step by step: forwards, backwards, or with a chosen token.

The counterpart of `model.decoding.session` for other people's models, with the same steps. Greedy steps are those of
`generate` under the model's own settings, as far as they are kept when a folder is opened (`library.TOKEN_SETTINGS`:
tokens that must or must not come).

| | decoder only | encoder–decoder |
|---|---|---|
| the decoder begins with | the text | the token with which a target begins |
| row of step n | the text's last token, then what was written | n |

Each step computes one row; going back cuts the key/value cache, which keeps every row also where layers look no further
than a window, so that it can always be cut.
"""

import copy
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from model.adapters.capture import Listener, listen
from model.adapters.generate_call import Beginning, begin_writing, most_steps
from model.adapters.generation_rows import GenerationRows
from model.adapters.layout import OUTPUTS
from model.adapters.named_edits import edits_by_site, named_only
from model.adapters.text_reader import TextReader
from model.decoding.sampling import Draws
from model.errors import SessionError, TokenError
from model.messages import said
from model.nn.edit_hooks import Edits
from model.nn.edits import edits_before, edits_from
from model.trace.spread import spread_of
from model.trace.steps import DecodingStep, describe_step, most_probable
from model.trace.trace import Trace


class GenerationSession:
    """A text in the making.

    Greedy unless a token is forced or drawn; of `writing.most_steps` tokens at most.

    Args:
        reader: what writes.
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
        self._most = most_steps(reader.abilities, len(self._source_ids))
        self._edits = named_only(edits)
        with torch.inference_mode(), listen(self._listener()):
            self._beginning = beginning_of(reader, self._source_ids, self._most)
        self._rows = GenerationRows(reader.model, self._beginning)
        self._steps: list[DecodingStep] = []
        self._logits: list[Tensor] = []

    @property
    def steps(self) -> tuple[DecodingStep, ...]:
        """The steps so far; `index` is the decoder's row that said what comes, as in the trace."""
        return tuple(self._steps)

    @property
    def prompt_ids(self) -> tuple[int, ...]:
        """What the decoder reads before it writes: the text, or the token that begins a target."""
        return self._beginning.token_ids

    @property
    def written_ids(self) -> tuple[int, ...]:
        """The tokens chosen so far."""
        return tuple(step.token_id for step in self._steps)

    @property
    def target_ids(self) -> tuple[int, ...]:
        """What the decoder has read or reads next: `prompt_ids`, and the tokens chosen so far."""
        return (*self.prompt_ids, *self.written_ids)

    @property
    def max_steps(self) -> int:
        """Steps after which a text ends by itself."""
        return self._most

    @property
    def finished(self) -> bool:
        """Whether a token that ends a text was chosen, or the longest allowed text is reached."""
        ended = bool(self._steps) and self._steps[-1].token_id in self._beginning.eos_ids
        return ended or len(self._steps) >= self.max_steps

    @property
    def num_bytes(self) -> int:
        """About how many bytes it holds once it is finished: query, key, value, output and logits of every row."""
        rows, layers = self.max_steps + len(self.target_ids), sum(map(len, self._reader.abilities.heads.values()))
        return 4 * rows * (4 * self._reader.d_model * layers + self._reader.vocab_size)

    @property
    def translation(self) -> str:
        """What was written so far."""
        return self._reader.pieces.decode(self.written_ids)

    def step(self, draws: Draws | None = None) -> DecodingStep:
        """Write the most probable next token, or the one that these draws give.

        Raises:
            SessionError: the text is finished.
        """
        if draws is None:
            return self._advance(most_probable)
        return self._advance(lambda logits: draws.draw(logits, len(self._steps)))

    def force(self, token: str | int) -> DecodingStep:
        """Write this token (as the steps spell it, or its id) as the next one, however improbable.

        Raises:
            TokenError: the vocabulary has no such token or id.
            SessionError: the text is finished.
        """
        token_id = self._reader.pieces.token_id(token) if isinstance(token, str) else token
        size = self._reader.vocab_size
        if not 0 <= token_id < size:
            raise TokenError("Token ids run from 0 to {size}, got {token_id}.", size=size - 1, token_id=token_id)
        return self._advance(lambda _: token_id)

    def back(self) -> None:
        """Take the last token back.

        Raises:
            SessionError: nothing is written yet.
        """
        if not self._steps:
            raise SessionError("Nothing is written yet, so there is no step to take back.")
        self._steps.pop()
        self._logits.pop()
        self._rows.truncate(self._num_read)

    def run(self, draws: Draws | None = None) -> None:
        """Write on until the text is finished, greedily or by these draws."""
        while not self.finished:
            self.step(draws)

    def branch(self, *, edits: Edits | None = None) -> "GenerationSession":
        """A copy of this session at its current step; neither changes the other.

        Nothing is computed again, and what both have in common is not held twice.

        Args:
            edits: named edits of the decoder for the rows from here on, instead of this session's own; by default the
                same. What is computed stays as it is.

        Raises:
            SessionError: an edit is of the encoder, which has run.
            EditError: an edit is of a row before this one, or speaks of what does not exist.
        """
        other = copy.copy(self)
        other._steps, other._logits, other._rows = list(self._steps), list(self._logits), self._rows.copy()
        if edits is not None:
            own = [edit for edit in self._edits if edit.site == "encoder.self"]
            later = named_only(edits)
            if any(edit.site == "encoder.self" for edit in later):
                raise SessionError(
                    "A branch shares the encoder's run with the session it leaves, so it cannot edit the encoder. "
                    "Begin a new session with this edit, or edit the decoder only."
                )
            begun = self._num_read
            before = edits_before([edit for edit in self._edits if edit.site != "encoder.self"], begun)
            other._edits = (*own, *before, *edits_from(later, begun))
            other._listener()
        return other

    def trace(self) -> Trace:
        """Everything computed so far, one target row for each token that the decoder has read.

        The same tokens are read once more, in one pass under the same edits (without those of rows that are yet to
        come), for what every site computed; what was chosen, and by what chance, is the session's.

        Raises:
            SessionError: nothing is written yet.
        """
        if not self._steps:
            raise SessionError("Nothing is written yet; take a step first.")
        written, has_encoder = self.written_ids, bool(self._beginning.encoded)
        trace = self._reader.trace_rows(
            self._text,
            self._source_ids,
            written if has_encoder else written[:-1],
            begin=self.prompt_ids[0] if has_encoder else None,
            keep_outputs=self._keeps_outputs,
            edits=[edit for edit in self._edits if edit.site == "encoder.self" or edit.first_row < self._num_read],
        )
        trace = replace(trace, translation=self.translation, spread=spread_of(self.log_probs, written))
        if not trace.steps:  # of a long text, whose rows nobody asks for one by one
            return trace
        before = len(trace.steps) - len(self._steps)
        predicted = (*trace.predicted_ids[:before], *map(most_probable, self._logits))
        return replace(
            trace,
            steps=(*trace.steps[:before], *self._steps),
            predicted_ids=predicted,
            predicted_tokens=self._reader.pieces.tokens(predicted),
        )

    @property
    def log_probs(self) -> Float[Tensor, "step vocab"]:
        """Of every step so far, in nats; of all tokens that the model's rules allow, −∞ of the others."""
        return torch.stack(self._logits).float().log_softmax(-1)

    @property
    def _num_read(self) -> int:
        """Rows that the decoder has computed."""
        return len(self.prompt_ids) + len(self._steps) - 1 if self._steps else 0

    @torch.inference_mode()
    def _advance(self, choose: Callable[[Tensor], int]) -> DecodingStep:
        if self.finished:
            raise SessionError("The text is finished; step back to change it.")
        index = len(self.target_ids) - 1
        new = torch.tensor([self.target_ids[self._num_read :]], device=self._reader.device)
        try:
            with listen(self._listener()):
                logits = self._rows.ruled(self._rows.read(new))[0]
            step = describe_step(logits, choose(logits), index, self._reader.pieces)
        except BaseException:
            # Half a pass may be cached: it is forgotten, and the rest read again without what broke it off.
            self._rows.truncate(0)
            if self._num_read:
                with listen(self._listener()):
                    self._rows.read(torch.tensor([self.target_ids[: self._num_read]], device=self._reader.device))
            raise
        self._steps.append(step)
        self._logits.append(logits)
        return step

    def _listener(self) -> Listener:
        """For one pass; also checks the edits."""
        abilities, num_source = self._reader.abilities, len(self._source_ids)
        most_rows = self._most + (1 if abilities.kind == "encoder-decoder" else num_source)
        edits = edits_by_site(self._edits, abilities, num_source=num_source, num_target=most_rows)
        return Listener(keeps_calls=False, sites=self._reader.layout.sites, edits=edits)


def check_writes(reader: TextReader) -> None:
    """Make sure that a model writes.

    Raises:
        SessionError: it only reads.
    """
    if not reader.abilities.generates:
        raise SessionError(reader.abilities.lacks.get("decoding", said("This model reads and does not write.")))


def beginning_of(reader: TextReader, source_ids: Sequence[int], most: int) -> Beginning:
    """How this model begins to write; the encoder runs."""
    token_ids = torch.tensor([list(source_ids)], device=reader.device)
    return begin_writing(reader.model, token_ids, most, reader.start_options)
