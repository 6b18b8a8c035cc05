"""Compare what a model writes with what that becomes when attention is edited from one step on."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from model.analysis.word_diff import WordSpan, word_diff
from model.errors import SessionError
from model.nn.edits import HeadEdit, edits_from
from model.reader import Writer
from model.trace.steps import DecodingStep


@dataclass(frozen=True, kw_only=True)
class EditComparison:
    """What a model wrote, and what it becomes under edits."""

    step: int  #: from which the edits act, from 0
    #: as they acted: those of the decoder from the row of `step` on, those of the encoder on all that it reads.
    edits: tuple[HeadEdit, ...]
    #: original_steps, edited_steps: all steps of each; before `step` the tokens are the same.
    original_steps: tuple[DecodingStep, ...]
    edited_steps: tuple[DecodingStep, ...]
    original_text: str
    edited_text: str
    #: log_prob_before, log_prob_after: of the original token at `step`, without and with the edits, in nats.
    log_prob_before: float
    log_prob_after: float
    #: the first step that chose another token, or that only one of them has; None if none did.
    first_difference: int | None
    text_diff: tuple[WordSpan, ...]  #: the texts word by word

    @property
    def log_prob_change(self) -> float:
        """How much more probable the original token became (nats); below 0, how much less."""
        return self.log_prob_after - self.log_prob_before


def compare_edit(writer: Writer, text: str, step: int, edits: Sequence[HeadEdit]) -> EditComparison:
    """Write, and write once more from `step` on under edits of attention; the tokens before `step` are kept.

    Edits of the decoder act on no row before the one that writes that step, edits of the encoder on the whole encoding.
    Of a decoder alone, the rows of its text come first.

    Raises:
        InputTextError: the text is blank or too long.
        SessionError: the translation has no such step.
        EditError: an edit names what does not exist, a key that the mask forbids, or a row before `step`.
    """
    original = writer.decode(text)
    rows_before = len(original.target_ids) - 1
    original.run()
    if not 0 <= step < len(original.steps):
        message = "Steps of this translation run from 0 to {num_steps}, got {step}."
        raise SessionError(message, num_steps=len(original.steps) - 1, step=step)
    acting = edits_from(edits, rows_before + step)
    edited = writer.decode(text, edits=acting)
    for kept in original.steps[:step]:
        edited.force(kept.token_id)
    token = original.steps[step]
    log_prob_after = edited.force(token.token_id).log_prob
    edited.back()
    edited.run()
    pairs = enumerate(zip_longest(original.steps, edited.steps))
    return EditComparison(
        step=step,
        edits=acting,
        original_steps=original.steps,
        edited_steps=edited.steps,
        original_text=original.translation,
        edited_text=edited.translation,
        log_prob_before=token.log_prob,
        log_prob_after=log_prob_after,
        first_difference=next((i for i, (a, b) in pairs if not a or not b or a.token_id != b.token_id), None),
        text_diff=word_diff(original.translation, edited.translation),
    )
