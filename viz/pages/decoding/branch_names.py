"""What people read about a branch: what was done, and where. Counts from 1."""

from collections.abc import Sequence

from viz.core.sites import DECODER, head_label
from viz.core.token_text import display_token
from viz.pages.decoding.branch_codes import Action, Choice, Draw, EditHead, Write

#: The model's own translation.
ORIGINAL = "The model’s own"


def deed(action: Action, vocabulary: Sequence[str], source_tokens: Sequence[str] = ()) -> str:
    """What was done, as the end of a sentence; an id or a key that does not exist is named by its number."""
    match action:
        case Write(token_ids):
            tokens = (display_token(vocabulary[i]) if i < len(vocabulary) else f"token {i}" for i in token_ids)
            return f"wrote “{' '.join(tokens)}”"
        case EditHead(edit, site, layer, head, key, once):
            done = {"off": "switched off", "uniform": "made uniform"}.get(
                edit
            ) or f"pointed at {_key(site, key, source_tokens)}"
            return f"{head_label(layer, head, site)} {done}{', this step only' if once else ''}"
        case Draw(temperature, top_k, top_p, seed):
            limits = f"{f', top k {top_k}' if top_k else ''}{f', top p {top_p / 100:g}' if top_p < 100 else ''}"
            return f"drawn at temperature {temperature / 100:g}{limits}, seed {seed}"


def summary(number: int, choice: Choice | None, vocabulary: Sequence[str], source_tokens: Sequence[str] = ()) -> str:
    """A branch in one line; without a choice, the model's own translation."""
    if choice is None:
        return ORIGINAL
    return f"Branch {number} · step {choice.step + 1}: {deed(choice.action, vocabulary, source_tokens)}"


def _key(site: str, key: int | None, source_tokens: Sequence[str]) -> str:
    assert key is not None, "pointing has a key"
    token = f" “{display_token(source_tokens[key])}”" if site != DECODER and key < len(source_tokens) else ""
    return f"token {key + 1}{token}"
