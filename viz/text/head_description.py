"""Say in sentences what a head does over a corpus (`model.analysis.head_description.describe`), its numbers apart."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from viz.text import written
from viz.text.messages import _, in_a_row, said, shown, with_and, with_commas
from viz.text.metrics import JOBS

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
    "together": said("the source token to which all heads together attend most"),
    "together before": said("the source token to which all heads together attend most in the row before"),
    "together next": said("the source token to which all heads together attend most in the next row"),
    "diagonal": said("the same relative position in the source"),
    "second half": said("the second half of the source"),
    "copied": said("a source token spelled like the one it writes"),
    "copied before": said("a source token spelled like the one just written"),
}
#: Where a head of a cross-attention attends to, by which token's source all heads together attend to (`Aligned`).
_SOURCES: Final[Mapping[str, Mapping[str, str]]] = {
    "predicted": {
        "together": said("the source of the token that it predicts"),
        "together before": said("the source of the token just read"),
        "together next": said("the source of the token after the one that it predicts"),
    },
    "read": {
        "together": said("the source of the token just read"),
        "together before": said("the source of the token before the one just read"),
        "together next": said("the source of the token that it predicts"),
    },
}
#: A share in words, by the largest number that is called so.
_PARTS: Final[Mapping[float, str]] = {
    0.07: said("a small part"),
    0.12: said("a tenth"),
    0.17: said("a seventh"),
    0.225: said("a fifth"),
    0.29: said("a quarter"),
    0.37: said("a third"),
    0.45: said("two fifths"),
    0.55: said("half"),
    0.63: said("three fifths"),
    0.71: said("two thirds"),
    0.79: said("three quarters"),
    0.86: said("five sixths"),
    0.95: said("nine tenths"),
    1.01: said("nearly all"),
}
#: What the query is, by kind.
QUERIES: Final[Mapping[str, str]] = {
    "articles": said("an article or determiner"),
    "prepositions": said("a preposition"),
    "pronouns": said("a pronoun"),
    "auxiliaries": said("an auxiliary verb or negation"),
    "conjunctions": said("a conjunction"),
    "particles": said("a particle"),
    "content words": said("a content word"),
    "punctuation": said("punctuation"),
    "numbers": said("a number"),
}
_NAMES: Final[Mapping[str, str]] = {
    "rests": said("weight at rest"),
    "distance": said("mean distance"),
    "fill": said("spread over the tokens"),
    "by distance": said("variance explained by distance"),
    "same keys": said("variance that is the same for every query"),
}
#: What an unusual metric says, above the middle head and below it.
_UNUSUAL: Final[Mapping[str, tuple[str, str]]] = {
    "distance": (
        said("Attends to unusually distant tokens: {value} away on average, {rank}."),
        said("Attends to unusually close tokens: {value} away on average, {rank}."),
    ),
    "fill": (
        said("Spreads unusually evenly: as if over {value} of the tokens, {rank}."),
        said("Attends to unusually few tokens: as if to {value} of them, {rank}."),
    ),
    "by distance": (
        said("Follows distance more than most heads: it explains {value} of the variance of its weights, {rank}."),
        "",
    ),
    "same keys": (
        said(
            "Attends to the same tokens whatever the query, more than most heads: {value} of the variance of its "
            "weights, {rank}."
        ),
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
    """What is said of a head, in the language of the page: a measured job, what rests, the answer, one thing more."""
    found = []
    if description.job is not None:
        found.append(_job(description))
    if description.is_idle:
        rest = description.rest
        message = "Rests {share} of its weight on {place}."
        found.append(Line(_(message, share=f"{rest.value:.2f}", place=_place(description)), _of_all(rest)))
    found.append(_answer(description))
    return (*found, *_second(description))


def metric_name(metric: str, aligned: str = "") -> str:
    """What a metric is called: of a cell, where it is. `aligned` as of `HeadDescription`."""
    return shown(_NAMES[metric] if metric in _NAMES else _where(metric, aligned))


def _where(metric: str, aligned: str) -> str:
    return _SOURCES.get(aligned, {}).get(metric, WHERE[metric])


def metric_value(metric: str, value: float) -> str:
    """A number of a metric."""
    return _("{count} tokens", count=f"{value:.1f}") if metric == "distance" else f"{value:.2f}"


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
                _("variance of its weights: {distance} by distance, {keys} by the key alone",
                  distance=f"{description.by_distance.value:.2f}", keys=f"{description.same_keys.value:.2f}"),
                _("as if over {share} of the tokens", share=f"{description.fill.value:.0%}"),
            ]  # fmt: skip
            return Line(_(message), with_commas([*numbers, _at_rest(description)]))
        case "sinks":
            message = "Rests on {tokens}, as many heads of this model do."
            share = _("{share} of its free weight", share=f"{description.on_sinks:.2f}")
            return Line(_(message, tokens=_sinks(description)), with_commas([share, _at_rest(description)]))
        case "too little":
            return Line(_("Too little is left to say what it attends to."))
    assert main is not None
    if description.kind == "spreads":
        message = _ALL if main.value >= _NEARLY_ALL else _MOST
        numbers = [_between(main.low, main.high), _rank(main), _at_rest(description)]
        return Line(_(message, share=f"{main.value:.0%}"), with_commas(numbers))
    if description.kind == "unusual":
        return Line(_unusual(main, description.aligned), with_commas([*_beside(main), _at_rest(description)]))
    share = _("{share} of its free weight", share=f"{main.value:.2f}")
    texts = "" if main.texts is None else _("above uniform in {share} of the texts", share=f"{main.texts:.0%}")
    parts = [f"{metric_name(part.metric)} {part.value:.2f}" for part in description.parts if part.value >= _SOME_REST]
    numbers = [share, *parts, _between(main.low, main.high), _evenly(main), _rival(main), texts, _at_rest(description)]
    if description.aligned and main.metric in _SOURCES[description.aligned]:
        numbers.append(_("its source is the token to which all heads together attend most"))
    return Line(_rule(description, main), with_commas(numbers))


def _rule(description: "HeadDescription", main: "Number") -> str:
    where = _(_where(main.metric, description.aligned))
    if description.is_most and description.kind != "mixed" and (largest := _largest(description)):
        where = _("{where}, most of all {parts}", where=where, parts=largest)
    if not description.everywhere and main.metric not in _SOURCES["read"]:
        where = _("{where}, if there is one", where=where)
    if description.kind == "leftover":
        return _("The little that is left attends to {where}.", where=where)
    if description.kind == "mixed":
        return in_a_row((_("It follows no single rule."), _part(main, where)))
    if description.is_most:
        return _("Attends to {where}.", where=where)
    return _("With {part} of its free weight it attends to {where}.", where=where, part=_share(main))


def _part(number: "Number", where: str) -> str:
    """The largest part of what is no rule."""
    message = "Of its free weight, {part} goes to {where}; uniform attention would give {even}."
    return _(message, part=_share(number), where=where, even=f"{number.even:.2f}")


def _share(number: "Number") -> str:
    """A share in words."""
    return shown(next(name for most, name in _PARTS.items() if number.value < most))


def _largest(description: "HeadDescription") -> str:
    """The largest parts of a rule that is made of others; "" where there are none."""
    first, *others = description.parts or (None,)
    if first is None or first.value < _SOME_REST:
        return ""
    named = [first, *(part for part in others if part is not None and part.value >= _AS_LARGE * first.value)]
    return with_and(WHERE[part.metric] for part in named)


def _beside(main: "Number") -> list[str]:
    """The numbers of what is unusual."""
    return [_between(main.low, main.high), _evenly(main), _middle(main)]


def _unusual(main: "Number", aligned: str) -> str:
    value, rank = metric_value(main.metric, main.value), _rank(main)
    if main.metric in _UNUSUAL:
        return _(_UNUSUAL[main.metric][main.value < main.middle], value=value, rank=rank)
    message = "Attends to {where} more than most heads: {value} of its free weight, {rank}."
    return _(message, where=_where(main.metric, aligned), value=value, rank=rank)


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
            sentence = _("Least at rest when the query is {query}.", query=QUERIES[second.query])
            return [Line(sentence, _("free weight {share}, {usual} for any query", share=share, usual=usual))]
        case "asks":
            message = "When the query is {query}, it attends more to {where}."
            sentence = _(message, query=QUERIES[second.query], where=_where(second.cell, description.aligned))
            return [Line(sentence, _("{share} of its free weight, {usual} for any query", share=share, usual=usual))]
        case "columns":
            numbers = _("{share} of the variance of its weights", share=share)
            return [Line(_("Attends to the same tokens whatever the query."), numbers)]
        case "unusual":
            assert second.number is not None
            return [Line(_unusual(second.number, description.aligned), with_commas(_beside(second.number)))]
        case "part":
            assert second.number is not None
            where = _(_where(second.number.metric, description.aligned))
            return [Line(_part(second.number, where), with_commas(_beside(second.number)))]
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
    return _("middle head {value}", value=metric_value(number.metric, number.middle))


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
