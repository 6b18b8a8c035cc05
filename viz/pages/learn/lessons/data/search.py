"""Views of what is written: as it is, with heads or parts taken out, and by greedy decoding and beams."""

from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from model import Translator, later
from model.analysis.interventions.edit_comparison import compare_edit
from model.analysis.word_diff import word_diff
from model.decoding.beam import BeamNode, BeamTree, length_penalty
from model.decoding.cost import step_cost
from model.nn.edits import SwitchOff
from viz.access import head_verdict
from viz.pages.learn.lessons.data.shipped import word_of_key
from viz.pages.learn.lessons.pictures import Bars, Curves, FullPage, LiveRow, Rows, View
from viz.server.background_jobs import Progress
from viz.server.caches import cached
from viz.text.html import Column, Marked
from viz.text.messages import said
from viz.text.written import DECODER, NamedHead, display_token, signed, spoken, written_number
from viz.ui.attribution import sentence, tried
from viz.ui.token_labels import marked

if TYPE_CHECKING:
    from viz.pages.learn.lessons.data.shipped import Shipped

_GERMAN: Final = "de"
_CAUSE: Final = {"coreference_tab": "Cause"}
#: Characters of a translation without an end that are shown.
_LONGEST: Final = 120
#: Part → the model without it.
_WITHOUT: Final = {
    "positions": said("without positional encodings"),
    "scaling": said("without scaling"),
    "heads": said("one head left"),
    "residuals": said("without residuals"),
    "norms": said("without norms"),
}


def without_heads(shipped: "Shipped", *, text: str, heads: list[str], word: str) -> View:
    """The translation as it is, and with each of some heads switched off, one at a time.

    `word`: of the translation; found is what is written in its place after the words before it, without the first head.
    """
    trace = shipped.trace(text)
    rows: list[tuple[str | Marked, ...]] = [(said("none"), trace.translation, "")]
    found: dict[str, float | str] = {"translation": trace.translation}
    changed = 0
    places = [shipped.head(trace, named) for named in heads]
    for number, (site, layer, head) in enumerate(places, 1):
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
    ids, at = [step.token_id for step in trace.steps], shipped.row(trace, DECODER, word)
    forced = shipped.translator.trace_tokens(text, ids, edits=[SwitchOff(*places[0])])
    found |= {
        "changed": changed, "heads": len(heads), "word": word,
        "verdict": said("Yes, it changes") if found["changed_1"] else said("No, it stays the same"),
        "kept": spoken(shipped.translator.all_tokens()[forced.predicted_ids[at]]),
        "first": trace.translation.split()[0], "first_1": str(found["without_1"]).split()[0],
    }  # fmt: skip
    columns = (Column(said("switched off")), Column(said("German"), language=_GERMAN), Column(said("changed")))
    caption = said("Each row is a whole translation, written again without that head. Differences are **marked**.")
    (site, layer, head), *_ = places
    choices = {"text": text, "site": site, "layer": layer, "head": head}
    return View(Rows(columns, tuple(rows)), found, caption, FullPage("coreference", choices | _CAUSE))


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
        "key": spoken(stated.key), **_shares_of_swing(shipped, asked, stated),
    }  # fmt: skip
    columns = (
        Column(said("intervention")), Column(said("log-odds change (nats)"), is_number=True),
        Column(said("resulting choice"), language=_GERMAN),
    )  # fmt: skip
    caption = said(
        "{verdict} Each intervention acts in every row. The change is that of log p of “{word}” − log p of “{other}”, "
        "which is {before} nats in the unchanged model.",
        verdict=sentence(stated), word=word, other=spoken(stated.against), before=signed(stated.verdict.before, 1),
    )  # fmt: skip
    rows = tuple((each.title, signed(each.change, 1), each.token) for each in all_three)
    choices = {"text": text, "other_text": other, "site": site, "layer": layer, "head": number, "step": step}
    return View(Rows(columns, rows), found, caption, FullPage("coreference", choices | _CAUSE))


def _shares_of_swing(
    shipped: "Shipped", asked: head_verdict.Question, stated: head_verdict.Stated
) -> dict[str, float | str]:
    """What each intervention changes, as a share of how far the choice moves between both sentences."""
    verdict = stated.verdict
    if asked.b is None or verdict.swapped is None:
        return {}
    prefers_right = verdict.said == asked.a.right
    in_b = shipped.translator.log_odds([asked.b if prefers_right else asked.b.turned]).detach().item()
    swing = verdict.before - in_b
    return {"off_share": -verdict.off.change / swing, "swapped_share": -verdict.swapped.change / swing, "swing": swing}


def without_part(
    shipped: "Shipped", *, texts: list[str], part: Literal["positions", "scaling", "heads", "residuals", "norms"]
) -> View:
    """Translations as they are, and with a part of the architecture taken out of every layer."""
    whole = [shipped.trace(text).translation for text in texts]
    without = later.parts_off.translate_without(shipped.translator, texts, later.removal.PartOff(part))
    shown = [shortened(text, _LONGEST) for text in without]
    found: dict[str, float | str] = {"same": sum(map(str.__eq__, whole, without)), "sentences": len(texts)}
    for number, (own, other) in enumerate(zip(whole, shown, strict=True), 1):
        found |= {f"translation_{number}": own, f"without_{number}": other or said("nothing")}
    columns = (
        Column(said("English"), language="en"),
        Column(said("complete model"), language=_GERMAN),
        Column(_WITHOUT[part], language=_GERMAN),
    )
    rows = tuple(zip(texts, whole, map(differing, whole, shown), strict=True))
    caption = said(
        "The part is removed from every layer of the trained model; the remaining parts were trained together with it."
    )
    return View(
        Rows(columns, rows),
        found,
        caption,
        FullPage("experiments", {"text": texts[0], "experiments_tab": "Ablations", "live_switches": True}),
    )


def shortened(text: str, most: int) -> str:
    """A text of at most so many characters, with an ellipsis where it goes on."""
    return text if len(text) <= most else f"{text[:most]} …"


def differing(whole: str, other: str) -> Marked:
    """The second text, with the words marked that the first does not have there."""
    return marked(word_diff(whole, other))


#: Of the paper (§6.1): hypotheses that are kept, and the exponent of the length penalty.
WIDTH, ALPHA = 4, 0.6
#: Candidates and steps that a picture has room for.
CANDIDATES, STEPS = 8, 7


def candidates(shipped: "Shipped", *, text: str, step: int) -> View:
    """The most probable tokens of a step of greedy decoding, counted from 1."""
    steps = shipped.trace(text).steps
    at = min(step, len(steps)) - 1
    shown = steps[at].candidates[:CANDIDATES]
    values = np.exp([candidate.log_prob for candidate in shown])
    first, second, *_ = zip(shown, values, strict=True)
    found: dict[str, float | str] = {
        "step": at + 1, "first": spoken(first[0].token), "first_probability": float(first[1]),
        "second": spoken(second[0].token), "second_probability": float(second[1]),
        "rest": float(1 - values.sum()), "shown": len(shown), "vocabulary": shipped.translator.config.vocab_size,
        "translation": shipped.trace(text).translation,
    }  # fmt: skip
    picture = Bars(
        labels=[candidate.token for candidate in shown], series={said("probability"): values},
        number=said("probability"), top=1.0, marked=0,
    )  # fmt: skip
    caption = said(
        "The {count} most probable tokens of step {step}; greedy decoding writes the marked one.",
        count=len(shown), step=at + 1,
    )  # fmt: skip
    choices = {"text": text, "step": at, "step_chosen": True}
    return View(picture, found, caption, FullPage("decoding", choices))


def temperature(shipped: "Shipped", *, text: str, step: int, percents: list[int]) -> View:
    """The most probable tokens of a step, counted from 1, at temperatures in percent and at any other one."""
    steps = shipped.trace(text).steps
    at = min(step, len(steps)) - 1
    shown = steps[at].candidates[:CANDIDATES]
    scores = np.array([candidate.log_prob for candidate in shown])
    shares = {}
    for percent in (100, *percents):
        powers = np.exp((scores - scores[0]) * 100 / percent)
        shares[percent] = float(powers[0] / powers.sum())
    falls = shares[max(percents)] < shares[100]
    found: dict[str, float | str] = {
        "step": at + 1, "first": spoken(shown[0].token), "shown": len(shown),
        **{f"at_{percent}": share for percent, share in shares.items()},
        "verdict": said("It becomes less probable") if falls else said("Nothing: only the order counts"),
    }  # fmt: skip
    picture = LiveRow(
        labels=[candidate.token for candidate in shown], scores=scores.tolist(), divisor=1.0, least=0.1, most=4.0,
        score_name=said("log p"), divisor_name=said("temperature T"), share_name=said("probability"),
        label=said("Candidates of step {step} and their probabilities, which can be dragged", step=at + 1),
    )  # fmt: skip
    caption = said(
        "The {count} most probable tokens of step {step}, with probabilities normalised over these {count}: softmax of "
        "log p ÷ T. Drag the temperature, or a log p.",
        count=len(shown), step=at + 1,
    )  # fmt: skip
    choices = {"text": text, "step": at, "step_chosen": True}
    return View(picture, found, caption, FullPage("decoding", choices))


def cache(shipped: "Shipped", *, text: str) -> View:
    """The multiply-adds of the decoder at each step: keys and values kept from the steps before, or computed again."""
    trace = shipped.trace(text)
    sizes = shipped.translator.decoder_sizes(trace)
    costs = [step_cost(sizes, len(trace.source_ids), step) for step in range(len(trace.steps))]
    kept, again = (np.array([float(getattr(cost, way).total) for cost in costs]) for way in ("cached", "recomputed"))
    found: dict[str, float | str] = {
        "steps": len(costs), "first": kept[0] / 1e6, "second": kept[1] / 1e6, "last": kept[-1] / 1e6,
        "last_again": again[-1] / 1e6, "ratio": again[-1] / kept[-1], "all_ratio": again.sum() / kept.sum(),
        "numbers": costs[-1].reused_numbers,
    }  # fmt: skip
    picture = Curves(
        x=np.arange(1.0, len(costs) + 1),
        lines={said("with the cache"): kept / 1e6, said("recomputed"): again / 1e6},
        x_name=said("step"), y_name=said("million multiply-adds of the decoder"),
    )  # fmt: skip
    caption = said(
        "Counted for the {steps} steps of this translation. The first step also computes the keys and values of the "
        "sentence, for cross-attention.",
        steps=len(costs),
    )
    return View(picture, found, caption, FullPage("learn", {"text": text}, topic="cost"))


def greedy_and_beam(shipped: "Shipped", *, text: str) -> View:
    """What greedy decoding writes beside the winner of a beam as wide as the paper's, and how probable each is."""
    (greedy, greedy_end), (beam, beam_end) = (_found(shipped, text, width, ALPHA) for width in (1, WIDTH))
    found: dict[str, float | str] = {
        "width": WIDTH, "greedy": greedy, "beam": beam, "greedy_log_prob": greedy_end.total,
        "beam_log_prob": beam_end.total, "times": float(np.exp(beam_end.total - greedy_end.total)),
        "greedy_score": greedy_end.score or 0.0, "beam_score": beam_end.score or 0.0,
        "same": "yes" if greedy == beam else "no",
    }  # fmt: skip
    is_beaten = beam_end.total > greedy_end.total
    found["verdict"] = said("No, it misses it") if is_beaten else said("Yes, it finds it")
    rows = (
        (said("greedy"), greedy, *_numbers(greedy_end)),
        (said("beam width {width}", width=WIDTH), differing(greedy, beam), *_numbers(beam_end)),
    )
    columns = (Column(said("search")), Column(said("German"), language="de"), *_NUMBERS)
    caption = said(
        "log p: the sum over all tokens. Score: log p divided by the length penalty. Differences are marked."
    )
    return View(Rows(columns, rows), found, caption, _full(text, WIDTH, ALPHA))


def living(shipped: "Shipped", *, text: str) -> View:
    """The hypotheses that a beam keeps after each of its first steps, best first.

    Found are the step from which the winner leads, and where it and the last other one that led part.
    """
    tree = _tree(shipped.translator, text, WIDTH, ALPHA)
    own, rows = tree.path(tree.winner.index), []
    leads, parted = 1, (own[0], own[0])
    steps = min(STEPS, 1 + max(node.step for node in tree.nodes))
    for step in range(steps):
        kept = [node for node in tree.nodes if node.step == step and node.row is not None][:WIDTH]
        other = tree.path(kept[0].index) if kept else ()
        differing_steps = (both for both in zip(other, own, strict=False) if both[0].token_id != both[1].token_id)
        if step < len(own) - 1 and (apart := next(differing_steps, None)) is not None:
            leads, parted = step + 2, apart
        texts = [f"{_text(tree, node)} ({written_number(node.total, '.1f')})" for node in kept]
        rows.append((str(step + 1), *texts, *[""] * (WIDTH - len(texts))))
    first, winner = parted
    found: dict[str, float | str] = {
        "width": WIDTH, "leads": leads, "steps": steps, "parts": first.step + 1, "first": spoken(first.token),
        "winner": spoken(winner.token), "nodes": len(tree.nodes) - 1,
    }  # fmt: skip
    ranks = (Column(said("rank {rank}", rank=rank), language="de") for rank in range(1, WIDTH + 1))
    columns = (Column(said("step"), is_number=True), *ranks)
    caption = said("After each step: the hypotheses kept, with the sum of their log-probabilities so far.")
    return View(Rows(columns, tuple(rows)), found, caption, _full(text, WIDTH, ALPHA))


def widths(shipped: "Shipped", *, text: str, widths: list[int]) -> View:
    """The score of the winner of beams of several widths."""
    results = {width: _found(shipped, text, width, ALPHA) for width in widths}
    scores = np.array([node.score or 0.0 for _, node in results.values()])
    worst = int(scores.argmin())
    found: dict[str, float | str] = {
        "falls": int((np.diff(scores) < -1e-6).sum()), "texts": len({own for own, _ in results.values()}),
        "worst": widths[worst], "before_worst": widths[max(0, worst - 1)],
    }  # fmt: skip
    found |= {f"width_{width}": own for width, (own, _) in results.items()}
    found["verdict"] = said("No, not always") if found["falls"] else said("Yes, always")
    picture = Curves(
        x=np.array(widths, float), lines={said("score"): scores}, x_name=said("beam width (1 = greedy decoding)"),
        y_name=said("score"), points={said("result of each width"): (np.array(widths, float), scores)},
    )  # fmt: skip
    caption = said(
        "The score of the translation that each beam width returns: log p divided by the length penalty. "
        "Higher is better."
    )
    return View(picture, found, caption, _full(text, int(found["worst"]), ALPHA))


def penalty(shipped: "Shipped", *, length: int) -> View:
    """What a log-probability is divided by, over the number of tokens."""
    lengths = np.arange(1, 2 * length + 1)
    lines: dict[str, np.ndarray] = {
        f"α = {alpha:g}": np.array([length_penalty(int(n), alpha) for n in lengths]) for alpha in (0.0, ALPHA, 1.0)
    }
    found: dict[str, float | str] = {
        "alpha": ALPHA, "length": length, "double": 2 * length, "at": length_penalty(length, ALPHA),
        "at_double": length_penalty(2 * length, ALPHA), "none": length_penalty(length, 0.0),
        "ratio": length_penalty(2 * length, ALPHA) / length_penalty(length, ALPHA),
    }  # fmt: skip
    found["verdict"] = (
        said("It grows, but does not double") if float(found["ratio"]) < 2 else said("It at least doubles")
    )
    picture = Curves(
        x=lengths.astype(float), lines=lines, x_name=said("tokens"), y_name=said("length penalty"),
        upright=float(length),
    )  # fmt: skip
    caption = said("((5 + n) ÷ 6)^α (Wu et al. 2016), for three exponents. Dotted line: the length in the text.")
    return View(picture, found, caption, FullPage("decoding", {"decoding_tab": "Film", "search": "Beam search"}))


def alphas(shipped: "Shipped", *, text: str, percents: list[int]) -> View:
    """What a beam as wide as the paper's returns with several exponents of the length penalty."""
    results = {percent: _found(shipped, text, WIDTH, percent / 100) for percent in percents}
    first, *_, last = percents
    (without, shorter), (_, longer) = results[first], results[last]
    found: dict[str, float | str] = {"width": WIDTH, "texts": len({own for own, _ in results.values()})}
    rows: list[tuple[str | Marked, ...]] = []
    for percent, (own, node) in results.items():
        found |= {f"text_{percent}": own, f"tokens_{percent}": node.step + 1, f"log_prob_{percent}": node.total}
        shown = own if percent == first else differing(without, own)
        rows.append((f"{percent / 100:g}", shown, str(node.step + 1), *_numbers(node)))
    found["verdict"] = said("Longer") if longer.step > shorter.step else said("Not longer")
    columns = (
        Column("α", is_number=True),
        Column(said("German"), language="de"),
        Column(said("tokens"), is_number=True),
        *_NUMBERS,
    )
    caption = said(
        "The winner at beam width {width} for each exponent; differences from the first are marked.", width=WIDTH
    )
    return View(Rows(columns, tuple(rows)), found, caption, _full(text, WIDTH, first / 100))


@cached(max_entries=64)
def _tree(translator: Translator, text: str, width: int, alpha: float) -> BeamTree:
    return translator.beam_tree(text, width, alpha)


def _found(shipped: "Shipped", text: str, width: int, alpha: float) -> tuple[str, BeamNode]:
    """What a beam returns, as text, and the end of it."""
    tree = _tree(shipped.translator, text, width, alpha)
    return _text(tree, tree.winner, shipped), tree.winner


def _text(tree: BeamTree, node: BeamNode, shipped: "Shipped | None" = None) -> str:
    path = tree.path(node.index)
    if shipped is None:
        return "".join(display_token(own.token) for own in path).replace("▁", " ").strip()
    end = shipped.translator.config.eos_id
    return shipped.translator.tokenizer.decode([own.token_id for own in path if own.token_id != end])


def _numbers(node: BeamNode) -> tuple[str, str]:
    return written_number(node.total, ".2f"), written_number(node.score or 0.0, ".2f")


def _full(text: str, width: int, alpha: float) -> FullPage:
    choices = {
        "text": text,
        "decoding_tab": "Film",
        "search": "Beam search",
        "beam_size": width,
        "length_penalty": round(100 * alpha),
    }
    return FullPage("decoding", choices)


_NUMBERS: Final = (Column(said("log p"), is_number=True), Column(said("score"), is_number=True))
