"""What people read about a branch: what was done, and where. Counts from 1."""

from collections.abc import Sequence
from typing import Final

from viz.pages.decoding.branch_codes import Action, Choice, Draw, EditHead, Write
from viz.text.messages import _, said
from viz.text.sites import DECODER, head_label
from viz.text.token_text import display_token

#: The model's own translation.
ORIGINAL: Final = said("The model’s own")


def deed(action: Action, vocabulary: Sequence[str], source_tokens: Sequence[str] = ()) -> str:
    """What was done, as the end of a sentence; an id or a key that does not exist is named by its number."""
    match action:
        case Write(token_ids):
            tokens = (
                display_token(vocabulary[id_]) if id_ < len(vocabulary) else _("token {number}", number=id_)
                for id_ in token_ids
            )
            return _("wrote “{tokens}”", tokens=" ".join(tokens))
        case EditHead():
            edited = _edited(action, source_tokens)
            return _("{edited}, this step only", edited=edited) if action.once else edited
        case Draw(temperature, top_k, top_p, seed):
            settings = [_("temperature {value:g}", value=temperature / 100)]
            settings += [_("top k {count}", count=top_k)] if top_k else []
            settings += [_("top p {value:g}", value=top_p / 100)] if top_p < 100 else []
            return _("drawn at {settings}", settings=_(", ").join((*settings, _("seed {number}", number=seed))))


def summary(number: int, choice: Choice | None, vocabulary: Sequence[str], source_tokens: Sequence[str] = ()) -> str:
    """A branch in one line; without a choice, the model's own translation."""
    if choice is None:
        return _(ORIGINAL)
    return _(
        "Branch {number} · step {step}: {deed}",
        number=number,
        step=choice.step + 1,
        deed=deed(choice.action, vocabulary, source_tokens),
    )


def _edited(action: EditHead, source_tokens: Sequence[str]) -> str:
    head, key = head_label(action.layer, action.head, action.site), action.key
    if action.edit == "off":
        return _("{head} switched off", head=head)
    if action.edit == "uniform":
        return _("{head} made uniform", head=head)
    assert key is not None, "pointing has a key"
    if action.site == DECODER or key >= len(source_tokens):
        return _("{head} pointed at token {number}", head=head, number=key + 1)
    token = display_token(source_tokens[key])
    return _("{head} pointed at token {number} “{token}”", head=head, number=key + 1, token=token)
