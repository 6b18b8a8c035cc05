"""Views of attention by hand: three tokens of two numbers, every product written out, and the same of a real head."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from viz.access import attention
from viz.pages.learn.lessons.lesson import OfHead
from viz.pages.learn.lessons.pictures import Bars, FullPage, Rows, View
from viz.text.html import Column
from viz.text.messages import said
from viz.text.written import NAMES, NamedHead, spoken, written_number

if TYPE_CHECKING:
    from viz.pages.learn.lessons.data.shipped import Shipped

#: What a step of the example shows.
Shown = Literal["projections", "weights", "output"]
Matrix = Sequence[Sequence[int]]
#: Three tokens, their vectors, and W_Q, W_K and W_V, so small that a pencil suffices.
TOKENS: Final = ("animal", "was", "it")
VECTORS: Final = ((1, 0), (0, 1), (1, 2))
MATRICES: Final = (((0, 1), (1, 0)), ((1, 1), (-1, 1)), ((4, 0), (0, 2)))
_FULL: Final = FullPage("learn", {"learn_tab": "The Transformer", "depth": "head"})


def by_hand(
    shipped: "Shipped",
    *,
    shown: Shown,
    tokens: Sequence[str] = TOKENS,
    vectors: Matrix = VECTORS,
    matrices: Sequence[Matrix] = MATRICES,
) -> View:
    """One head (§3.2.1) over few tokens, for the query of the last: q, k and v, its weights, or its output.

    `vectors`: a row for each token; `matrices`: W_Q, W_K and W_V.
    """
    x = np.array(vectors)
    arrays = [np.array(each) for each in matrices]
    q, k, v = (x @ each for each in arrays)
    own, root = q[-1], len(q[-1]) ** 0.5
    scores = k @ own / root
    powers = np.exp(scores)
    weights = powers / powers.sum()
    output = weights @ v
    top = int(weights.argmax())
    found: dict[str, float | str] = {
        "word": tokens[-1], "top": tokens[top], "weight": float(weights[top]), "tokens": len(tokens), "d_k": len(own),
        "root": root, "query": _vector(own), "key": _vector(k[0]), "first": tokens[0], "value": _vector(v[top]),
        "dot": float(own @ k[0]), "by_d_k": float(own @ k[0]) / len(own), "scaled": float(scores[0]),
        "least": float(weights.min()), "output": _vector(output), "sum": float(weights.sum()),
        "distance": float(np.linalg.norm(output - v[top])), "farthest": float(np.linalg.norm(output - v, axis=1).max()),
    }  # fmt: skip
    found["answer"] = f"{found['scaled']:.2f}"
    names: tuple[str, ...]
    rows: list[tuple[str, ...]]
    match shown:
        case "projections":
            names = ("x", "q = x W_Q", "k = x W_K", "v = x W_V")
            rows = [(said("matrix"), "", *(", ".join(map(_vector, each)) for each in arrays))]
            rows += [
                (token, _vector(own), *(f"({_products(own, each)}) = {_vector(own @ each)}" for each in arrays))
                for token, own in zip(tokens, x, strict=True)
            ]
            caption = said("Each number is a row times a column: the token's x times one column of the matrix.")
        case "weights":
            names = (said("key"), "q · k", "÷ √dₖ", said("e to the power of the score"), said("weight"))
            rows = [
                (
                    token, _vector(of), f"{_product(own, of)} = {_number(own @ of)}", written_number(score, ".2f"),
                    f"{power:.2f}", f"{power:.2f} ÷ {powers.sum():.2f} = {weight:.2f}",
                )
                for token, of, score, power, weight in zip(tokens, k, scores, powers, weights, strict=True)
            ]  # fmt: skip
            rows.append((said("sum"), "", "", "", f"{powers.sum():.2f}", f"{weights.sum():.2f}"))
            caption = said(
                "The query of “{word}” is {query}. The weights sum to 1. Numbers are rounded.",
                word=tokens[-1],
                query=_vector(own),
            )
        case "output":
            names = (said("weight"), said("value"), said("weight × value"))
            rows = [
                (token, f"{weights[at]:.2f}", _vector(v[at]), _vector(weights[at] * v[at]))
                for at, token in enumerate(tokens)
            ]
            rows.append((said("sum"), f"{weights.sum():.2f}", "", _vector(output)))
            caption = said(
                "The last row is the output of the head for “{word}”. Numbers are rounded to two decimals.",
                word=tokens[-1],
            )
    columns = (Column(said("token")), *(Column(name) for name in names))
    return View(Rows(columns, tuple(rows)), found, caption, _FULL)


def products(shipped: "Shipped", *, text: str, head: str, word: str) -> View:
    """The products of a real query and the key with its largest weight, one for each of their numbers."""
    trace, (site, layer, number), at = shipped.looking(text, head, word)
    row = attention.derived_row(trace, site, layer, number, at, scaled=True, masked=True)
    best, name = int(row.weights.argmax()), NamedHead(site, layer, number)
    terms = row.products[best].numpy()
    found: dict[str, float | str] = {
        "head": name, "attention": NAMES[site].phrase, "word": word, "top": spoken(trace.axis_tokens(site)[1][best]),
        "d_k": len(terms), "root": len(terms) ** 0.5, "dot": OfHead(float(row.dots[best]), name),
        "sum": float(terms.sum()), "scaled": OfHead(float(row.scaled[best]), name),
        "largest": OfHead(terms.max(), name), "negative": int((terms < 0).sum()),
        "weight": OfHead(float(row.weights[best]), name), "miss": float(abs(terms.sum() - row.dots[best])),
    }  # fmt: skip
    product = said("product")
    picture = Bars(labels=[str(at + 1) for at in range(len(terms))], series={product: terms}, number=product)
    caption = said("One bar for each component: the query's times the key's. Their sum is q · k.")
    choices = {"text": text, "site": site, "layer": layer, "head": number, "token": at, "key_token": best}
    return View(picture, found, caption, FullPage(_FULL.page, {**_FULL.choices, **choices}))


def _number(value: float) -> str:
    """An integer as it is, another number with two decimals."""
    return written_number(float(value), ".0f" if float(value).is_integer() else ".2f")


def _vector(values: Sequence[float] | np.ndarray) -> str:
    return f"({', '.join(map(_number, values))})"


def _product(one: np.ndarray, other: np.ndarray) -> str:
    """A dot product, written out: 2·1 + 1·(−1)."""
    terms = (f"{_number(a)}·{_number(b) if b >= 0 else f'({_number(b)})'}" for a, b in zip(one, other, strict=True))
    return " + ".join(terms)


def _products(row: np.ndarray, matrix: np.ndarray) -> str:
    return ", ".join(_product(row, column) for column in matrix.T)
