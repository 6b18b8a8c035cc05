"""Views of whole heads: one opened, all of an attention, and what each was measured to do."""

from typing import TYPE_CHECKING, Final

import numpy as np

from model import later
from model.errors import CheckpointError
from model.training_record import read_metrics
from viz.access import attention, findings, models
from viz.pages.learn.lessons.data.shipped import is_most, nearest_share
from viz.pages.learn.lessons.lesson import OfHead
from viz.pages.learn.lessons.pictures import Bars, FullPage, Heads, Rows, View
from viz.pictures.matrix_picture.component import ColourScale, MatrixData
from viz.text.html import Column
from viz.text.messages import said
from viz.text.metrics import JOBS
from viz.text.written import (
    ENCODER,
    NAMES,
    SITES,
    NamedHead,
    file_name,
    head_label,
    head_name,
    head_numbers,
    layer_labels,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from viz.pages.learn.lessons.data.shipped import Shipped


#: Over what the atlas measures which head follows antecedents.
CURATED: Final = said("the curated pronoun sentences")


def opened(shipped: "Shipped", *, text: str, head: str, model: str = "") -> View:
    """One head as a heatmap, of the model of the lessons or of another one on the server's list."""
    trace = shipped.trace_of(model, text)
    site, layer, number = shipped.head(trace, head)
    weights = trace.weights(site, layer, [number])[0].numpy()
    rows, keys = trace.row_names(site), trace.axis_tokens(site)[1]
    reach = min(weights.shape)
    name, before, after = NamedHead(site, layer, number), np.arange(reach - 1), np.arange(1, reach)
    found: dict[str, float | str] = {
        "head": name,
        "attention": NAMES[site].phrase,
        "rows": len(rows),
        "keys": len(keys),
        "previous": OfHead(weights[after, before].mean(), name),
        "next": OfHead(weights[before, after].mean(), name),
        "same": OfHead(np.diagonal(weights).mean(), name),
        "later": OfHead(np.triu(weights, 1).sum(axis=1).mean(), name),
    }
    followers = _followers(keys) if site.endswith("self") else []
    if followers:
        found["follower"] = OfHead(np.mean([weights[row, key] for row, key in followers]), name)
    message = "Weights of {head} of the {attention} as a heatmap."
    picture = MatrixData(
        values=weights,
        row_tokens=rows,
        column_tokens=keys,
        scale=ColourScale.root(said("weight"), 1.0),
        title=said("{head}, {attention}", head=head_label(layer, number), attention=NAMES[site].phrase),
        label=said(message, head=head_label(layer, number), attention=NAMES[site].phrase),
        caption=NAMES[site].label,
        row_name=said("query"),
        column_name=said("key"),
        rows_write=trace.rows_write(site),
        file_name=file_name(head_name(site, layer, number), sentence=text),
    )
    caption = said("Rows are queries, columns are keys; the lighter, the more weight. Every row sums to 1.")
    choices = {"text": text, "site": site, "layer": layer, "head": number}
    if model:
        choices["checkpoint"] = model
    return View(picture, found, caption, FullPage("attention", choices))


def _followers(tokens: "Sequence[str]") -> list[tuple[int, int]]:
    """For each token that came before: its position, and that of what followed it when it came last."""
    last: dict[str, int] = {}
    found = []
    for position, token in enumerate(tokens):
        if token in last:
            found.append((position, last[token] + 1))
        last[token] = position
    return found


def grid(shipped: "Shipped", *, text: str, site: str) -> View:
    """Every head of one attention."""
    trace = shipped.trace(text)
    layers, heads = trace.shapes[site]
    found: dict[str, float | str] = {
        "layers": layers,
        "heads": heads,
        "all": sum(layers * heads for layers, heads in trace.shapes.values()),
        "d_model": shipped.translator.config.d_model,
        "d_k": shipped.translator.config.d_model // heads,
    }
    caption = said("Each tile is a head, each row of tiles a layer; in a tile, rows are queries and columns keys.")
    return View(Heads(trace, site), found, caption, FullPage("attention", {"text": text, "site": site}))


def jobs(shipped: "Shipped") -> View:
    """The surest head of every job that the atlas knows in each attention, and how many heads have none."""
    rows, heads, named = [], 0, 0
    for site in SITES:
        measured = findings.of_model(shipped.choice, site)
        config = shipped.translator.config
        heads += config.num_heads * (config.num_layers if site.startswith("encoder") else config.decoder_layers)
        named += 0 if measured is None else len(measured.of_heads)
        best: dict[str, tuple[float, tuple[int, int], str]] = {}
        for (layer, head), of_head in ({} if measured is None else measured.of_heads).items():
            for job in of_head:
                if job.metric not in best or job.value > best[job.metric][0]:
                    best[job.metric] = job.value, (layer, head), NamedHead(site, layer, head, with_site=True)
        taught = models.taught_head(shipped.choice, site)
        rows += [
            (JOBS[metric].name, said("{head} (taught)", head=name) if at == taught else name, f"{value:.2f}")
            for metric, (value, at, name) in best.items()
        ]
    found: dict[str, float | str] = {
        "heads": heads,
        "named": named,
        "unnamed": heads - named,
        "jobs": len(rows),
        "share": named / heads,
    }
    found["verdict"] = nearest_share({0.1: said("A tenth"), 0.5: said("Half"), 1.0: said("Nearly all")}, named / heads)
    columns = Column(said("job")), Column(said("clearest head")), Column(said("metric"), is_number=True)
    picture = Rows(columns, tuple(rows))
    least = {rule.metric: rule.threshold for rule in later.head_jobs.RULES}
    caption = said(
        "For each job and attention, the head that does it most clearly. The metric is a mean weight (threshold "
        "{weight:.1f}); for antecedents, a share of sentences ({antecedent:.1f}); for alignment, 1 minus the error "
        "rate ({alignment:.1f}).",
        weight=least["previous"], antecedent=least["antecedent"], alignment=least["aer_word_out"],
    )  # fmt: skip
    return View(picture, found, caption, FullPage("atlas"))


def parts(shipped: "Shipped", *, text: str, site: str, layer: int, word: str) -> View:
    """How long a vector each head of a layer adds to the output of its attention for one word."""
    trace = shipped.trace(text)
    at = shipped.row(trace, site, word)
    added = attention.head_parts(trace, shipped.translator, site, layer, at)
    lengths = np.linalg.norm(added, axis=1)
    total = float(np.linalg.norm(added.sum(0)))
    found: dict[str, float | str] = {
        "word": word, "attention": NAMES[site].phrase, "layer": layer + 1, "heads": len(lengths),
        "d_model": added.shape[1], "d_k": added.shape[1] // len(lengths),
        "longest": NamedHead(site, layer, int(lengths.argmax())),
        "length": float(lengths.max()), "shortest_length": float(lengths.min()),
        "sum_of_lengths": float(lengths.sum()), "length_of_sum": total,
        "verdict": said("Smaller") if total < lengths.sum() else said("Equal"),
    }  # fmt: skip
    picture = Bars(
        labels=[head_label(layer, head) for head in range(len(lengths))],
        series={said("norm"): lengths},
        number=said("norm of the head's output × its rows of W_O"),
        marked=int(lengths.argmax()),
    )
    caption = said(
        "One bar per head: the norm of the vector that it adds to the output of this attention for this word."
    )
    choices = {"text": text, "site": site, "layer": layer, "head": int(lengths.argmax()), "token": at}
    return View(
        picture, found, caption, FullPage("learn", {**choices, "learn_tab": "The Transformer", "depth": "head"})
    )


def links(shipped: "Shipped", *, text: str, site: str, word: str, key: str) -> View:
    """What a word gives another one in every head of an attention."""
    trace = shipped.trace(text)
    at, keys = shipped.row(trace, site, word), shipped.keys(trace, site, key)
    weights = attention.cell_weights(trace, site, [at], keys)
    layer, head = map(int, np.unravel_index(np.nanargmax(weights), weights.shape))
    name, above_half = NamedHead(site, layer, head), int((weights > 0.5).sum())
    found: dict[str, float | str] = {
        "head": name, "attention": NAMES[site].phrase, "word": word, "key": key,
        "weight": OfHead(weights[layer, head], name), "mean": float(np.nanmean(weights)),
        "heads": int(weights.size), "above_half": above_half,
        "even": len(keys) / len(trace.axis_tokens(site)[1]),
    }  # fmt: skip
    found["verdict"] = said("In most heads") if is_most(above_half, weights.size) else said("In few heads")
    layers, heads = weights.shape
    message = "Weight from {word} to {key} in every head of the {attention}, as a heatmap."
    picture = MatrixData(
        values=weights.astype(np.float32),
        row_tokens=layer_labels(layers),
        column_tokens=head_numbers(heads),
        scale=ColourScale.root(said("weight"), 1.0),
        title=said("From “{word}” to “{key}”, {attention}", word=word, key=key, attention=NAMES[site].phrase),
        label=said(message, word=word, key=key, attention=NAMES[site].phrase),
        row_name=said("layer"),
        column_name=said("head"),
        file_name=file_name("links", site, word, key),
    )
    caption = said("One cell per head, layers from top to bottom: the weight from the first word to the second.")
    choices = {"text": text, "site": site, "layer": layer, "head": head, "token": at, "key_token": keys[0]}
    return View(picture, found, caption, FullPage("attention", choices))


def followed(shipped: "Shipped") -> View:
    """In which share of the curated sentences each head that follows antecedents does so, with its interval."""
    rows: list[tuple[str, ...]] = []
    best: dict[str, float | str] = {"value": 0.0, "head": said("none"), "low": 0.0, "high": 0.0}
    for site in SITES:
        measured = findings.of_model(shipped.choice, site)
        for (layer, head), jobs_of_head in ({} if measured is None else measured.of_heads).items():
            for job in jobs_of_head:
                if job.metric == "antecedent":
                    low, high = job.low or job.value, job.high or job.value
                    interval = said("{low:.2f} to {high:.2f}", low=low, high=high)
                    name = NamedHead(site, layer, head, with_site=True)
                    rows.append((name, f"{job.value:.2f}", interval))
                    if job.value > float(best["value"]):
                        numbers = {"value": job.value, "low": low, "high": high}
                        best = {"head": name, **{of: OfHead(number, name, CURATED) for of, number in numbers.items()}}
    found: dict[str, float | str] = {"heads": len(rows), "over": CURATED, **best}
    columns = (
        Column(said("head")),
        Column(said("antecedent gets more weight"), is_number=True),
        Column(said("95% interval")),
    )
    picture = Rows(columns, tuple(rows))
    caption = said(
        "Heads that follow antecedents, according to the atlas: the share of sentences in which the antecedent gets "
        "more weight than the other noun."
    )
    return View(picture, found, caption, FullPage("atlas"))


#: Kind of a curated sentence, as metrics.json names it → what it is about.
_KINDS: Final = {
    "it": said("“it”: a subject and another noun"),
    "equal": said("“it”: two nouns side by side"),
    "people": said("people: he, she, they"),
    "possessive": said("possessives: its, his, her"),
    "reflexive": said("reflexives: himself, herself"),
}


def kinds(shipped: "Shipped") -> View:
    """Of the head with the best accuracy on the curated sentences: that accuracy, and the one in each of their kinds.

    As `python -m model coreference` measured them. Raises a CheckpointError where the folder does not hold this.
    """
    metrics = read_metrics(models.folder(shipped.choice))
    rows = {} if metrics is None else {of.command: dict(of.rows) for of in metrics.measurements}
    measured = rows.get("python -m model coreference --data curated --json", {})
    if "groups · it · accuracy" not in measured:
        message = "{name} ships without measurements for each kind of pronoun."
        raise CheckpointError(message, name=models.name_of(shipped.choice))
    numbers = {name: float(value) for name, value in measured.items() if isinstance(value, int | float)}
    name = NamedHead(ENCODER, int(numbers["best_head · layer"]), int(numbers["best_head · head"]))
    values = np.array([numbers[f"groups · {kind} · accuracy"] for kind in _KINDS])
    counts = [int(numbers[f"groups · {kind} · rows"]) for kind in _KINDS]
    is_taught = models.taught_head(shipped.choice, ENCODER) == (name.layer, name.head)
    found: dict[str, float | str] = {
        "head": name, "over": CURATED, "rows": int(numbers["rows"]), "taught": "yes" if is_taught else "no",
        "overall": OfHead(numbers["best_head · accuracy"], name, CURATED), "sum": sum(counts),
        **{kind: OfHead(value, name, CURATED) for kind, value in zip(_KINDS, values, strict=True)},
    }  # fmt: skip
    of_kind = said("antecedent gets more weight")
    labels = [said("{kind} ({count})", kind=kind, count=n) for kind, n in zip(_KINDS.values(), counts, strict=True)]
    picture = Bars(labels=labels, series={of_kind: values}, number=of_kind, top=1.0)
    caption = said("The share of sentences in which {head} gives the antecedent more weight. Chance is 0.5.", head=name)
    return View(picture, found, caption, FullPage("coreference", {"coreference_tab": "Measured"}))
