"""Write a text step by step: forwards, backwards, or with a token of one's own.

Each step computes one row (key/value cache). `DecodingSession` keeps what the hooks recorded of it, so that a finished
session of Headlight's own models is a trace, equal to one teacher-forced pass over the same tokens;
`model.adapters.generation` has the session of other people's models.
"""

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeVar

import torch
from jaxtyping import Float
from torch import Tensor

from model.decoding.sampling import Draws
from model.decoding.search import EXTRA_LENGTH
from model.errors import SessionError, TokenError
from model.nn.edit_hooks import Edits, change_edits, edit_functions
from model.nn.edits import edits_from
from model.nn.encoder_decoder import EncoderDecoder
from model.nn.hooks import ALWAYS_RECORDED, Edit, listen
from model.tokenizer import Tokenizer
from model.trace.steps import DecodingStep, Vocabulary, describe_steps, most_probable
from model.trace.trace import Recorded, Trace, build_trace, join_recorded

Ids = Sequence[int]
AnySession = TypeVar("AnySession", bound="Session")


class Session(ABC):
    """A text in the making, whatever model writes it. Greedy unless a token is forced or drawn.

    Args:
        prompt_ids: what the decoder reads before it writes.
        end_ids: tokens each of which ends the text.
        vocab_size: token ids that the model knows.
        max_steps: steps after which the text ends without such a token.
    """

    def __init__(
        self, vocabulary: Vocabulary, prompt_ids: Ids, end_ids: Collection[int], vocab_size: int, max_steps: int
    ) -> None:
        self._vocabulary, self.prompt_ids, self._end_ids = vocabulary, tuple(prompt_ids), frozenset(end_ids)
        self._vocab_size, self.max_steps = vocab_size, max_steps
        self._written: list[int] = []
        # The steps that are described, and the logits of those after them, which nobody has read yet.
        self._described: tuple[tuple[DecodingStep, ...], tuple[Tensor, ...]] = ((), ())

    @property
    def steps(self) -> tuple[DecodingStep, ...]:
        """The steps so far; `index` is the decoder's row. New ones are described together, when they are read."""
        # Viewers share finished sessions: two threads may be here at once, with the same result.
        known, logits = self._described
        if logits:
            first = len(known) + len(self.prompt_ids) - 1
            new = describe_steps(torch.stack(logits), self._written[len(known) :], first, self._vocabulary)
            known = (*known, *new)
            self._described = known, ()
        return known

    @property
    def written_ids(self) -> tuple[int, ...]:
        """The tokens chosen so far."""
        return tuple(self._written)

    @property
    def target_ids(self) -> tuple[int, ...]:
        """What the decoder has read or reads next: `prompt_ids`, and the tokens chosen so far."""
        return (*self.prompt_ids, *self._written)

    @property
    def finished(self) -> bool:
        """Whether a token that ends the text was chosen, or the longest allowed text is reached."""
        ended = bool(self._written) and self._written[-1] in self._end_ids
        return ended or len(self._written) >= self.max_steps

    @property
    @abstractmethod
    def num_bytes(self) -> int:
        """About how many bytes the finished session holds."""

    @property
    def translation(self) -> str:
        """The text so far."""
        return self._vocabulary.decode(self._written)

    def step(self, draws: Draws | None = None) -> DecodingStep:
        """Write the most probable next token, or that of these draws. Raises a SessionError if it is finished."""
        self._write(draws)
        return self.steps[-1]

    def force(self, token: str | int) -> DecodingStep:
        """Write this token (as the steps spell it, or its id) as the next one, however improbable.

        Raises:
            TokenError: the vocabulary has no such token or id.
            SessionError: the text is finished.
        """
        token_id = self._vocabulary.token_id(token) if isinstance(token, str) else token
        if not 0 <= token_id < self._vocab_size:
            message = "Token ids run from 0 to {size}, got {token_id}."
            raise TokenError(message, size=self._vocab_size - 1, token_id=token_id)
        self._advance(lambda _: token_id)
        return self.steps[-1]

    def back(self) -> None:
        """Take the last token back. Raises a SessionError if nothing is written yet."""
        if not self._written:
            raise SessionError("Nothing has been written yet, so there is no step to undo.")
        self._written.pop()
        steps, logits = self._described
        self._described = (steps, logits[:-1]) if logits else (steps[:-1], ())
        self._forget_unwritten()

    def run(self, draws: Draws | None = None) -> None:
        """Write on until the text is finished, greedily or by these draws."""
        while not self.finished:
            self._write(draws)

    def branch(self: AnySession, *, edits: Edits | None = None) -> AnySession:
        """An independent session at the same step; both share what was computed so far.

        `edits` is of the decoder for the rows from here on, instead of this session's own, where the model takes them
        named or as functions at hook points; by default the same. What is computed stays as it is; rows that are taken
        back and written again are computed under the edits they had.

        Raises:
            SessionError: an edit is of the encoder, which has run, or of the memory's keys or values after they were
                computed.
            EditError: an edit is of a row before this one, or of something that does not exist.
            ValueError: there is no such hook point.
        """
        other = copy.copy(self)
        other._written = list(self._written)
        other._own_rows()
        if edits is not None:
            other._edit_from_here(edits)
        return other

    def trace(self) -> Trace:
        """Everything computed so far. Raises a SessionError if nothing is written yet."""
        if not self._written:
            raise SessionError("Nothing has been written yet; take a step first.")
        return self._trace()

    def _write(self, draws: Draws | None) -> None:
        self._advance(most_probable if draws is None else lambda logits: draws.draw(logits, len(self._written)))

    @torch.inference_mode()
    def _advance(self, choose: Callable[[Tensor], int]) -> None:
        """Compute one row, and write the token that `choose` returns for its logits."""
        if self.finished:
            raise SessionError("The text is finished; step back to change it.")
        try:
            logits = self._next_logits()
            token_id = choose(logits)
        except BaseException:
            # A hook may raise half-way: what was computed of the row must not stay.
            self._forget_unwritten()
            raise
        self._written.append(token_id)
        steps, pending = self._described
        self._described = steps, (*pending, logits)

    @abstractmethod
    def _next_logits(self) -> Float[Tensor, " vocab"]:
        """Compute the next row: the logits of what follows."""

    @abstractmethod
    def _forget_unwritten(self) -> None:
        """Drop rows whose token is not, or no longer, written."""

    @abstractmethod
    def _own_rows(self) -> None:
        """Copy what a branch would otherwise change in the session that it leaves."""

    @abstractmethod
    def _edit_from_here(self, edits: Edits) -> None:
        """Apply these edits to the rows from here on."""

    @abstractmethod
    def _trace(self) -> Trace:
        """Everything computed so far; at least one token is written."""


class DecodingSession(Session):
    """A translation by one of Headlight's own models, at most `EXTRA_LENGTH` tokens longer than its source (§6.1).

    Args:
        source_ids: its token ids, ending with </s>.
        reader_key: names the model in its traces (`model.reader.Reader.key`).
        extras: hooks to record beyond those always recorded; of those, only "hook_head_output" grows row by row.
        edits: named edits of heads, or full hook name → function, applied in every step.

    Raises:
        EditError: a named edit is of something that does not exist, or of a key that the mask forbids.
        ValueError: there is no such hook point.
    """

    def __init__(
        self,
        model: EncoderDecoder,
        tokenizer: Tokenizer,
        text: str,
        source_ids: Ids,
        *,
        reader_key: str = "",
        extras: frozenset[str] = frozenset(),
        edits: Edits | None = None,
    ) -> None:
        if extras - {"hook_head_output"}:
            raise ValueError(f"a session records row by row; it cannot record {sorted(extras - {'hook_head_output'})}")
        config = model.config
        most = len(source_ids) - 1 + EXTRA_LENGTH
        super().__init__(tokenizer, (config.bos_id,), {config.eos_id}, config.vocab_size, most)
        self._model, self._tokenizer, self._text = model, tokenizer, text
        self._reader_key = reader_key
        self._source_ids = tuple(source_ids)
        self._record = ALWAYS_RECORDED | extras
        self._edits = self._edit_functions(edits)
        self._rows: list[tuple[Recorded, int]] = []
        self._cache = model.new_cache()
        with torch.inference_mode(), listen(record=self._record, edits=self._edits) as recorded:
            self._memory = model.encode(torch.tensor([self._source_ids], device=model.device))
        self._encoder_recorded: Recorded = recorded

    @property
    def num_bytes(self) -> int:
        """About how many bytes the finished session holds: query, key, value and output of every row, in float32."""
        config, rows = self._model.config, self.max_steps + len(self.target_ids)
        return 4 * 4 * rows * config.d_model * sum(layers for layers, _ in config.shapes.values())

    def _trace(self) -> Trace:
        recorded = join_recorded([self._encoder_recorded]) | join_recorded([recorded for recorded, _ in self._rows])
        return build_trace(
            self._model,
            self._tokenizer,
            self._reader_key,
            self._text,
            self._source_ids,
            self._written,
            recorded,
            predicted_ids=[likeliest for _, likeliest in self._rows],
            steps=self.steps,
            edits=self._edits,
        )

    def _next_logits(self) -> Float[Tensor, " vocab"]:
        last = torch.tensor([self.target_ids[-1:]], device=self._model.device)
        with listen(record=self._record, edits=self._edits) as recorded:
            hidden = self._model.decode(last, self._memory, cache=self._cache)
        logits: Tensor = self._model.projection(hidden[0, -1])
        self._rows.append((recorded, most_probable(logits)))
        return logits

    def _forget_unwritten(self) -> None:
        del self._rows[len(self._written) :]
        if self._written:
            self._cache.truncate(len(self._written))
        else:
            # The memory's keys and values are recorded with the first row, so they are computed with it again.
            self._cache = self._model.new_cache()

    def _own_rows(self) -> None:
        self._rows, self._cache = list(self._rows), self._cache.copy()

    def _edit_from_here(self, edits: Edits) -> None:
        begun = len(self._written)
        later = self._edit_functions(edits if isinstance(edits, Mapping) else edits_from(edits, begun))
        self._check_later_edits(later)
        self._edits = change_edits(self._edits, later, begun)

    def _edit_functions(self, edits: Edits | None) -> Mapping[str, Edit]:
        return edit_functions(edits, self._model, num_source=len(self._source_ids), num_target=self.max_steps)

    def _check_later_edits(self, edits: Mapping[str, Edit]) -> None:
        if of_encoder := sorted(name for name in edits if name.startswith("encoder.")):
            raise SessionError(
                "A branch uses the encoder's output of its session, so it cannot edit {of_encoder}. Start a new "
                "session with this edit, or edit only the decoder.",
                of_encoder=of_encoder[0],
            )
        of_memory = sorted(
            name for name in edits if name.endswith(("cross_attention.hook_key", "cross_attention.hook_value"))
        )
        if of_memory and self._written:
            message = (
                "The keys and values of the encoder's output (memory) are computed only in the first step, so an edit "
                "of {of_memory} after {num_written} steps would change nothing. Branch before the first step, or edit "
                "the scores, the weights or the head output."
            )
            raise SessionError(message, of_memory=of_memory[0], num_written=len(self._written))
