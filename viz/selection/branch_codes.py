"""What makes a branch, and its short code in a URL. Numbers count from 0.

A branch leaves its parent (0: the model's own translation, n: the n-th branch of the list) at a step, by one action:

| action | code | |
|---|---|---|
| write tokens | `0-5-t812-t90` | from parent 0, at step 5: tokens 812 and 90, then what the model finds most probable |
| edit a head | `1-3-off-c-2-7`, `1-3-uniform-d-2-7-once`, `0-3-point-c-2-7-4` | layer 2, head 7, perhaps key 4 |
| draw | `0-5-draw-80-40-95-7` | temperature and top p in hundredths, top k (0: all), seed |

Sites are e (encoder.self), d (decoder.self) and c (decoder.cross). Whether a step, a token or a head exists shows when
the branch is grown.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from model.errors import SessionError
from viz.selection.choices import EDITS
from viz.text.messages import Message, _, said
from viz.text.written import DECODER, ENCODER, NAMES, display_token, head_label

MAX_BRANCHES: Final = 24
#: A word of more pieces than this is not written at once.
MAX_PIECES: Final = 12
_OFF, _UNIFORM, _POINT = EDITS
_SITE_OF: Final = {names.tag: site for site, names in NAMES.items()}
_NUMBER: Final = r"(0|[1-9][0-9]{0,5})"
_CODE: Final = re.compile(rf"{_NUMBER}-{_NUMBER}-([a-z0-9-]{{1,120}})", re.ASCII)
_WRITE: Final = re.compile(rf"t{_NUMBER}(?:-t{_NUMBER})*", re.ASCII)
_EDIT: Final = re.compile(
    rf"(?:({_OFF}|{_UNIFORM})|{_POINT})-([{''.join(_SITE_OF)}])-{_NUMBER}-{_NUMBER}(?(1)|-{_NUMBER})(-once)?", re.ASCII
)
_DRAW: Final = re.compile(rf"draw-{_NUMBER}-{_NUMBER}-{_NUMBER}-{_NUMBER}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Write:
    """Other tokens, one after the other."""

    token_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class EditHead:
    """A head's attention is changed, from a step on or `once`: never at encoder.self, which runs before the first step.

    `edit` is "off", "uniform" or "point"; `key` is the only key that the head looks at, if it is "point".
    """

    edit: str
    site: str
    layer: int
    head: int
    key: int | None = None
    once: bool = False

    def __post_init__(self) -> None:
        assert (self.key is not None) == (self.edit == _POINT), "a key belongs to pointing, and only to that"

    @property
    def is_of_encoder(self) -> bool:
        """Whether it changes the whole encoding, and with it every step."""
        return self.site == ENCODER


@dataclass(frozen=True, slots=True)
class Draw:
    """Tokens are drawn up to the end; temperature and top p in hundredths, a top k of 0 for all."""

    temperature: int
    top_k: int
    top_p: int
    seed: int


Action = Write | EditHead | Draw
#: What was done from the model's own translation to a branch, first thing first: (step, action).
Path = tuple[tuple[int, Action], ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """A branch: which one it leaves, at which step, and by what."""

    parent: int
    step: int
    action: Action


@dataclass(frozen=True, slots=True)
class Reading:
    """The choices of a list of codes that can be read; their parents are numbers of `choices`.

    `number_of` leads from a number of the list to the one here, also for 0; `problems` has a sentence about each other.
    """

    choices: tuple[Choice, ...]
    number_of: Mapping[int, int]
    problems: tuple[Message, ...]


#: The model's own translation.
ORIGINAL: Final = said("The model’s own")


def write_code(choice: Choice) -> str:
    """The code of a choice."""
    match choice.action:
        case Write(token_ids):
            done = "-".join(f"t{token_id}" for token_id in token_ids)
        case EditHead(edit, site, layer, head, key, once):
            parts = (edit, NAMES[site].tag, layer, head, key, "once" if once else None)
            done = "-".join(str(part) for part in parts if part is not None)
        case Draw(temperature, top_k, top_p, seed):
            done = f"draw-{temperature}-{top_k}-{top_p}-{seed}"
    return f"{choice.parent}-{choice.step}-{done}"


def read_code(code: str, number: int) -> Choice:
    """The choice behind a branch's code. Raises a SessionError if it is no code, or leaves a branch not before it."""
    match = _CODE.fullmatch(code)
    action = None if match is None else _read_action(match[3])
    if match is None or action is None:
        raise SessionError("The URL names an unknown branch, “{code}”.", code=code[:60])
    parent, step = int(match[1]), int(match[2])
    if parent >= number:
        message = "In the URL, branch “{code}” starts from branch {parent}, which does not come before it."
        raise SessionError(message, code=code, parent=parent)
    return Choice(parent, step, action)


def read_codes(codes: Sequence[str]) -> Reading:
    """All choices that can be read; a code that cannot is left out, with the branches that leave it."""
    choices: list[Choice] = []
    number_of = {0: 0}
    problems: list[Message] = []
    for number, code in enumerate(codes[:MAX_BRANCHES], start=1):
        try:
            choice = read_code(code, number)
        except SessionError as error:
            problems.append(
                said("{error} This branch is ignored, together with the branches that start from it.", error=error)
            )
            continue
        if choice.parent in number_of:
            choices.append(replace(choice, parent=number_of[choice.parent]))
            number_of[number] = len(choices)
    if len(codes) > MAX_BRANCHES:
        have = len(codes)
        problems.append(said("The URL has {have} branches; the first {most} are kept.", have=have, most=MAX_BRANCHES))
    return Reading(tuple(choices), number_of, tuple(problems))


def without(choices: Sequence[Choice], number: int) -> tuple[tuple[Choice, ...], Mapping[int, int]]:
    """The choices without branch `number` and all that leave it, and old number → new one of those that stay."""
    kept: list[Choice] = []
    number_of = {0: 0}
    for own, choice in enumerate(choices, start=1):
        if own != number and choice.parent in number_of:
            kept.append(replace(choice, parent=number_of[choice.parent]))
            number_of[own] = len(kept)
    return tuple(kept), number_of


def line_of(choices: Sequence[Choice], number: int) -> list[int]:
    """Branch `number` and those that it comes from, the first one first."""
    line = []
    while number:
        line.append(number)
        number = choices[number - 1].parent
    return line[::-1]


def path_of(choices: Sequence[Choice], number: int) -> Path:
    """What was done from the model's own translation to branch `number`."""
    return tuple((choices[own - 1].step, choices[own - 1].action) for own in line_of(choices, number))


def origin_of(choices: Sequence[Choice], number: int, step: int, action: Action) -> int:
    """The branch that an action at a step of branch `number` really leaves.

    Before the step at which a branch leaves its parent both are the same, so the action is one on the parent; so it is
    where it takes the place of the very token that the branch wrote or drew there. An edit of the encoder holds
    throughout its branch.
    """
    while number:
        own = choices[number - 1]
        holds_throughout = isinstance(own.action, EditHead) and own.action.is_of_encoder
        is_replaced = step == own.step and not isinstance(own.action, EditHead) and not isinstance(action, EditHead)
        if not is_replaced and (step >= own.step or holds_throughout):
            break
        number = own.parent
    return number


def _read_action(text: str) -> Action | None:
    if _WRITE.fullmatch(text):
        token_ids = tuple(int(part[1:]) for part in text.split("-"))
        return Write(token_ids) if len(token_ids) <= MAX_PIECES else None
    if match := _EDIT.fullmatch(text):
        edit, letter, layer, head, key, once = match.groups()
        site = _SITE_OF[letter]
        if once and site == ENCODER:
            return None
        return EditHead(edit or _POINT, site, int(layer), int(head), None if key is None else int(key), bool(once))
    if match := _DRAW.fullmatch(text):
        temperature, top_k, top_p, seed = map(int, match.groups())
        return Draw(temperature, top_k, top_p, seed) if 1 <= temperature <= 10_000 and 1 <= top_p <= 100 else None
    return None


def deed(action: Action, vocabulary: Sequence[str], source_tokens: Sequence[str]) -> str:
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
            settings += [_("top-k {count}", count=top_k)] if top_k else []
            settings += [_("top-p {value:g}", value=top_p / 100)] if top_p < 100 else []
            return _("sampled at {settings}", settings=_(", ").join((*settings, _("seed {number}", number=seed))))


def summary(number: int, choice: Choice | None, vocabulary: Sequence[str], source_tokens: Sequence[str] = ()) -> str:
    """A branch in one line; without a choice, the model's own translation."""
    if choice is None:
        return _(ORIGINAL)
    message = "Branch {number} · step {step}: {deed}"
    return _(message, number=number, step=choice.step + 1, deed=deed(choice.action, vocabulary, source_tokens))


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
