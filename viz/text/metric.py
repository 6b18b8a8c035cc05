"""What a page says of a metric of a head: names, meanings, units, and why some heads have none."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from viz.text.messages import _, shown
from viz.text.written import decimal


@dataclass(frozen=True, slots=True)
class Job:
    """The job of a head for which the metric is high: its name, and the sign and colour under the head's tile."""

    name: str
    sign: str
    colour: str


@dataclass(frozen=True, kw_only=True)
class Metric:
    """What a metric is called, what it means, and how its numbers are written."""

    name: str
    meaning: str  #: as the end of a sentence
    of_norms: str = ""  #: what it means where shares of norms are read for weights; "" for the same
    #: Site → both meanings, where a site gives the metric another one.
    meanings_at: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    none_at: Mapping[str, str] = field(default_factory=dict)  #: site → why no head of it has the metric, as a sentence
    #: over: what it is measured over. Metrics of a sentence are also measured over a corpus and over a film.
    over: Literal["sentence", "corpus", "film"]
    unit: str = ""
    decimals: int = 2
    chance: float | None = None  #: the number that chance gives, if there is one: colours begin there
    is_share: bool = True  #: whether its numbers lie between 0 and 1
    is_error: bool = False  #: whether low is better
    #: why no sentence is strongest in it, with "{name}": it is measured on other texts than the corpus; "" else.
    elsewhere: str = ""
    formula: str = ""  #: as TeX
    source: str = ""  #: what to know of the formula, and where it is from
    job: Job | None = None

    def meaning_at(self, site: str, read_off: str = "weights") -> str:
        """What it means at a site, read off "weights" or "norms"."""
        weights, norms = self.meanings_at.get(site, (self.meaning, self.of_norms))
        return (read_off == "norms" and norms) or weights

    def why_none(self, site: str) -> str:
        """Why no head of a site has it, in the language of the page."""
        if site in self.none_at:
            return _(self.none_at[site])
        message = "“{name}” is undefined here: no token with several visible keys sees this key."
        return _(message, name=self.name)

    def written(self, value: float) -> str:
        """A number of it, with its unit."""
        return f"{decimal(value, self.decimals)} {shown(self.unit)}".rstrip()
