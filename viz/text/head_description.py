"""Say in sentences what a head does over a corpus (`model.analysis.head_description.describe`), its numbers apart."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from viz.text import written
from viz.text.messages import _, in_a_row, said, shown, with_and, with_commas
from viz.text.metrics import JOBS
from viz.text.written import DECODER

if TYPE_CHECKING:
    from model.analysis.head_description.describe import HeadDescription, Number

#: What a head attends to, by cell.
WHERE: Final[Mapping[str, str]] = {
    "self": said("the token itself"),
    "back1": said("the previous token"),
    "back2": said("the second token before"),
    "ahead1": said("the next token"),
    "ahead2": said("the second token after"),
    "back1-3": said("the three tokens before"),
    "ahead1-3": said("the three tokens after"),
    "beside": said("the two neighbouring tokens"),
    "near": said("tokens at most two away"),
    "far": said("tokens at least five away"),
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
    "copied": said("a source token spelled like the one it writes"),
    "copied before": said("a source token spelled like the one just written"),
}
#: The same of a cross-attention whose heads tell what is written from what is read.
_SOURCES: Final[Mapping[str, str]] = {
    "source written": said("the source of the token that it writes"),
    "source read": said("the source of the token just read"),
    "source next": said("the source of the token after the one that it writes"),
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
    "back2": said("the second token before the one just read"),
    "back1-3": said("the three tokens before the one just read"),
    "beside": said("the token before the one just read"),
    "near": said("the token just read and the two before it"),
    "far": said("tokens at least five before the one just read"),
    "back": said("tokens before the one just read"),
    "same": said("earlier copies of the token just read"),
    "content back": said("the last content word before the token just read"),
}
_NAMES: Final[Mapping[str, str]] = {
    "rests": said("weight at rest"),
    "distance": said("mean distance, as a multiple of that of uniform attention"),
    "fill": said("spread over the tokens"),
    "by distance": said("part of the picture that depends on distance alone"),
    "same keys": said("part of the picture that is the same in every row"),
}
#: What an unusual metric says, above the typical head and below it.
_UNUSUAL: Final[Mapping[str, tuple[str, str]]] = {
    "distance": (
        said("Attends to unusually distant tokens: {value} times as far away as uniform attention, {rank}."),
        said("Attends to unusually close tokens: {value} times as far away as uniform attention, {rank}."),
    ),
    "fill": (
        said("Spreads unusually evenly: as if over {value} of the tokens, {rank}."),
        said("Attends to unusually few tokens: as if to {value} of them, {rank}."),
    ),
    "by distance": (
        said("Attends by distance more than most heads: {value} of its picture depends on it alone, {rank}."),
        "",
    ),
    "same keys": (
        said("Attends to the same tokens in every row more than most heads: {value} of its picture, {rank}."),
        "",
    ),
}
_JOBS: Final[Mapping[str, str]] = {
    "prefix_matching": said("Induction: on repeated random tokens, it attends to what followed the same token before."),
    "duplicate": said("Duplicate tokens: on repeated random tokens, it attends to the same token before."),
}
_ALL: Final = said("Spreads over nearly all tokens: as if over {share} of them.")
_MOST: Final = said("Spreads over most tokens: as if over {share} of them.")
_NEARLY_ALL: Final = 0.85
#: Weight at rest that is mentioned beside a rule.
_SOME_REST: Final = 0.1
#: A part of a rule is named with the largest if it is so large beside it.
_AS_LARGE: Final = 0.7


@dataclass(frozen=True, slots=True)
class Line:
    """One sentence about a head, and its numbers."""

    sentence: str
    numbers: str = ""


def lines(description: "HeadDescription") -> tuple[Line, ...]:
    """What is said of a head, in the language of the page: a measured job, what rests, the answer, one thing more.

    Of a head that does what many do, what sets it apart comes first.
    """
    found = []
    if description.job is not None:
        found.append(_job(description))
    if description.is_idle:
        rest = description.rest
        message = "Rests {share} of its weight on {place}."
        found.append(Line(_(message, share=f"{rest.value:.2f}", place=_place(description)), _of_all(rest)))
    answer, second = [_answer(description)], _second(description)
    is_first = description.is_common and description.second is not None and description.second.kind == "unusual"
    return (*found, *second, *answer) if is_first else (*found, *answer, *second)


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
    "en": said("English texts of ours, of mixed kinds and lengths"),
    "de": said("German texts of ours, of mixed kinds and lengths"),
    "zh": said("Chinese texts of ours, of mixed kinds and lengths"),
}


def corpus_words(language: str, file: str, given: int, total: int) -> str:
    """Over which of our texts, or of a file's, heads were measured, to be named beside what is said."""
    texts = _(CORPORA[language]) if language else _("texts of {file}", file=file)
    if given < total:
        return _("the first {given} of {total} {texts}", given=given, total=total, texts=texts)
    return _("{total} {texts}", total=total, texts=texts)


def _job(description: "HeadDescription") -> Line:
    job = description.job
    assert job is not None
    sentence = shown(_JOBS[job.metric]) if job.metric in _JOBS else _("Job: {name}.", name=JOBS[job.metric].name)
    interval = "" if job.low is None or job.high is None else _between(job.low, job.high)
    return Line(sentence, with_commas([f"{job.value:.2f}", interval]))


def _answer(description: "HeadDescription") -> Line:
    main = description.main
    match description.kind:
        case "nothing":
            message = "No simple rule: where it attends depends on query and key together."
            numbers = [
                _("picture explained by distance alone {distance}, by the key alone {keys}",
                  distance=f"{description.by_distance.value:.2f}", keys=f"{description.same_keys.value:.2f}"),
                _("as if over {share} of the tokens", share=f"{description.fill.value:.0%}"),
            ]  # fmt: skip
            return Line(_(message), with_commas([*numbers, _at_rest(description)]))
        case "sinks":
            message = "Rests on {tokens}, as many heads of this model do."
            share = _("{share} of its free weight", share=f"{description.on_sinks:.2f}")
            return Line(_(message, tokens=_sinks(description)), with_commas([share, _at_rest(description)]))
        case "too little":
            if description.job is not None:
                return Line(_("In ordinary texts too little is left to say what it attends to."))
            return Line(_("Too little is left to say what it attends to."))
    assert main is not None
    if description.kind == "spreads":
        message = _ALL if main.value >= _NEARLY_ALL else _MOST
        numbers = [_between(main.low, main.high), _rank(main), _at_rest(description)]
        return Line(_(message, share=f"{main.value:.0%}"), with_commas(numbers))
    if description.kind == "unusual":
        return Line(_unusual(main, description), with_commas([*_beside(main), _at_rest(description)]))
    # What the sentence has said is not said again.
    says_share = description.kind != "leftover" and (
        description.is_common or description.is_less or not description.is_most
    )
    share = "" if says_share else _("{share} of its free weight", share=f"{main.value:.2f}")
    even = "" if description.kind == "mixed" else _evenly(main)
    texts = "" if main.texts is None else _("above uniform in {share} of the texts", share=f"{main.texts:.0%}")
    parts = [
        f"{metric_name(part.metric, description)} {part.value:.2f}"
        for part in description.parts
        if part.value >= _SOME_REST
    ]
    numbers = [share, *parts, _between(main.low, main.high), even, _rival(main), texts, _at_rest(description)]
    if description.tells_sources and main.metric in _SOURCES:
        numbers.append(_("source: to which all heads together attend most as the token is written and read"))
    return Line(_rule(description, main), with_commas(numbers))


def _rule(description: "HeadDescription", main: "Number") -> str:
    where = _(_where(main.metric, description))
    if description.is_most and description.kind != "mixed" and (largest := _largest(description)):
        where = _("{where}, most of all {parts}", where=where, parts=largest)
    if not description.everywhere and main.metric not in _SOURCES:
        where = _("{where}, if there is one", where=where)
    if description.kind == "leftover":
        return _("The little that is left attends to {where}.", where=where)
    if description.kind == "mixed":
        return in_a_row((_("It follows no single rule."), _part(main, where)))
    part = f"{main.value:.0%}"
    if description.is_common:
        message = "Like many heads of this model, it gives {part} of its free weight to {where}."
        return _(message, where=where, part=part)
    if description.is_less:
        return _("{part} of its free weight goes to {where}, less than in most heads.", where=where, part=part)
    if description.is_most:
        return _("Attends to {where}.", where=where)
    return _("{part} of its free weight goes to {where}.", where=where, part=part)


def _part(number: "Number", where: str) -> str:
    """The largest part of what is no rule."""
    message = "{part} of its free weight goes to {where}; uniform attention would give {even}."
    return _(message, part=f"{number.value:.0%}", where=where, even=f"{number.even:.0%}")


def _largest(description: "HeadDescription") -> str:
    """The largest parts of a rule that is made of others; "" where there are none."""
    first, *others = description.parts or (None,)
    if first is None or first.value < _SOME_REST:
        return ""
    named = [first, *(part for part in others if part is not None and part.value >= _AS_LARGE * first.value)]
    return with_and(_where(part.metric, description) for part in named)


def _beside(main: "Number") -> list[str]:
    """The numbers of what is unusual."""
    return [_between(main.low, main.high), _evenly(main), _middle(main)]


def _unusual(main: "Number", description: "HeadDescription") -> str:
    value, rank = f"{main.value:.2f}", _rank(main)
    if main.metric in _UNUSUAL:
        return _(_UNUSUAL[main.metric][main.value < main.middle], value=value, rank=rank)
    message = "Attends to {where} more than most heads: {value} of its free weight, {rank}."
    return _(message, where=_where(main.metric, description), value=value, rank=rank)


def _second(description: "HeadDescription") -> list[Line]:
    second = description.second
    if second is None:
        return []
    share, usual = f"{second.share:.2f}", f"{second.usual:.2f}"
    match second.kind:
        case "sinks":
            message = "It also rests on {tokens}, as many heads of this model do."
            sentence = _(message, tokens=_sinks(description))
            return [
                Line(sentence, _("{share} of its free weight, uniform attention {usual}", share=share, usual=usual))
            ]
        case "awake":
            words = WHERE[second.query]
            if not second.cell:
                sentence = _("Rests least in rows of {words}.", words=words)
                return [Line(sentence, _("free weight {share}, {usual} in all rows", share=share, usual=usual))]
            message = "Rests less in rows of {words} than in rows of {others}."
            sentence = _(message, words=words, others=WHERE[second.cell])
            return [Line(sentence, _("free weight {share} and {usual}", share=share, usual=usual))]
        case "asks":
            where, words = _where(second.cell, description), WHERE[second.query]
            sentence = _("In rows of {words} it attends more to {where}.", words=words, where=where)
            return [Line(sentence, _("{share} of its free weight, {usual} in all rows", share=share, usual=usual))]
        case "columns":
            return [Line(_("Attends to the same tokens in every row."), _("{share} of its picture", share=share))]
        case "unusual":
            assert second.number is not None
            return [Line(_unusual(second.number, description), with_commas(_beside(second.number)))]
        case "part":
            assert second.number is not None
            where = _(_where(second.number.metric, description))
            between, middle = _between(second.number.low, second.number.high), _middle(second.number)
            return [Line(_part(second.number, where), with_commas([between, middle]))]
    (token, most), *others = ((_quoted(token), f"{times:.1f}") for token, times in description.favourites)
    message = "{token} gets {times} times as much as uniform attention would give it."
    more = with_commas([_("{token} {times}×", token=other, times=times) for other, times in others])
    return [Line(_(message, token=token, times=most), more)]


def _quoted(token: str) -> str:
    return _("“{token}”", token=written.display_token(token))


def _sinks(description: "HeadDescription") -> str:
    return with_and(map(_quoted, description.sinks))


def _place(description: "HeadDescription") -> str:
    named = {"first": said("the first token"), "last": said("the end token"), "none": said("no token at all")}
    return with_and(named[place] for place in description.rest_on)


def _at_rest(description: "HeadDescription") -> str:
    rest = description.rest.value
    if description.is_idle or rest < _SOME_REST:
        return ""
    return _("{share} rests on {place}", share=f"{rest:.2f}", place=_place(description))


def _between(low: float, high: float) -> str:
    return _("between {low} and {high}", low=f"{low:.2f}", high=f"{high:.2f}")


def _evenly(number: "Number") -> str:
    return "" if number.even is None else _("uniform attention {share}", share=f"{number.even:.2f}")


def _middle(number: "Number") -> str:
    return _("typical head {value}", value=f"{number.middle:.2f}")


def _rank(number: "Number") -> str:
    """From the end that is nearer."""
    lowest = number.heads + 1 - number.rank
    if number.rank <= lowest:
        return _("rank {rank} of {heads} heads", rank=number.rank, heads=number.heads)
    return _("rank {rank} of {heads} heads from the lowest", rank=lowest, heads=number.heads)


def _rival(number: "Number") -> str:
    if number.rank == 1:
        return _("the most of {heads} heads, the next {next}", heads=number.heads, next=f"{number.runner_up:.2f}")
    return _rank(number) if number.rank <= 0.2 * number.heads else _middle(number)


def _of_all(number: "Number") -> str:
    return with_commas([_between(number.low, number.high), _middle(number)])
