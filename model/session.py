"""Decoding one sentence step by step: forwards, backwards, or with a token of one's own. Knows nothing of pages.

Each step computes one row (key/value cache) and keeps what the hooks recorded of it, so that the finished session is a
trace, equal to one teacher-forced pass over the same tokens.
"""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from model.decoding import EXTRA_LENGTH
from model.errors import SessionError, TokenError
from model.hooks import ALWAYS_RECORDED, Edit, listen
from model.steps import DecodingStep, describe_step, most_probable
from model.tokenizer import Tokenizer
from model.trace import Recorded, Trace, build_trace, join_recorded
from model.transformer import Transformer


class DecodingSession:
    """A translation in the making.

    Greedy unless a token is forced. At most `EXTRA_LENGTH` tokens more than the source are written (§6.1).

    Args:
        model, tokenizer: what translates.
        text: the source sentence.
        source_ids: its token ids, ending with </s>.
        extras: hooks to record beyond those always recorded; of those, only "hook_head_output" grows row by row.
        edits: full hook name → function, applied in every step.
    """

    def __init__(
        self,
        model: Transformer,
        tokenizer: Tokenizer,
        text: str,
        source_ids: Sequence[int],
        *,
        extras: frozenset[str] = frozenset(),
        edits: Mapping[str, Edit] | None = None,
    ) -> None:
        if extras - {"hook_head_output"}:
            raise ValueError(f"a session records row by row; it cannot record {sorted(extras - {'hook_head_output'})}")
        self._model, self._tokenizer, self._text = model, tokenizer, text
        self._source_ids = tuple(source_ids)
        self._record = ALWAYS_RECORDED | extras
        self._edits = edits or {}
        self._steps: list[DecodingStep] = []
        self._rows: list[Recorded] = []
        self._predicted: list[int] = []
        self._cache = model.new_cache()
        with torch.inference_mode(), listen(record=self._record, edits=self._edits) as recorded:
            self._memory = model.encode(torch.tensor([self._source_ids], device=model.device))
        self._encoder_recorded: Recorded = recorded

    @property
    def steps(self) -> tuple[DecodingStep, ...]:
        """The steps so far."""
        return tuple(self._steps)

    @property
    def target_ids(self) -> tuple[int, ...]:
        """What the decoder has read or reads next: <s> and the tokens chosen so far."""
        return (self._model.config.bos_id, *(step.token_id for step in self._steps))

    @property
    def max_steps(self) -> int:
        """Steps after which a translation ends without </s>."""
        return len(self._source_ids) - 1 + EXTRA_LENGTH

    @property
    def finished(self) -> bool:
        """Whether </s> was chosen or the longest allowed translation is reached."""
        ended = bool(self._steps) and self._steps[-1].token_id == self._model.config.eos_id
        return ended or len(self._steps) >= self.max_steps

    @property
    def translation(self) -> str:
        """The text so far."""
        return self._tokenizer.decode([step.token_id for step in self._steps])

    def step(self) -> DecodingStep:
        """Write the most probable next token.

        Raises:
            SessionError: the translation is finished.
        """
        return self._advance(None)

    def force(self, token: str | int) -> DecodingStep:
        """Write this token (a piece of the vocabulary, or its id) as the next one, however improbable.

        Raises:
            TokenError: the vocabulary has no such piece or id.
            SessionError: the translation is finished.
        """
        token_id = self._tokenizer.token_id(token) if isinstance(token, str) else token
        if not 0 <= token_id < self._model.config.vocab_size:
            raise TokenError(f"Token ids run from 0 to {self._model.config.vocab_size - 1}, got {token_id}.")
        return self._advance(token_id)

    def back(self) -> None:
        """Take the last token back.

        Raises:
            SessionError: nothing is written yet.
        """
        if not self._steps:
            raise SessionError("Nothing is written yet, so there is no step to take back.")
        for done in (self._steps, self._rows, self._predicted):
            done.pop()
        self._cache.truncate(len(self._steps))

    def run(self) -> None:
        """Write on until the translation is finished."""
        while not self.finished:
            self.step()

    def trace(self) -> Trace:
        """Everything computed so far, one target row per step.

        Raises:
            SessionError: nothing is written yet.
        """
        if not self._steps:
            raise SessionError("Nothing is written yet; take a step first.")
        return build_trace(
            text=self._text,
            translation=self.translation,
            tokenizer=self._tokenizer,
            source_ids=self._source_ids,
            target_ids=self.target_ids[:-1],
            predicted_ids=self._predicted,
            steps=self._steps,
            recorded={**join_recorded([self._encoder_recorded]), **join_recorded(self._rows)},
            config=self._model.config,
            edits=self._edits,
        )

    @torch.inference_mode()
    def _advance(self, forced: int | None) -> DecodingStep:
        if self.finished:
            raise SessionError("The translation is finished; step back to change it.")
        last = torch.tensor([[self.target_ids[-1]]], device=self._model.device)
        try:
            with listen(record=self._record, edits=self._edits) as recorded:
                hidden = self._model.decode(last, self._memory, cache=self._cache)
        except BaseException:
            # An edit may raise half-way: what some layers have cached of this row must not stay.
            self._cache.truncate(len(self._steps))
            raise
        logits: Tensor = self._model.projection(hidden[0, -1])
        predicted = most_probable(logits)
        step = describe_step(logits, predicted if forced is None else forced, len(self._steps), self._tokenizer)
        self._steps.append(step)
        self._rows.append(recorded)
        self._predicted.append(predicted)
        return step


def forced_steps(logits: Tensor, token_ids: Sequence[int], tokenizer: Tokenizer) -> list[DecodingStep]:
    """The steps of a teacher-forced pass: row i of the logits [target, vocab], had it chosen `token_ids[i]`."""
    return [describe_step(logits[i], token_id, i, tokenizer) for i, token_id in enumerate(token_ids)]
