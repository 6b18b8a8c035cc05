"""Views of what the model writes: as it is, and with heads or parts taken out."""

from math import exp
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from model import later
from model.analysis.attribution.choice import choice_at, visible
from model.analysis.interventions.edit_comparison import compare_edit
from model.analysis.word_diff import word_diff
from model.nn.edits import SwitchOff
from viz.access import head_verdict, word_links
from viz.pages.learn.lessons.data.shipped import word_of_key
from viz.pages.learn.lessons.pictures import Bars, FullPage, Rows, View
from viz.server.background_jobs import Progress
from viz.text.head_links import NamedHead
from viz.text.html import Column, Marked
from viz.text.messages import said
from viz.text.numbers import signed
from viz.text.sites import DECODER, head_label
from viz.text.token_text import spoken
from viz.ui.head_verdict import sentence, tried
from viz.ui.word_differences import marked

if TYPE_CHECKING:
    from viz.pages.learn.lessons.data.shipped import Shipped

_GERMAN: Final = "de"
_CAUSE: Final = {"coreference_tab": "Cause"}
#: Characters of a translation without an end that are shown.
_LONGEST: Final = 120
#: Part → the model without it.
_WITHOUT: Final = {
    "positions": said("without positions"),
    "scaling": said("without scaling"),
    "heads": said("one head left"),
    "residuals": said("without residuals"),
    "norms": said("without norms"),
}


def without_heads(shipped: "Shipped", *, text: str, heads: list[str]) -> View:
    """The translation as it is, and with each of some heads switched off, one at a time."""
    trace = shipped.trace(text)
    rows: list[tuple[str | Marked, ...]] = [(said("none"), trace.translation, "")]
    found: dict[str, float | str] = {"translation": trace.translation}
    changed = 0
    for number, named in enumerate(heads, 1):
        site, layer, head = shipped.head(trace, named)
        result = compare_edit(shipped.translator, text, 0, [SwitchOff(site, layer, head)])
        changed += result.first_difference is not None
        name = NamedHead(site, layer, head, with_site=True)
        rows.append(
            (
                name,
                differing(result.original_text, result.edited_text),
                said("no") if result.first_difference is None else said("yes"),
            )
        )
        found |= {f"head_{number}": name, f"without_{number}": result.edited_text}
        found[f"changed_{number}"] = int(result.first_difference is not None)
        if result.first_difference is not None and not site.startswith("encoder"):
            row = trace.weights(site, layer, [head])[0, result.first_difference]
            found[f"looks_{number}"] = word_of_key(trace, site, int(row.argmax()))
    found |= {"changed": changed, "heads": len(heads), "verdict": said("Yes") if found["changed_1"] else said("No")}
    columns = (Column(said("switched off")), Column(said("German"), language=_GERMAN), Column(said("changed")))
    caption = said("Each row is a whole translation, written again without that head. Differences are **marked**.")
    site, layer, head = shipped.head(trace, heads[0])
    choices = {"text": text, "site": site, "layer": layer, "head": head}
    return View(Rows(columns, tuple(rows)), found, caption, FullPage("coreference", choices | _CAUSE))


def without_each(shipped: "Shipped", *, text: str, head: str, word: str) -> View:
    """How likely a written word stays with each head of a layer switched off from that step on."""
    trace = shipped.trace(text)
    site, layer, number = shipped.head(trace, head)
    step = shipped.row(trace, site, word)
    results = [
        compare_edit(shipped.translator, text, step, [SwitchOff(site, layer, other)])
        for other in range(trace.heads_of(site))
    ]
    before = exp(results[0].log_prob_before)
    after = np.array([exp(result.log_prob_after) for result in results])
    lowest = int(after.argmin())
    found: dict[str, float | str] = {
        "head": NamedHead(site, layer, number), "word": word, "layer": layer + 1,
        "before": before, "after": float(after[number]),
        "lowest": float(after.min()), "lowest_head": NamedHead(site, layer, lowest),
        "text": results[number].edited_text, "changed": sum(result.first_difference is not None for result in results),
        "verdict": said("It stays") if results[number].first_difference is None else said("It changes"),
    }  # fmt: skip
    picture = Bars(
        labels=[said("none"), *(head_label(layer, other) for other in range(len(results)))],
        series={said("probability"): np.array([before, *after])},
        number=said("probability of “{word}”", word=word),
        top=1.0,
        marked=lowest + 1,
    )
    caption = said(
        "One bar per head of layer {layer} that is switched off in the step that writes “{word}”; first, with all "
        "heads.",
        layer=layer + 1, word=word,
    )  # fmt: skip
    choices = {"text": text, "site": site, "layer": layer, "head": number, "step": step}
    return View(picture, found, caption, FullPage("coreference", choices | _CAUSE))


def three_interventions(shipped: "Shipped", *, text: str, other: str, head: str, word: str) -> View:
    """What becomes of a written word when a head is switched off, given its output of another sentence, or pointed."""
    trace = shipped.trace(text)
    site, layer, number = shipped.head(trace, head)
    step = shipped.row(trace, DECODER, word)
    asked = head_verdict.at_step(shipped.translator, trace, step, other)
    task = head_verdict.tested(shipped.translator, asked, (site, layer, number))
    stated = task.compute(Progress(task.total, task.unit))
    all_three = off, pointed, swapped = tried(stated)
    found: dict[str, float | str] = {
        "head": NamedHead(site, layer, number, with_site=True), "word": word, "verdict": sentence(stated),
        "dependence": stated.verdict.dependence, "off": off.token, "swapped": swapped.token, "pointed": pointed.token,
        "key": spoken(stated.key),
    }  # fmt: skip
    columns = (
        Column(said("intervention")), Column(said("log-odds change (nats)"), is_number=True),
        Column(said("resulting choice"), language=_GERMAN),
    )  # fmt: skip
    caption = said(
        "Each acts in every row. The change is that of log p of “{word}” − log p of “{other}”, which is {before} "
        "nats in the unchanged model.",
        word=word, other=spoken(stated.against), before=signed(stated.verdict.before, 1),
    )  # fmt: skip
    rows = tuple((each.title, signed(each.change, 1), each.token) for each in all_three)
    choices = {"text": text, "other_text": other, "site": site, "layer": layer, "head": number, "step": step}
    return View(Rows(columns, rows), found, caption, FullPage("coreference", choices | _CAUSE))


def hidden_words(shipped: "Shipped", *, text: str, word: str, other: str, hidden: str) -> View:
    """How likely a written word and another one are with each word of the sentence hidden from every attention."""
    trace = shipped.trace(text)
    choice = choice_at(trace, shipped.row(trace, DECODER, word))
    known = word_links.words(trace)
    labels = [label.strip(".,!?") for label in known.labels[: known.num_source]]
    seen = visible(len(trace.source_ids), [(), *known.groups[: known.num_source]])
    logits = later.attribution_methods.choice_run(shipped.translator, choice, text).seen_logits(seen).detach()
    tokens = [choice.token, shipped.translator.tokenizer.token_id(f"▁{other}")]
    own, instead = logits.float().softmax(-1)[:, tokens].T.cpu().numpy()
    most, named = int(own[1:].argmin()), labels.index(hidden)
    found: dict[str, float | str] = {
        "word": word, "other": other, "before": float(own[0]), "other_before": float(instead[0]),
        "most": labels[most], "after": float(own[most + 1]), "other_after": float(instead[most + 1]),
        "hidden": hidden, "hidden_after": float(own[named + 1]), "words": len(labels),
    }  # fmt: skip
    series: dict[str, np.ndarray] = {f"“{word}”": own, f"“{other}”": instead}
    picture = Bars(labels=[said("nothing"), *labels], series=series, number=said("probability"), top=1.0)
    caption = said("Each pair of bars: with that word hidden from every attention. At the top, nothing is hidden.")
    choices = {
        "text": text,
        "decoding_tab": "Inside",
        "inside": "Attribution",
        "step": choice.place.row,
        "step_chosen": True,
    }
    return View(picture, found, caption, FullPage("decoding", choices))


def without_part(
    shipped: "Shipped", *, texts: list[str], part: Literal["positions", "scaling", "heads", "residuals", "norms"]
) -> View:
    """Translations as they are, and with a part of the architecture taken out of every layer."""
    whole = [shipped.trace(text).translation for text in texts]
    without = later.parts_off.translate_without(shipped.translator, texts, later.parts_off.PartOff(part))
    shown = [text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …" for text in without]
    found: dict[str, float | str] = {"same": sum(map(str.__eq__, whole, without)), "sentences": len(texts)}
    for number, (own, other) in enumerate(zip(whole, shown, strict=True), 1):
        found |= {f"translation_{number}": own, f"without_{number}": other or said("nothing")}
    columns = (
        Column(said("English"), language="en"),
        Column(said("whole"), language=_GERMAN),
        Column(_WITHOUT[part], language=_GERMAN),
    )
    rows = tuple(zip(texts, whole, map(differing, whole, shown), strict=True))
    caption = said("Removed from the trained model, in every layer; the remaining parts were trained together with it.")
    return View(
        Rows(columns, rows), found, caption, FullPage("paper", {"text": texts[0], "paper_tab": "Live switches"})
    )


def differing(whole: str, other: str) -> Marked:
    """The second text, with the words marked that the first does not have there."""
    return marked(word_diff(whole, other))
