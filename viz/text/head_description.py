"""Say in sentences what a head does over a corpus (`model.analysis.head_description.describe`), its numbers apart."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from viz.text import written
from viz.text.messages import _, in_a_row, said, shown, with_and, with_commas
from viz.text.metrics import JOBS
from viz.text.written import DECODER

if TYPE_CHECKING:
    from model.analysis.head_description.describe import HeadDescription, More
    from model.analysis.head_description.table import Number

#: What a head attends to, by cell.
WHERE: Final[Mapping[str, str]] = {
    "self": said("the token itself"),
    "back1": said("the previous token"),
    "back2": said("the token two positions before"),
    "ahead1": said("the next token"),
    "ahead2": said("the token two positions after"),
    "back1-3": said("the three previous tokens"),
    "ahead1-3": said("the three next tokens"),
    "beside": said("the two neighbouring tokens"),
    "near": said("tokens at most two positions away"),
    "far": said("tokens at least five positions away"),
    "back": said("earlier tokens"),
    "ahead": said("later tokens"),
    "first": said("the first token"),
    "punctuation": said("punctuation"),
    "articles": said("articles and determiners"),
    "prepositions": said("prepositions"),
    "pronouns": said("pronouns"),
    "auxiliaries": said("auxiliary verbs and negations"),
    "conjunctions": said("conjunctions"),
    "particles": said("particles"),
    "function": said("function words"),
    "content words": said("content words"),
    "numbers": said("numbers"),
    "names": said("capitalised words inside the sentence"),
    "persons": said("words for people"),
    "same": said("the same token elsewhere"),
    "after same": said("the token after an earlier copy of this one"),
    "word": said("other tokens of the same word"),
    "content ahead": said("the next content word"),
    "content back": said("the previous content word"),
    "source written": said("the source token to which all heads together attend most"),
    "source read": said("the source token to which all heads together attend most in the row before"),
    "source next": said("the source token to which all heads together attend most in the next row"),
    "diagonal": said("the same relative position in the source"),
    "second half": said("the second half of the source"),
    "copied": said("a source token spelled like the one being written"),
    "copied before": said("a source token spelled like the one just written"),
}
#: The same of a cross-attention whose heads tell what is written from what is read.
_SOURCES: Final[Mapping[str, str]] = {
    "source written": said("the source token aligned with the token being written"),
    "source read": said("the source token aligned with the token just read"),
    "source next": said("the source token aligned with the token after the one being written"),
}
#: The same of a decoder, which sees nothing that comes later; and of a translation's, whose rows stand for what they
#: write.
_BEFORE: Final[Mapping[str, str]] = {
    "near": said("the token itself and the two before it"),
    "same": said("earlier copies of the token"),
}
_READ: Final[Mapping[str, str]] = {
    "self": said("the token just read"),
    "back1": said("the token before the one just read"),
    "back2": said("the token two positions before the one just read"),
    "back1-3": said("the three tokens before the one just read"),
    "beside": said("the token before the one just read"),
    "near": said("the token just read and the two before it"),
    "far": said("tokens at least five positions before the one just read"),
    "back": said("tokens before the one just read"),
    "same": said("earlier copies of the token just read"),
    "content back": said("the last content word before the token just read"),
}
_NAMES: Final[Mapping[str, str]] = {
    "rests": said("weight at rest"),
    "distance": said("mean distance, as a multiple of that of uniform attention"),
    "fill": said("spread over the tokens"),
    "by distance": said("share of the variation in its weights that distance alone explains"),
    "same keys": said("share of the variation in its weights that the key alone explains"),
}
#: What no text has alone.
_OF_PICTURE: Final = ("by distance", "same keys")
#: What an unusual metric says, above the typical head and below it.
_UNUSUAL: Final[Mapping[str, tuple[str, str]]] = {
    "distance": (
        said("Attends to unusually distant tokens: {value} times as far away as with uniform attention, {rank}."),
        said("Attends to unusually close tokens: {value} times as far away as with uniform attention, {rank}."),
    ),
    "fill": (
        said("Spreads unusually evenly: as widely as uniform attention over {value} of the tokens, {rank}."),
        said("Attends to unusually few tokens: as narrowly as uniform attention over {value} of them, {rank}."),
    ),
    "by distance": (
        said(
            "Attends by distance more than most heads do: distance explains {value} of the variation in its "
            "weights, {rank}."
        ),
        "",
    ),
    "same keys": (
        said(
            "Attends to the same tokens in every row more than most heads do: the key alone explains {value} of "
            "the variation in its weights, {rank}."
        ),
        "",
    ),
}
_JOBS: Final[Mapping[str, str]] = {
    "prefix_matching": said(
        "Induction: on repeated random tokens, it attends to what followed the earlier occurrence of the same token."
    ),
    "duplicate": said(
        "Duplicate tokens: on repeated random tokens, it attends to the earlier occurrences of the same token."
    ),
}
_ALL: Final = said("Spreads over nearly all tokens: as widely as uniform attention over {share} of them.")
_MOST: Final = said("Spreads over most tokens: as widely as uniform attention over {share} of them.")
_NEARLY_ALL: Final = 0.85
_NEARLY_ALL_TEXTS: Final = 0.95
#: A head is said to do more than most if it is among this part of them.
_FIRST: Final = 0.2
#: A share of the free weight that leaves little to add.
_LARGE: Final = 0.5
#: How far the keys of a cell are from the row.
_STEPS: Final[Mapping[str, set[int]]] = {
    "self": {0}, "back1": {-1}, "back2": {-2}, "ahead1": {1}, "ahead2": {2}, "beside": {-1, 1},
    "back1-3": {-3, -2, -1}, "ahead1-3": {1, 2, 3}, "near": {-2, -1, 0, 1, 2},
}  # fmt: skip
#: Weight at rest that is mentioned beside a rule.
_SOME_REST: Final = 0.1
#: A part of a rule is named with the largest if it is so large beside it.
_AS_LARGE: Final = 0.7


@dataclass(frozen=True, slots=True)
class Line:
    """One sentence about a head, and its numbers."""

    sentence: str
    numbers: str = ""
    name: str = ""  #: what the numbers are of, where they stand apart
    is_first: bool = False  #: whether it is the answer, or said before it


def lines(description: "HeadDescription") -> tuple[Line, ...]:
    """What is said of a head, in the language of the page: a measured job, what rests, the answer, what more there is.

    Of a head that does what many do, what sets it apart comes first, as do sinks that get more than anything else.
    """
    found = []
    if description.job is not None:
        found.append(_job(description))
    if description.is_idle:
        rest = description.rest
        message = "{share} of its weight is at rest on {place}."
        sentence = _(message, share=_amount(rest), place=_place(description))
        found.append(Line(sentence, with_commas([*_spread(rest, description), _middle(rest)]), metric_name("rests")))
    main, is_said = description.main, True
    before: list[Line] = []
    after: list[Line] = []
    for more in description.more:
        number = more.number
        is_ahead = more.kind == "sinks" and main is not None and more.share > main.value
        if (description.is_common or description.is_less) and number is not None and main is not None:
            is_ahead = True
            is_said = is_said and not (number.value >= _LARGE and _overlap(number.metric, main.metric))
        (before if is_ahead else after).append(_more(more, description))
    name = "" if main is None else metric_name(main.metric, description)
    answer = [replace(_answer(description), name=name)] if is_said else []
    first = [replace(line, is_first=True) for line in (*found, *before, *answer)]
    return (*first, *after)


def metric_name(metric: str, description: "HeadDescription | None" = None) -> str:
    """What a metric is called: of a cell, where it is, for this head."""
    return shown(_NAMES[metric] if metric in _NAMES else _where(metric, description))


def _where(metric: str, description: "HeadDescription | None") -> str:
    named: Mapping[str, str] = {}
    if description is not None and description.tells_sources:
        named = _SOURCES
    elif description is not None and description.head.site == DECODER:
        named = _READ if description.writes else _BEFORE
    return named.get(metric, WHERE[metric])


#: What the default corpora are called.
CORPORA: Final[Mapping[str, str]] = {
    "en": said("English texts that come with Headlight, of mixed kinds and lengths"),
    "de": said("German texts that come with Headlight, of mixed kinds and lengths"),
    "zh": said("Chinese texts that come with Headlight, of mixed kinds and lengths"),
}


def corpus_words(language: str, file: str, given: int, total: int) -> str:
    """Over which of our texts, or of a file's, heads were measured, to be named beside what is said."""
    texts = _(CORPORA[language]) if language else _("texts from {file}", file=file)
    if given < total:
        return _("the first {given} of {total} {texts}", given=given, total=total, texts=texts)
    return _("{total} {texts}", total=total, texts=texts)


def _job(description: "HeadDescription") -> Line:
    job = description.job
    assert job is not None
    sentence = shown(_JOBS[job.metric]) if job.metric in _JOBS else _("Job: {name}.", name=JOBS[job.metric].name)
    low, high = ("" if end is None else f"{end:.2f}" for end in (job.low, job.high))
    interval = _("between {low} and {high}", low=low, high=high) if low and high else ""
    return Line(sentence, with_commas([f"{job.value:.2f}", interval]), shown(JOBS[job.metric].name))


def _answer(description: "HeadDescription") -> Line:
    main = description.main
    match description.kind:
        case "nothing":
            message = "No simple rule: where it attends depends on query and key together."
            numbers = [
                _("variation in its weights: {distance} depends only on distance, {keys} only on the key",
                  distance=f"{description.by_distance.value:.0%}", keys=f"{description.same_keys.value:.0%}"),
                _("as widely as uniform attention over {share} of the tokens", share=_amount(description.fill)),
            ]  # fmt: skip
            return Line(_(message), with_commas([*numbers, _at_rest(description)]))
        case "sinks":
            return Line(_to_sinks(description), with_commas([*_on_sinks(description), _at_rest(description)]))
        case "too little":
            if description.job is not None:
                return Line(_("In ordinary texts too little weight is left to say what it attends to."))
            return Line(_("Too little weight is left to say what it attends to."))
    assert main is not None
    if description.kind == "spreads":
        message = _ALL if main.value >= _NEARLY_ALL else _MOST
        numbers = [*_spread(main, description), _rank(main), _at_rest(description)]
        return Line(_(message, share=_amount(main)), with_commas(numbers))
    if description.kind == "unusual":
        return Line(_unusual(main, description), with_commas([*_beside(main, description), _at_rest(description)]))
    # What the sentence has said is not said again.
    says_share = description.kind == "mixed" or (
        description.kind == "rule" and (description.is_common or description.is_less or not _is_most(description))
    )
    share = "" if says_share else _("{share} of its free weight", share=_written(main, main.value))
    even = "" if description.kind == "mixed" else _evenly(main)
    texts = (
        ""
        if main.texts is None or main.texts > _NEARLY_ALL_TEXTS
        else _("above uniform in {share} of the texts", share=f"{main.texts:.0%}")
    )
    parts = [
        f"{metric_name(part.metric, description)} {part.value:.0%}"
        for part in description.parts
        if part.value >= _SOME_REST
    ]
    numbers = [share, *_spread(main, description), *parts, even, _rival(main), texts, _at_rest(description)]
    if description.tells_sources and main.metric in _SOURCES:
        numbers.append(
            _(
                "source of a token: the source token to which all heads together attend most when the token is "
                "written and read"
            )
        )
    return Line(_rule(description, main), with_commas(numbers))


def _rule(description: "HeadDescription", main: "Number") -> str:
    where = _(_where(main.metric, description))
    names_parts = _is_most(description) and description.kind != "mixed" and not description.is_less
    if names_parts and (largest := _largest(description)):
        where = _("{where}, most of all {parts}", where=where, parts=largest)
    where = _if_any(where, main)
    if description.kind == "leftover":
        return _("The little weight that is left goes to {where}.", where=where)
    if description.kind == "mixed":
        return in_a_row((_("It follows no single rule."), _part(main, where)))
    part = _amount(main)
    if description.is_common:
        message = "Like many heads of this model, it gives {part} of its free weight to {where}."
        return _(message, where=where, part=part)
    if description.is_less:
        return _("{part} of its free weight goes to {where}, less than in most heads.", where=where, part=part)
    if _is_most(description):
        return _("Attends to {where}.", where=where)
    return _("{part} of its free weight goes to {where}.", where=where, part=part)


def _if_any(where: str, number: "Number") -> str:
    """Of a share of rows that have such a key, said so."""
    if number.everywhere or number.metric in _SOURCES:
        return where
    return _("{where}, if present", where=where)


def _part(number: "Number", where: str) -> str:
    """The largest part of what is no rule."""
    low, high = _evens(number)
    if number.ends is not None and high >= number.ends[0]:
        # Short and long texts are compared each with its own, in the numbers.
        return _("{part} of its free weight goes to {where}.", where=where, part=_amount(number))
    first, last = f"{low:.0%}", f"{high:.0%}"
    even = first if first == last else _("{low} to {high}", low=first, high=last)
    message = "{part} of its free weight goes to {where}; uniform attention would give {even}."
    return _(message, part=_amount(number), where=where, even=even)


def _evens(number: "Number") -> tuple[float, float]:
    """From what to what uniform attention goes where the number does."""
    if number.ends is not None and number.lengths is not None and number.even_by_length is not None:
        return min(number.even_by_length), max(number.even_by_length)
    assert number.even is not None
    return number.even, number.even


def _largest(description: "HeadDescription") -> str:
    """The largest parts of a rule that is made of others; "" where there are none."""
    first, *others = description.parts or (None,)
    if first is None or first.value < _SOME_REST:
        return ""
    named = [first, *(part for part in others if part is not None and part.value >= _AS_LARGE * first.value)]
    return with_and(_where(part.metric, description) for part in named)


def _is_most(description: "HeadDescription") -> bool:
    """Whether a rule is most of the free weight, in short texts and in long ones."""
    main = description.main
    return description.is_most and (main is None or main.ends is None or main.ends[0] >= _LARGE)


def _overlap(one: str, other: str) -> bool:
    """Whether two cells by distance have keys in common."""
    return bool(_STEPS.get(one, set()) & _STEPS.get(other, set()))


def _beside(main: "Number", description: "HeadDescription") -> list[str]:
    """The numbers of what is unusual."""
    return [*_spread(main, description), _evenly(main), _middle(main)]


def _amount(number: "Number") -> str:
    """A share, or from what to what it goes."""
    low, high = (_written(number, end) for end in number.ends or (number.value, number.value))
    return low if low == high else _("{low} to {high}", low=low, high=high)


def _written(number: "Number", value: float) -> str:
    """A value of a metric: a share, or how many times as far as uniform attention."""
    return f"{value:.1f}" if number.metric == "distance" else f"{value:.0%}"


def _spread(number: "Number", description: "HeadDescription") -> list[str]:
    """How far a number holds: from text to text, and in short and long ones where these differ."""
    if number.lengths is not None:
        short, long = (_written(number, value) for value in number.lengths)
        values: dict[str, object] = {"few": description.short, "many": description.long, "short": short, "long": long}
        if number.even_by_length is None:
            return [_("{short} in texts of up to {few} tokens, {long} in texts of {many} or more", **values)]
        values |= dict(zip(("short_even", "long_even"), (f"{even:.0%}" for even in number.even_by_length), strict=True))
        message = (
            "{short} in texts of up to {few} tokens (uniform attention {short_even}), {long} in texts of {many} or "
            "more ({long_even})"
        )
        return [_(message, **values)]
    if number.middle_half is None and number.metric not in _OF_PICTURE:
        return []
    low, high = (_written(number, value) for value in number.middle_half or (number.low, number.high))
    if number.middle_half is None:
        return [_("between {low} and {high}", low=low, high=high)]
    return [] if low == high else [_("{low} to {high} in half of the texts", low=low, high=high)]


def _unusual(main: "Number", description: "HeadDescription") -> str:
    value, rank = _amount(main), _rank(main)
    if main.metric == "same keys" and main.rank > _FIRST * main.heads:
        return _(
            "Attends to the same tokens in every row: the key alone explains {value} of the variation in its weights.",
            value=value,
        )
    if main.metric in _UNUSUAL:
        return _(_UNUSUAL[main.metric][main.value < main.middle], value=value, rank=rank)
    message = "Attends to {where} more than most heads do: {value} of its free weight, {rank}."
    return _(message, where=_if_any(_(_where(main.metric, description)), main), value=value, rank=rank)


def _more(more: "More", description: "HeadDescription") -> Line:
    share, usual, number = f"{more.share:.0%}", f"{more.usual:.0%}", more.number
    match more.kind:
        case "sinks":
            return Line(_to_sinks(description), with_commas(_on_sinks(description)), _named_sinks(description))
        case "awake":
            words = WHERE[more.query]
            # Of what rests, not of what is free.
            share, usual = f"{1 - more.share:.0%}", f"{1 - more.usual:.0%}"
            if not more.cell:
                message = "In rows of {words}, less of its weight is at rest: {share}, against {usual} in all rows."
                return Line(_(message, words=words, share=share, usual=usual))
            message = "In rows of {others}, {usual} of its weight is at rest; in rows of {words}, only {share}."
            return Line(_(message, words=words, others=WHERE[more.cell], share=share, usual=usual))
        case "asks":
            where, words = _where(more.cell, description), WHERE[more.query]
            message = (
                "In rows of {words}, more of its free weight goes to {where}: {share}, against {usual} in all rows."
            )
            return Line(_(message, words=words, where=where, share=share, usual=usual))
        case "fails":
            where, words = _where(more.cell, description), WHERE[more.query]
            message = (
                "But in rows of {words}, less of its free weight goes to {where}: {share}, against {usual} in all rows."
            )
            return Line(_(message, words=words, where=where, share=share, usual=usual))
        case "columns":
            message = (
                "Attends to the same tokens in every row: the key alone explains {value} of the variation in its "
                "weights."
            )
            liked = [_("{token} {times}×", token=token, times=times) for token, times in _liked(description)]
            return Line(_(message, value=share), with_commas(liked))
        case "unusual":
            assert number is not None
            name = metric_name(number.metric, description)
            return Line(_unusual(number, description), with_commas(_beside(number, description)), name)
        case "part":
            assert number is not None
            where = _if_any(_(_where(number.metric, description)), number)
            return Line(_part(number, where), with_commas([*_spread(number, description), _middle(number)]))
    (token, most), *others = _liked(description)
    message = "It gives {token} {times} times as much weight as uniform attention would."
    more_liked = with_commas([_("{token} {times}×", token=other, times=times) for other, times in others])
    return Line(_(message, token=token, times=most), more_liked)


def _liked(description: "HeadDescription") -> list[tuple[str, str]]:
    return [(_quoted(token), f"{times:.1f}") for token, times in description.favourites]


def _quoted(token: str) -> str:
    if token == "▁":
        return _("a single space")
    return _("“{token}”", token=written.display_token(token))


def _to_sinks(description: "HeadDescription") -> str:
    tokens = _named_sinks(description)
    if description.sinks_are_marks:
        # The mark at the end is one token of a short text as of a long one.
        message = "{share} of its free weight goes to {tokens}, as in many heads of this model."
        return _(message, tokens=tokens, share=f"{description.on_sinks:.0%}")
    message = (
        "It gives {tokens} {times} times as much weight as uniform attention would, as many heads of this model do."
    )
    return _(message, tokens=tokens, times=f"{description.on_sinks / max(description.even_on_sinks, 1e-9):.1f}")


def _named_sinks(description: "HeadDescription") -> str:
    return with_and(map(_quoted, description.sinks))


def _on_sinks(description: "HeadDescription") -> list[str]:
    share, even = (f"{share:.0%}" for share in (description.on_sinks, description.even_on_sinks))
    own = [] if description.sinks_are_marks else [_("{share} of its free weight", share=share)]
    return [*own, _("uniform attention {share}", share=even)]


def _place(description: "HeadDescription") -> str:
    named = {"first": said("the first token"), "last": said("the end token"), "none": said("a sink, not a token")}
    return with_and(named[place] for place in description.rest_on)


def _at_rest(description: "HeadDescription") -> str:
    rest = description.rest.value
    if description.is_idle or rest < _SOME_REST:
        return ""
    return _(
        "{share} of all its weight is at rest on {place}", share=_amount(description.rest), place=_place(description)
    )


def _evenly(number: "Number") -> str:
    # Where short and long texts are told apart, it stands beside each.
    if number.even is None or number.lengths is not None:
        return ""
    return _("uniform attention {share}", share=f"{number.even:.0%}")


def _middle(number: "Number") -> str:
    return _("typical head {value}", value=_written(number, number.middle))


def _rank(number: "Number") -> str:
    """From the end that is nearer."""
    lowest = number.heads + 1 - number.rank
    if number.rank <= lowest:
        return _("rank {rank} of {heads} heads", rank=number.rank, heads=number.heads)
    return _("rank {rank} of {heads} heads, counted from the lowest", rank=lowest, heads=number.heads)


def _rival(number: "Number") -> str:
    if number.rank == 1 and number.ends is None and number.low > number.runner_up:
        return _("highest of {heads} heads; the next has {next}", heads=number.heads, next=f"{number.runner_up:.0%}")
    return _rank(number) if number.rank <= _FIRST * number.heads else _middle(number)
