"""What the first steps of the story say of a score, for each score function by its name in files."""

from typing import Final, NamedTuple

from viz.text.messages import Message, said


class ScoreWords(NamedTuple):
    """What the first steps call a score, its formula, what they say of it (of `d_k` numbers), and its short form."""

    title: Message
    formula: str
    text: Message
    short: str


SCORES: Final = {
    "dot": ScoreWords(
        said("One dot product"),
        "q · k = q₁k₁ + q₂k₂ + … = Σ qᵢkᵢ",
        said(
            "A query and a key are {d_k} numbers each. Multiply them in pairs and add up: the two match if much of it "
            "is positive. Click another key to follow it."
        ),
        "q · k",
    ),
    "additive": ScoreWords(
        said("One additive score"),
        "vᵀ tanh(q + k) = Σ vᵢ tanh(qᵢ + kᵢ)",
        said(
            "A query and a key are {d_k} numbers each. Add them in pairs, bend each sum by tanh, weigh it by vᵢ, which "
            "was learned, and add up: the two match if much of it is positive. Click another key to follow it."
        ),
        "vᵀ tanh(q + k)",
    ),
    "general": ScoreWords(
        said("One bilinear score"),
        "qᵀ M k = Σ (qᵀM)ᵢ kᵢ",
        said(
            "A query and a key are {d_k} numbers each. Map the query by M, which was learned, multiply in pairs and "
            "add up: the two match if much of it is positive. Click another key to follow it."
        ),
        "qᵀ M k",
    ),
}
