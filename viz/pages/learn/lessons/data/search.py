"""Views of decoding: the candidates of a step, greedy beside beam search, beams of several widths, length penalty."""

from typing import TYPE_CHECKING, Final

import numpy as np

from model import Translator
from model.decoding.beam import BeamNode, BeamTree, length_penalty
from viz.pages.learn.lessons.data.outputs import differing
from viz.pages.learn.lessons.pictures import Bars, Curves, FullPage, Rows, View
from viz.server.caches import cached
from viz.text.html import Column, Marked
from viz.text.messages import said
from viz.text.token_text import display_token

if TYPE_CHECKING:
    from viz.pages.learn.lessons.data.shipped import Shipped

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
    found: dict[str, float | str] = {
        "step": at + 1, "first": _word(shown[0].token), "first_probability": float(values[0]),
        "second": _word(shown[1].token), "second_probability": float(values[1]),
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


def greedy_and_beam(shipped: "Shipped", *, text: str) -> View:
    """What greedy decoding writes beside the winner of a beam as wide as the paper's, and how probable each is."""
    greedy, beam = _found(shipped, text, 1, ALPHA), _found(shipped, text, WIDTH, ALPHA)
    found: dict[str, float | str] = {
        "width": WIDTH, "greedy": greedy[0], "beam": beam[0], "greedy_log_prob": greedy[1].total,
        "beam_log_prob": beam[1].total, "times": float(np.exp(beam[1].total - greedy[1].total)),
        "greedy_score": greedy[1].score or 0.0, "beam_score": beam[1].score or 0.0,
        "same": "yes" if greedy[0] == beam[0] else "no",
    }  # fmt: skip
    found["verdict"] = said("No") if beam[1].total > greedy[1].total else said("Yes")
    rows = (
        (said("greedy"), greedy[0], *_numbers(greedy[1])),
        (said("beam of {width}", width=WIDTH), differing(greedy[0], beam[0]), *_numbers(beam[1])),
    )
    columns = (Column(said("search")), Column(said("German"), language="de"), *_NUMBERS)
    caption = said(
        "log p: the sum over all tokens. Score: the same divided by the length penalty. Differences are marked."
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
        texts = [f"{_text(tree, node)} ({node.total:.1f})" for node in kept]
        rows.append((str(step + 1), *texts, *[""] * (WIDTH - len(texts))))
    found: dict[str, float | str] = {
        "width": WIDTH, "leads": leads, "steps": steps, "parts": parted[0].step + 1, "first": _word(parted[0].token),
        "winner": _word(parted[1].token), "nodes": len(tree.nodes) - 1,
    }  # fmt: skip
    ranks = (Column(said("rank {rank}", rank=rank), language="de") for rank in range(1, WIDTH + 1))
    columns = (Column(said("step"), is_number=True), *ranks)
    caption = said("After each step: the hypotheses kept, with the sum of their log-probabilities so far.")
    return View(Rows(columns, tuple(rows)), found, caption, _full(text, WIDTH, ALPHA))


def widths(shipped: "Shipped", *, text: str, widths: list[int]) -> View:
    """The score of the winner of beams of several widths."""
    results = {width: _found(shipped, text, width, ALPHA) for width in widths}
    scores = np.array([node.score or 0.0 for _, node in results.values()])
    found: dict[str, float | str] = {
        "falls": int((np.diff(scores) < -1e-6).sum()), "texts": len({own for own, _ in results.values()}),
        "first": float(scores[0]), "least": float(scores.min()), "worst": widths[int(scores.argmin())],
        "before_worst": widths[max(0, int(scores.argmin()) - 1)], "last": float(scores[-1]), "widest": widths[-1],
    }  # fmt: skip
    found |= {f"width_{width}": own for width, (own, _) in results.items()}
    found["verdict"] = said("No") if found["falls"] else said("Yes")
    picture = Curves(
        x=np.array(widths, float), lines={said("score"): scores}, x_name=said("beam width, 1 is greedy decoding"),
        y_name=said("score"), points={said("result of each width"): (np.array(widths, float), scores)},
    )  # fmt: skip
    caption = said(
        "The score of the translation that each beam returns: log p divided by the length penalty. Higher is better."
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
    found["verdict"] = said("Less than doubled") if float(found["ratio"]) < 2 else said("Doubled or more")
    picture = Curves(
        x=lengths.astype(float), lines=lines, x_name=said("tokens"), y_name=said("length penalty"),
        upright=float(length),
    )  # fmt: skip
    caption = said("((5 + n) ÷ 6)^α (Wu et al. 2016), for three exponents. Dotted line: the length in the text.")
    return View(picture, found, caption, FullPage("decoding", {"decoding_tab": "Film", "search": "Beam search"}))


def alphas(shipped: "Shipped", *, text: str, percents: list[int]) -> View:
    """What a beam as wide as the paper's returns with several exponents of the length penalty."""
    results = {percent: _found(shipped, text, WIDTH, percent / 100) for percent in percents}
    first = results[percents[0]][0]
    found: dict[str, float | str] = {"width": WIDTH, "texts": len({own for own, _ in results.values()})}
    rows: list[tuple[str | Marked, ...]] = []
    for percent, (own, node) in results.items():
        found |= {f"text_{percent}": own, f"tokens_{percent}": node.step + 1, f"log_prob_{percent}": node.total}
        shown = own if percent == percents[0] else differing(first, own)
        rows.append((f"{percent / 100:g}", shown, str(node.step + 1), *_numbers(node)))
    is_longer = results[percents[-1]][1].step > results[percents[0]][1].step
    found["verdict"] = said("Longer") if is_longer else said("Not longer")
    columns = (
        Column("α", is_number=True),
        Column(said("German"), language="de"),
        Column(said("tokens"), is_number=True),
        *_NUMBERS,
    )
    caption = said(
        "The winner of a beam of {width} with each exponent; differences from the first are marked.", width=WIDTH
    )
    return View(Rows(columns, tuple(rows)), found, caption, _full(text, WIDTH, percents[0] / 100))


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
    return f"{node.total:.2f}", f"{node.score or 0.0:.2f}"


def _word(token: str) -> str:
    """A token as it stands in a sentence, without the sign that it begins a word."""
    return display_token(token).removeprefix("▁")


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
