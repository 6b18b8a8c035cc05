"""Say in words and as a formula what the numbers of an open head can be."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from viz.text.messages import said
from viz.text.written import CROSS

if TYPE_CHECKING:
    from model import Abilities


@dataclass(frozen=True, slots=True)
class Measure:
    """A way to read a head."""

    label: str  #: on the control
    number: str  #: what one number is called
    #: meaning, formula: one sentence, and TeX.
    meaning: str
    formula: str
    is_share: bool  #: whether numbers lie between 0 and 1, and a row of them sums to 1
    is_per_head: bool  #: whether every head has its own
    #: cross_meaning, cross_formula: what holds at cross-attention instead, where that is something else.
    cross_meaning: str = ""
    cross_formula: str = ""

    def explained_at(self, site: str) -> tuple[str, str]:
        """Meaning and formula as they hold at a site."""
        if site == CROSS and self.cross_meaning:
            return self.cross_meaning, self.cross_formula
        return self.meaning, self.formula


MEASURES: Final[Mapping[str, Measure]] = {
    "weights": Measure(
        label=said("Weights"),
        number=said("weight"),
        meaning=said("How a query distributes its attention over the keys it may see."),
        formula=r"\alpha_{ij} = \mathrm{softmax}_j\left(q_i \cdot k_j / \sqrt{d_k}\right)",
        is_share=True,
        is_per_head=True,
    ),
    "norms": Measure(
        label=said("Norms"),
        number=said("norm"),
        meaning=said(
            "The norm of the vector that the head actually adds for a key: a large weight on a short vector changes "
            "little (Kobayashi et al. 2020). With the value bias; no upper bound, rows do not sum to 1."
        ),
        formula=r"\lVert \alpha_{ij}\,(x_j W_V + b_V)\,W_O \rVert",
        is_share=False,
        is_per_head=True,
    ),
    "rollout": Measure(
        label=said("Rollout"),
        number=said("share"),
        meaning=said(
            "How much of each input token has reached a position through all layers up to this one, averaged over "
            "heads, if half of it stays in place in each layer (Abnar & Zuidema 2020)."
        ),
        formula=r"R_\ell = \left(\tfrac{1}{2}\bar A_\ell + \tfrac{1}{2} I\right) R_{\ell-1},\quad R_0 = I",
        is_share=True,
        is_per_head=False,
        cross_meaning=said(
            "How much of each source token is in the input of this layer: its cross-attention, averaged over heads, "
            "times the rollout of the whole encoder (the rollout is by Abnar & Zuidema 2020; the last step is ours)."
        ),
        cross_formula=r"R_\ell = \bar A^{\,\mathrm{cross}}_\ell\, R^{\,\mathrm{encoder}}",
    ),
}


#: Score function, by the name that it has in files → the score of a query and a key.
_SCORES: Final = {"dot": r"q_i \cdot k_j", "additive": r"v^\top \tanh(q_i + k_j)", "general": r"q_i^\top M\, k_j"}
#: Norms where what a head puts out is read as it is.
NORMS_WITHOUT_PROJECTION: Final = r"\lVert \alpha_{ij}\, v_j \rVert"


def weights_formula(score: str, *, is_scaled: bool) -> str:
    """How weights come about with this score function, divided by √d_k or not, as TeX."""
    divisor = r" / \sqrt{d_k}" if is_scaled else ""
    return rf"\alpha_{{ij}} = \mathrm{{softmax}}_j\left({_SCORES[score]}{divisor}\right)"


def offered(abilities: "Abilities") -> tuple[str, ...]:
    """The measures that can be read of a model."""
    return tuple(name for name in MEASURES if name not in abilities.lacks)
