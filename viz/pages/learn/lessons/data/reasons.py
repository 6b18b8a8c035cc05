"""Views of why a head attends to one word and not to another: what wrote its query, and from which words."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from model import later
from model.analysis.word_diff import word_diff
from viz.pages.learn.lessons.data.shipped import word_of_key
from viz.pages.learn.lessons.lesson import OfHead
from viz.pages.learn.lessons.pictures import Bars, FullPage, Rows, View
from viz.text.html import Column
from viz.text.messages import said
from viz.text.parts import part_name, site_of
from viz.text.written import CROSS, ENCODER, NAMES, NamedHead, display_token, signed, spoken, total_shown
from viz.ui.token_labels import marked

if TYPE_CHECKING:
    from model import Trace
    from model.analysis.reasons.held_run import Part
    from model.analysis.reasons.score import Reason
    from model.analysis.reasons.without import Measured
    from viz.pages.learn.lessons.data.shipped import Shipped

#: Bars that are shown before "the rest".
BARS: Final = 6
_SHARE: Final = said("contribution to the change (nats)")


def _between(
    shipped: "Shipped", text: str, other: str, head: str, word: str
) -> "tuple[Trace, Trace, Reason, dict[str, float | str]]":
    """The text, the other over the same translation, why the head changes over, and the words of the question."""
    trace, (site, layer, number), row = shipped.looking(text, head, word)
    twin = later.reasons_twins.trace_twin(shipped.translator, trace, other)
    key = int(trace.weights(site, layer, [number], [row])[0, 0].argmax())
    score = later.reasons_score
    asked = score.Question(site=site, layer=layer, head=number, row=row, key=key, rival=key)
    asked = replace(asked, rival=score.default_rival(asked, trace, twin))
    reason = score.explain(shipped.translator.parts, trace, asked, twin)
    found: dict[str, float | str] = {
        "head": NamedHead(site, layer, number), "attention": NAMES[site].phrase, "word": word,
        "key": word_of_key(trace, site, key), "rival": word_of_key(trace, site, asked.rival),
        "change": reason.total, "query": reason.query.total, "keys": reason.keys.total,
        "query_share": reason.query.total / reason.total,
    }  # fmt: skip
    return trace, twin, reason, found


def _full(text: str, other: str, reason: "Reason") -> FullPage:
    asked = reason.question
    choices = {
        "attention_tab": "Why", "text": text, "other_text": other, "site": asked.site, "layer": asked.layer,
        "head": asked.head, "token": asked.row, "key_token": asked.key,
    }  # fmt: skip
    return FullPage("attention", choices)


def _bars(shares: Mapping[str, float]) -> Bars:
    """The largest shares, and all others in one bar."""
    ordered = sorted(shares.items(), key=lambda item: -abs(item[1]))
    shown = dict(ordered[:BARS])
    if rest := ordered[BARS:]:
        shown[said("the rest")] = sum(share for _name, share in rest)
    return Bars(labels=list(shown), series={_SHARE: np.array(list(shown.values()))}, number=_SHARE, marked=0)


def query_or_keys(shipped: "Shipped", *, text: str, other: str, head: str, word: str) -> View:
    """How much of a head's change between two sentences is in its query, and how much in its keys."""
    *_traces, reason, found = _between(shipped, text, other, head, word)
    query, keys = reason.query.total, reason.keys.total
    found["verdict"] = said("In the query") if abs(query) > abs(keys) else said("In the keys")
    values = np.array([query, keys])
    picture = Bars(labels=[said("the query"), said("the keys")], series={_SHARE: values}, number=_SHARE, marked=0)
    caption = said(
        "The log of the ratio of the two weights changes by {change:.2f} from the other sentence to this one: the bars "
        "show how much of that is in the query and how much in the keys.",
        change=total_shown(values),
    )
    return View(picture, found, caption, _full(text, other, reason))


def query_words(shipped: "Shipped", *, text: str, other: str, head: str, word: str) -> View:
    """Which words the sub-layer that wrote most of the change of a query had read."""
    trace, twin, reason, found = _between(shipped, text, other, head, word)
    part = next(iter(reason.query.shares()))
    step = reason.query.follow(part)
    here, there = step.words()
    partners = later.reasons_score.align(trace, twin)["encoder"]
    tokens = trace.source_tokens
    shares = {at: here.get(at, 0.0) + there.get(partners[at], 0.0) for at in range(len(tokens))}
    ordered = sorted(shares, key=lambda at: -abs(shares[at]))
    first, second = ordered[:2]
    found |= {"part": part_name(part), "share": step.total, "of_query": step.total / reason.query.total}
    for name, at in (("first", first), ("second", second)):
        found |= {name: word_of_key(trace, CROSS, at), f"{name}_share": shares[at]}
    found |= {"both": (shares[first] + shares[second]) / step.total, "answer": f"{found['first']}, {found['second']}"}
    caption = said(
        "One bar per word that {part} read. The bars add up to {total:.2f}, the share of {part}.",
        part=part_name(part),
        total=step.total,
    )
    return View(
        _bars({display_token(tokens[at]): shares[at] for at in ordered}), found, caption, _full(text, other, reason)
    )


def brought(shipped: "Shipped", *, text: str, other: str, head: str, word: str, read: str) -> View:
    """Which layers of the encoder brought what was read at a word there, followed through the networks above them.

    `read`: the word of the sentence at which the sub-layer that wrote most of the query's change had read.
    """
    trace, twin, reason, found = _between(shipped, text, other, head, word)
    (at,) = shipped.keys(trace, CROSS, read)
    step = reason.query.follow(_most_read(reason)).at(at, later.reasons_score.align(trace, twin)["encoder"][at])
    shares, direct = step.shares(through_networks=True), step.shares()
    first, second = list(shares)[:2]
    both = shares[first] + shares[second]
    (strongest, of_head), *_ = step.heads(first, through_networks=True).items()
    name = NamedHead(ENCODER, strongest.layer or 0, strongest.head or 0)
    weights = trace.weights(ENCODER, name.layer, [name.head], [at])[0, 0]
    found |= {
        "read": read, "total": step.total, "part": part_name(first), "second": part_name(second), "both": both,
        "of_read": both / step.total, "directly": direct[first] + direct[second],
        "carrier": name, "share": OfHead(of_head, name), "weight": OfHead(float(weights.max()), name),
        "source": word_of_key(trace, ENCODER, int(weights.argmax())),
    }  # fmt: skip
    caption = said(
        "One bar per part of what is read at “{read}”, traced through the feed-forward layers above it. The bars "
        "add up to {total:.2f}. “Difference in reading”: the weights, layer norms and keys with which “{read}” "
        "is read differ between the sentences, too. “Learned constants”: biases.",
        read=read, total=step.total,
    )  # fmt: skip
    return View(_of_parts(shares), found, caption, _full(text, other, reason))


def _most_read(reason: "Reason") -> "Part":
    """The attention that wrote most of what changes in the query."""
    return next(part for part in reason.query.shares() if site_of(part) is not None)


def _of_parts(shares: "Mapping[Part, float]") -> Bars:
    return _bars({part_name(part): share for part, share in shares.items()})


def exchanged(shipped: "Shipped", *, text: str, other: str, head: str, word: str, words: list[list[str]]) -> View:
    """What a head attends to and what is written, with what the encoder gave for some words taken from the other text.

    `words`: of the sentence, for each test those that are exchanged together.
    """
    trace, _twin, reason, found = _between(shipped, text, other, head, word)
    step = reason.query.follow(_most_read(reason))
    tests = later.reasons_without
    places = [[at for each in together for at in shipped.keys(trace, CROSS, each)] for together in words]
    asked = [tests.Asked(step, tuple(at)) for at in places]
    intact = tests.as_it_is(shipped.translator, reason)
    results = [intact, *(each.by_run for each in tests.outcomes(shipped.translator, reason, asked))]
    names = [said("nothing"), *(", ".join(together) for together in words)]
    word_of, other_word = map(spoken, intact.pair)
    rows = tuple(
        (
            name,
            f"{each.key_weight:.2f}",
            f"{each.rival_weight:.2f}",
            signed(each.log_odds or 0.0, 1),
            marked(word_diff(intact.text, each.text)),
        )
        for name, each in zip(names, results, strict=True)
    )
    for number, each in enumerate(results):
        found |= {f"key_{number}": each.key_weight, f"rival_{number}": each.rival_weight}
        found |= {f"odds_{number}": each.log_odds or 0.0, f"text_{number}": each.text}
    stays = results[-1].text == intact.text
    found["verdict"] = said("Nothing changes") if stays else said("The pronoun changes too")
    names_of = {"key": found["key"], "rival": found["rival"], "word": word_of, "other": other_word}
    columns = (
        Column(said("from the other sentence")),
        Column(said("weight on “{key}”", **names_of), is_number=True),
        Column(said("weight on “{rival}”", **names_of), is_number=True),
        Column(said("log p(“{word}”) − log p(“{other}”)", **names_of), is_number=True),
        Column(said("written"), language="de"),
    )
    caption = said(
        "For each row the decoder runs again: at the words named on the left, it reads what the encoder wrote in the "
        "other sentence."
    )
    return View(Rows(columns, rows), found, caption, _full(text, other, reason))


def used(
    shipped: "Shipped", *, text: str, other: str, head: str, word: str, read: str, taught: str, layers: list[int]
) -> View:
    """How much of a head's change, and of the word's, is lost when parts of the encoder give what they gave the other.

    `read`: the word of the sentence in whose row their output is exchanged; `taught`: a head of the encoder; `layers`:
    whose heads are exchanged together, from 1.
    """
    trace, twin, reason, found = _between(shipped, text, other, head, word)
    tests, Part, (at,) = later.reasons_without, later.reasons_run.Part, shipped.keys(trace, CROSS, read)
    followed = reason.query.follow(_most_read(reason))
    step = followed.at(at, later.reasons_score.align(trace, twin)["encoder"][at])
    _site, layer, number = shipped.head(trace, taught)
    parts = [Part("self", "encoder", layer, number), *(Part("self", "encoder", each - 1) for each in layers)]
    memory = tuple(range(len(trace.source_ids)))
    asked = [*(tests.Asked(step, (part,), True) for part in parts), tests.Asked(followed, memory)]
    intact = tests.as_it_is(shipped.translator, reason)
    *results, whole = (each.by_run for each in tests.outcomes(shipped.translator, reason, asked))

    def changed(result: "Measured") -> tuple[float, float]:
        return intact.score - result.score, (intact.log_odds or 0.0) - (result.log_odds or 0.0)

    of_score, of_word = np.array([changed(each) for each in results]).T / np.array(changed(whole))[:, None]
    row, name = trace.weights(ENCODER, layer, [number], [at])[0, 0], NamedHead(ENCODER, layer, number)
    found |= {
        "read": read, "taught": name,
        "score": OfHead(float(of_score[0]), name), "of_word": OfHead(float(of_word[0]), name),
        "weight": OfHead(float(row.max()), name), "source": word_of_key(trace, ENCODER, int(row.argmax())),
    }  # fmt: skip
    for place, each in enumerate(parts[1:], 1):
        numbers = {f"score_{place}": float(of_score[place]), f"word_{place}": float(of_word[place])}
        found |= {f"layer_{place}": part_name(each), **numbers}
    of_head = said("of the change in {head}", head=found["head"])
    series: dict[str, np.ndarray] = {of_head: of_score, said("of the change in the log-odds"): of_word}
    picture = Bars(labels=[part_name(part) for part in parts], series=series, number=said("share of the change"))
    caption = said(
        "Each output at “{read}” is taken from the other sentence, and everything above it runs again. 1: the same "
        "change as when everything that the decoder reads is taken from there.",
        read=read,
    )
    return View(picture, found, caption, _full(text, other, reason))
