"""Views of the masks: who may see whom in each of the three attentions."""

from typing import TYPE_CHECKING

import numpy as np

from model import later
from viz import theme
from viz.pages.learn.lessons.pictures import FullPage, Rows, View
from viz.pictures.matrix_picture.component import ColourScale, MatrixData
from viz.text.html import Column
from viz.text.messages import said
from viz.text.sites import DECODER, NAMES, file_name
from viz.text.token_text import display_token

if TYPE_CHECKING:
    from viz.pages.learn.lessons.data.shipped import Shipped


def mask(shipped: "Shipped", *, text: str, site: str) -> View:
    """The mask of an attention: light where a query may look."""
    trace = shipped.trace(text)
    allowed = trace.mask(site, 0).numpy()
    largest = max(
        float(np.where(allowed, 0.0, trace.weights(site, layer).numpy()).max())
        for layer in range(trace.layers_of(site))
    )
    rows, keys = trace.row_names(site), trace.axis_tokens(site)[1]
    middle = len(rows) // 2
    found: dict[str, float | str] = {
        "rows": len(rows),
        "keys": len(keys),
        "forbidden": int((~allowed).sum()),
        "forbidden_weight": largest,
        "seen_first": int(allowed[0].sum()),
        "seen_last": int(allowed[-1].sum()),
        "middle": rows[middle],
        "seen_middle": int(allowed[middle].sum()),
        "position": middle + 1,
        "first_read": trace.target_tokens[0] if site == DECODER else keys[0],
    }
    found["verdict"] = (
        said("Itself and what comes before it")
        if not np.triu(allowed, 1).any() and allowed.diagonal().all()
        else said("Everything")
    )
    picture = MatrixData(
        values=allowed.astype(np.float32),
        row_tokens=rows,
        column_tokens=keys,
        scale=ColourScale(said("allowed"), theme.SEQUENTIAL, 0.0, 1.0, 1.0, ((0.0, said("no")), (1.0, said("yes")))),
        title=said("Mask of the {attention}", attention=NAMES[site].phrase),
        label=said("Mask of the {attention} as a heatmap.", attention=NAMES[site].phrase),
        row_name=said("query"),
        column_name=said("key"),
        file_name=file_name("mask", site, sentence=text),
    )
    caption = (
        said("Dark: the score is −∞, so the weight is exactly 0. Light: this query may attend to this key.")
        if not allowed.all()
        else said("All cells are light: every query may attend to every key.")
    )
    return View(picture, found, caption, FullPage("paper", {"paper_tab": "Masks", "text": text, "site": site}))


def shifted(shipped: "Shipped", *, text: str) -> View:
    """What the decoder reads and writes at each position: the same tokens, shifted right by one."""
    trace = shipped.trace(text)
    read = [display_token(token) for token in trace.target_tokens]
    wrote = [display_token(step.token) for step in trace.steps]
    rows = tuple((str(at), one, other) for at, (one, other) in enumerate(zip(read, wrote, strict=False), 1))
    found: dict[str, float | str] = {
        "first": read[0], "first_written": wrote[0], "last_written": wrote[-1], "positions": len(rows),
        "differing": sum(one != other for one, other in zip(read[1:], wrote, strict=False)),
        "translation": trace.translation,
    }  # fmt: skip
    picture = Rows((Column(said("position"), is_number=True), Column(said("reads")), Column(said("writes"))), rows)
    caption = said("Each row is one step; the token it writes is read in the next.")
    return View(picture, found, caption, FullPage("decoding", {"text": text, "decoding_tab": "Film"}))


def padding(shipped: "Shipped", *, texts: list[str]) -> View:
    """Sentences of different lengths as one batch: which positions are real, and whether company changes the result."""
    model, tokenizer = shipped.translator.model, shipped.translator.tokenizer
    traces = [shipped.trace(text) for text in texts]
    lengths = [len(trace.source_tokens) for trace in traces]
    longest = max(lengths)
    real = np.array([[float(at < length) for at in range(longest)] for length in lengths], np.float32)
    together = later.evaluation.translate_all(model, tokenizer, texts)
    found: dict[str, float | str] = {
        "sentences": len(texts), "longest": longest, "shortest": min(lengths), "padded": int((real == 0).sum()),
        "same": sum(trace.translation == other for trace, other in zip(traces, together, strict=True)),
    }  # fmt: skip
    found["verdict"] = said("No") if found["same"] == len(texts) else said("Yes")
    picture = MatrixData(
        values=real,
        row_tokens=[" ".join(text.split()[:4]) + " …" for text in texts],
        column_tokens=[str(at) for at in range(1, longest + 1)],
        scale=ColourScale(said("real"), theme.SEQUENTIAL, 0.0, 1.0, 1.0, ((0.0, said("pad")), (1.0, said("token")))),
        title=said("A batch of sentences"),
        label=said("Which positions of a batch contain tokens and which padding, as a heatmap."),
        row_name=said("sentence"),
        column_name=said("position"),
        file_name=file_name("padding"),
    )
    caption = said("Rows are sentences, columns positions. Light: a token. Dark: padding, a masked key.")
    return View(picture, found, caption, FullPage("paper", {"paper_tab": "Masks", "text": texts[0]}))
