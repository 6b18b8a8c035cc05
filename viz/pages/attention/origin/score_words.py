"""What the first steps of the story say of a score, for each score function by its name in files."""

from typing import Final, NamedTuple


class ScoreWords(NamedTuple):
    """What the first steps call a score, how it comes about, and its formula for a query and a key."""

    title: str
    formula: str
    how: str
    short: str


SCORES: Final = {
    "dot": ScoreWords(
        "One dot product", "q · k = q₁k₁ + q₂k₂ + … = Σ qᵢkᵢ", "Multiply them in pairs and add up", "q · k"
    ),
    "additive": ScoreWords(
        "One additive score",
        "vᵀ tanh(q + k) = Σ vᵢ tanh(qᵢ + kᵢ)",
        "Add them in pairs, bend each sum by tanh, weigh it by vᵢ, which was learned, and add up",
        "vᵀ tanh(q + k)",
    ),
    "general": ScoreWords(
        "One bilinear score",
        "qᵀ M k = Σ (qᵀM)ᵢ kᵢ",
        "Map the query by M, which was learned, multiply in pairs and add up",
        "qᵀ M k",
    ),
}
