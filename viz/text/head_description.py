"""Say in sentences what a head does over a corpus (`model.analysis.head_description.describe`), its numbers apart."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from viz.text import written
from viz.text.messages import _, said, shown, with_and, with_commas
from viz.text.metrics import JOBS

if TYPE_CHECKING:
    from model.analysis.head_description.describe import HeadDescription, Number

#: What a head attends to, by cell: the end of "Attends …".
WHERE: Final[Mapping[str, str]] = {
    "self": said("to the token itself"),
    "back1": said("to the previous token"),
    "back2": said("to the second token before"),
    "ahead1": said("to the next token"),
    "ahead2": said("to the second token after"),
    "back1-3": said("to the three tokens before"),
    "ahead1-3": said("to the three tokens after"),
    "beside": said("to the two neighbouring tokens"),
    "near": said("to tokens at most two away"),
    "far": said("to tokens at least five away"),
    "back": said("to earlier tokens"),
    "ahead": said("to later tokens"),
    "first": said("to the first token"),
    "punctuation": said("to punctuation"),
    "articles": said("to articles and determiners"),
    "prepositions": said("to prepositions"),
    "pronouns": said("to pronouns"),
    "auxiliaries": said("to auxiliary verbs and negations"),
    "conjunctions": said("to conjunctions"),
    "particles": said("to particles"),
    "function": said("to function words"),
    "content words": said("to content words"),
    "numbers": said("to numbers"),
    "names": said("to capitalised words inside the sentence"),
    "same": said("to the same token elsewhere"),
    "after same": said("to the token after an earlier copy of this one"),
    "word": said("to other tokens of the same word"),
    "content ahead": said("to the next content word"),
    "content back": said("to the previous content word"),
    "together": said("to the source token to which all heads together attend most"),
    "together before": said("to the source token to which all heads together attend most in the row before"),
    "together next": said("to the source token to which all heads together attend most in the next row"),
    "diagonal": said("to the same relative position in the source"),
    "second half": said("to the second half of the source"),
    "copied": said("to a source token spelled like the one it writes"),
    "copied before": said("to a source token spelled like the one just written"),
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
    "by distance": said("part explained by distance"),
    "same keys": said("part that is the same for every query"),
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
    "by distance": (said("Follows distance more than most heads: in {value} of its picture, {rank}."), ""),
    "same keys": (
        said("Attends to the same tokens whatever the query, more than most heads: {value} of its picture, {rank}."),
        "",
    ),
}
_JOBS: Final[Mapping[str, str]] = {
    "prefix_matching": said("Induction: on repeated random tokens, it attends to what followed the same token before."),
    "duplicate": said("Duplicate tokens: on repeated random tokens, it attends to the same token before."),
}
#: Weight at rest that is mentioned beside a rule.
_SOME_REST: Final = 0.1


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


def metric_name(metric: str) -> str:
    """What a metric is called: of a cell, where it is."""
    return shown(_NAMES[metric] if metric in _NAMES else WHERE[metric])


def metric_value(metric: str, value: float) -> str:
    """A number of a metric."""
    return _("{count} tokens", count=f"{value:.1f}") if metric == "distance" else f"{value:.2f}"


#: What the default corpora are called.
CORPORA: Final[Mapping[str, str]] = {
    "en": said("English texts of ours, of mixed kinds and lengths"),
    "de": said("German texts of ours, of mixed kinds and lengths"),
    "zh": said("Chinese texts of ours, of mixed kinds and lengths"),
}


def corpus_words(language: str, given: int, total: int) -> str:
    """Over which of our texts heads were measured, to be named beside what is said."""
    if given < total:
        return _("the first {given} of {total} {texts}", given=given, total=total, texts=CORPORA[language])
    return _("{total} {texts}", total=total, texts=CORPORA[language])


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
            return Line(_("Nothing simple sets it apart from the other heads."), _at_rest(description))
        case "sinks":
            message = "Rests on {tokens}, as many heads of this model do."
            share = _("{share} of its free weight", share=f"{description.on_sinks:.2f}")
            return Line(_(message, tokens=_sinks(description)), with_commas([share, _at_rest(description)]))
        case "too little":
            return Line(_("Too little is left to say what it attends to."))
    assert main is not None
    if description.kind == "spreads":
        share = _("as if over {share} of them", share=f"{main.value:.0%}")
        return Line(_("Spreads over nearly all tokens."), with_commas([share, _rank(main), _at_rest(description)]))
    if description.kind == "unusual":
        numbers = [_between(main.low, main.high), _evenly(main), _middle(main)]
        return Line(_unusual(main), with_commas([*numbers, _at_rest(description)]))
    share = _("{share} of its weight", share=f"{main.value:.2f}")
    if description.rest.value >= _SOME_REST:
        share = _("{share} of the weight not at rest", share=f"{main.value:.2f}")
    texts = "" if main.texts is None else _("above uniform in {share} of the texts", share=f"{main.texts:.0%}")
    parts = [f"{metric_name(part.metric)} {part.value:.2f}" for part in description.parts]
    numbers = [share, *parts, _between(main.low, main.high), _evenly(main), _rival(main), texts, _at_rest(description)]
    return Line(_rule(description, main), with_commas(numbers))


def _rule(description: "HeadDescription", main: "Number") -> str:
    where = WHERE[main.metric]
    if description.kind == "leftover":
        return _("The little that is left attends {where}.", where=where)
    if description.is_most:
        if description.everywhere:
            return _("Attends {where}.", where=where)
        return _("Attends {where}, if there is one.", where=where)
    if description.everywhere:
        return _("Tends to attend {where}.", where=where)
    return _("Tends to attend {where}, if there is one.", where=where)


def _unusual(main: "Number") -> str:
    value, rank = metric_value(main.metric, main.value), _rank(main)
    if main.metric in _UNUSUAL:
        return _(_UNUSUAL[main.metric][main.value < main.middle], value=value, rank=rank)
    message = "Attends {where} more than most heads: {value} of its free weight, {rank}."
    return _(message, where=WHERE[main.metric], value=value, rank=rank)


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
            return [Line(sentence, _("{share} of its weight is free, {usual} for any query", share=share, usual=usual))]
        case "asks":
            message = "When the query is {query}, it attends more {where}."
            sentence = _(message, query=QUERIES[second.query], where=WHERE[second.cell])
            return [Line(sentence, _("{share} of its free weight, {usual} for any query", share=share, usual=usual))]
        case "columns":
            return [Line(_("Attends to the same tokens whatever the query."), _("{share} of its picture", share=share))]
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
