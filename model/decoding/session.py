"""Decode one sentence step by step: forwards, backwards, or with a token of one's own.

Each step computes one row (key/value cache) and keeps what the hooks recorded of it, so that the finished session is a
trace, equal to one teacher-forced pass over the same tokens.
"""

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from model.decoding.prefix_batch import EXTRA_LENGTH
from model.decoding.sampling import Draws
from model.errors import SessionError, TokenError
from model.nn.edit_hooks import Edits, change_edits, edit_functions
from model.nn.edits import edits_from
from model.nn.encoder_decoder import EncoderDecoder
from model.nn.hooks import ALWAYS_RECORDED, Edit, listen
from model.tokenizer import Tokenizer
from model.trace.building import build_trace, join_recorded
from model.trace.steps import DecodingStep, describe_steps, most_probable
from model.trace.trace import Recorded, Trace


class Written(NamedTuple):
    """One row of the decoder: the token it wrote, what was recorded, and the likeliest token."""

    token_id: int
    recorded: Recorded
    likeliest: int


class Described(NamedTuple):
    """The steps that are described, and the logits [vocab] of the rows after them, which nobody has read yet."""

    steps: tuple[DecodingStep, ...] = ()
    logits: tuple[Tensor, ...] = ()


class DecodingSession:
    """A translation that is written one token at a time.

    Greedy unless a token is forced or drawn. At most `EXTRA_LENGTH` tokens more than the source are written (§6.1).

    Args:
        model, tokenizer: of the translator.
        text: the source sentence.
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
        source_ids: Sequence[int],
        *,
        reader_key: str = "",
        extras: frozenset[str] = frozenset(),
        edits: Edits | None = None,
    ) -> None:
        if extras - {"hook_head_output"}:
            raise ValueError(f"a session records row by row; it cannot record {sorted(extras - {'hook_head_output'})}")
        self._model, self._tokenizer, self._text = model, tokenizer, text
        self._reader_key = reader_key
        self._source_ids = tuple(source_ids)
        self._record = ALWAYS_RECORDED | extras
        self._edits = self._edit_functions(edits)
        self._written: list[Written] = []
        self._described = Described()
        self._cache = model.new_cache()
        with torch.inference_mode(), listen(record=self._record, edits=self._edits) as recorded:
            self._memory = model.encode(torch.tensor([self._source_ids], device=model.device))
        self._encoder_recorded: Recorded = recorded

    @property
    def steps(self) -> tuple[DecodingStep, ...]:
        """The steps so far; new ones are described together, when they are read."""
        # Viewers share finished sessions: two threads may be here at once, with the same result.
        known, logits = self._described
        if logits:
            token_ids = [row.token_id for row in self._written[len(known) :]]
            known = (*known, *describe_steps(torch.stack(logits), token_ids, len(known), self._tokenizer))
            self._described = Described(known)
        return known

    @property
    def target_ids(self) -> tuple[int, ...]:
        """What the decoder has read or reads next: <s> and the tokens chosen so far."""
        return (self._model.config.bos_id, *self.written_ids)

    @property
    def written_ids(self) -> tuple[int, ...]:
        """The tokens chosen so far."""
        return tuple(row.token_id for row in self._written)

    @property
    def max_steps(self) -> int:
        """Steps after which a translation ends without </s>."""
        return len(self._source_ids) - 1 + EXTRA_LENGTH

    @property
    def finished(self) -> bool:
        """Whether </s> was chosen or the longest allowed translation is reached."""
        ended = bool(self._written) and self._written[-1].token_id == self._model.config.eos_id
        return ended or len(self._written) >= self.max_steps

    @property
    def num_bytes(self) -> int:
        """About how many bytes the finished session holds: query, key, value and output of every row, in float32."""
        config, rows = self._model.config, self.max_steps + len(self.target_ids)
        return 4 * 4 * rows * config.d_model * sum(layers for layers, _ in config.shapes.values())

    @property
    def translation(self) -> str:
        """The text so far."""
        return self._tokenizer.decode(self.written_ids)

    def step(self, draws: Draws | None = None) -> DecodingStep:
        """Write the most probable next token, or the one that these draws give.

        Raises:
            SessionError: the translation is finished.
        """
        self._write(draws)
        return self.steps[-1]

    def force(self, token: str | int) -> DecodingStep:
        """Write this token (a piece of the vocabulary, or its id) as the next one, however improbable.

        Raises:
            TokenError: the vocabulary has no such piece or id.
            SessionError: the translation is finished.
        """
        token_id = self._tokenizer.token_id(token) if isinstance(token, str) else token
        if not 0 <= token_id < self._model.config.vocab_size:
            raise TokenError(
                "Token ids run from 0 to {vocab_size}, got {token_id}.",
                vocab_size=self._model.config.vocab_size - 1,
                token_id=token_id,
            )
        self._advance(lambda _, likeliest: token_id)
        return self.steps[-1]

    def back(self) -> None:
        """Take the last token back. Raises a SessionError if nothing is written yet."""
        if not self._written:
            raise SessionError("Nothing is written yet, so there is no step to take back.")
        self._written.pop()
        steps, logits = self._described
        self._described = Described(steps, logits[:-1]) if logits else Described(steps[:-1])
        self._forget_unwritten()

    def run(self, draws: Draws | None = None) -> None:
        """Write on until the translation is finished, greedily or by these draws."""
        while not self.finished:
            self._write(draws)

    def branch(self, *, edits: Edits | None = None) -> "DecodingSession":
        """An independent session at the same step; both share what was computed so far (memory, rows).

        Args:
            edits: of the decoder for the rows from here on, instead of this session's own, named or as functions at
                hook points; by default the same. The encoding, the memory's keys and the rows so far stay as computed;
                rows that are taken back and written again are computed under the edits they had.

        Raises:
            SessionError: an edit is of the encoder, or of the memory's keys or values after they were computed.
            EditError: a named edit is of a row before this one, or of something that does not exist.
            ValueError: there is no such hook point.
        """
        other = copy.copy(self)
        other._written = list(self._written)
        other._cache = self._cache.copy()
        if edits is not None:
            begun = len(self._written)
            later = self._edit_functions(edits if isinstance(edits, Mapping) else edits_from(edits, begun))
            self._check_later_edits(later)
            other._edits = change_edits(self._edits, later, begun)
        return other

    def trace(self) -> Trace:
        """Everything computed so far, one target row per step. Raises a SessionError if nothing is written yet."""
        if not self._written:
            raise SessionError("Nothing is written yet; take a step first.")
        return build_trace(
            reader_key=self._reader_key,
            text=self._text,
            translation=self.translation,
            tokenizer=self._tokenizer,
            source_ids=self._source_ids,
            target_ids=self.target_ids[:-1],
            predicted_ids=[row.likeliest for row in self._written],
            steps=self.steps,
            recorded={
                **join_recorded([self._encoder_recorded]),
                **join_recorded([row.recorded for row in self._written]),
            },
            model=self._model,
            edits=self._edits,
        )

    def _write(self, draws: Draws | None) -> None:
        if draws is None:
            self._advance(lambda _, likeliest: likeliest)
        else:
            self._advance(lambda logits, _: draws.draw(logits, len(self._written)))

    @torch.inference_mode()
    def _advance(self, choose: Callable[[Tensor, int], int]) -> None:
        """Write the token that `choose` returns for the logits and the likeliest token."""
        if self.finished:
            raise SessionError("The translation is finished; step back to change it.")
        last = torch.tensor([[self._next_read]], device=self._model.device)
        try:
            with listen(record=self._record, edits=self._edits) as recorded:
                hidden = self._model.decode(last, self._memory, cache=self._cache)
            logits: Tensor = self._model.projection(hidden[0, -1])
            likeliest = most_probable(logits)
            token_id = choose(logits, likeliest)
        except BaseException:
            # An edit may raise half-way: rows that some layers have cached by then must not stay.
            self._forget_unwritten()
            raise
        self._written.append(Written(token_id, recorded, likeliest))
        self._described = self._described._replace(logits=(*self._described.logits, logits))

    @property
    def _next_read(self) -> int:
        return self._written[-1].token_id if self._written else self._model.config.bos_id

    def _forget_unwritten(self) -> None:
        if self._written:
            self._cache.truncate(len(self._written))
        else:
            # The memory's keys and values are recorded with the first row, so they are computed with it again.
            self._cache = self._model.new_cache()

    def _edit_functions(self, edits: Edits | None) -> Mapping[str, Edit]:
        return edit_functions(edits, self._model, num_source=len(self._source_ids), num_target=self.max_steps)

    def _check_later_edits(self, edits: Mapping[str, Edit]) -> None:
        if of_encoder := sorted(name for name in edits if name.startswith("encoder.")):
            raise SessionError(
                "A branch shares the encoder's run with the session it leaves, so it cannot edit {of_encoder}. "
                "Begin a new session with this edit, or edit the decoder only.",
                of_encoder=of_encoder[0],
            )
        of_memory = sorted(
            name for name in edits if name.endswith(("cross_attention.hook_key", "cross_attention.hook_value"))
        )
        if of_memory and self._written:
            raise SessionError(
                "The memory's keys and values are computed in the first step only, so an edit of {of_memory} "
                "after {num_written} steps would change nothing. Branch before the first step, or edit the "
                "scores, the weights or the head output.",
                of_memory=of_memory[0],
                num_written=len(self._written),
            )
