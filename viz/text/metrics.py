"""Every metric of a head, as people read it: one entry for each, under the key by which `model` computes it.

The other entry of a metric is in `METRICS` of `model.analysis.metrics.head_metrics`; a test compares both tables.
Menus, tiles, maps, tables, addresses and formulas follow from the entry.
"""

from collections.abc import Mapping
from typing import Final

from viz.text import word_times
from viz.text.messages import said
from viz.text.metric import Job, Metric
from viz.text.written import CROSS, DECODER, ENCODER
from viz.theme import HEAD_COLOURS

_RANDOM_TOKENS: Final = dict.fromkeys(
    (ENCODER, DECODER, CROSS),
    said("Metrics on repeated random tokens need a decoder-only model and are measured only from weights."),
)
_ON_RANDOM_TOKENS: Final = said("“{name}” is measured on random tokens, so sentences cannot be ranked by it.")
_SEPARATE: Final = said("“{name}” is measured on separate sentences, so those of the corpus cannot be ranked by it.")
_NOT_CROSS: Final = said(
    "Alignment error rates are defined for cross-attention only, where a German token attends to English ones."
)
_NO_ALIGNMENTS: Final = {
    ENCODER: _NOT_CROSS,
    DECODER: _NOT_CROSS,
    CROSS: said("No manual word alignments have been loaded. Load an alignment file under “Corpus”."),
}
_OWN_ATTENTION_ONLY: Final = {
    CROSS: said(
        "Cross-attention leads from one sentence to another, where no key is the previous token, the token itself or "
        "the next. “Diagonal” compares positions in the two sentences."
    )
}
_NOT_IN_AN_ENCODER: Final = said(
    "Induction is measured in the decoder's self-attention, which sees only earlier tokens."
)
_NO_ANTECEDENTS: Final = said(
    "“Follows antecedents” is measured only from weights, and only for translation models from English into German."
)
_SHARE: Final = r"S_i = \sum_{j \in T_i} \alpha_{ij}"
_OF_SHARES: Final = said(
    "Tᵢ contains the keys in question: i − 1, i, i + 1, the first, the last, those at most one from the diagonal, or "
    "all punctuation marks. Clark et al. 2019, §3; Kovaleva et al. 2019, *Revealing the Dark Secrets of BERT*."
)
_SPREAD: Final = r"H_i = -\sum_j \alpha_{ij} \log_2 \alpha_{ij}, \qquad D_i = \sum_j \alpha_{ij}\,|j - d_i|"
_OF_SPREADS: Final = said(
    "In bits, and in positions; dᵢ = i in self-attention, otherwise the position on the diagonal. Vig & Belinkov 2019, "
    "*Analyzing the Structure of Attention in a Transformer Language Model*; Clark et al. 2019, *What Does BERT Look "
    "At?*"
)
_ERROR_RATE: Final = r"\mathrm{AER} = 1 - \frac{|A \cap S| + |A \cap P|}{|A| + |S|}"
_OF_ERROR_RATES: Final = said(
    "A: each German word is linked to the English one to which the head gives most weight, when the word is predicted "
    "(as in Garg et al. 2019, *Jointly Learning to Align and Translate with Transformer Models*) or read (Chen et al. "
    "2020, *Accurate Word Alignment Induction from Neural Machine Translation*). S, P: sure and possible manual links "
    "(Och & Ney 2003); here P = S."
)


METRICS: Final[Mapping[str, Metric]] = {
    "word_out": Metric(
        name=said("Target word being predicted"),
        meaning=said(
            "the weight on the source words that the word being predicted translates, by manual word alignments, "
            "between 0 and 1"
        ),
        over="film",
    ),
    "word_in": Metric(
        name=said("Target word just read"),
        meaning=said(
            "the weight on the source words that the word just read translates, by manual word alignments, between 0 "
            "and 1"
        ),
        over="film",
    ),
    "entropy": Metric(
        name=said("Entropy"),
        meaning=said(
            "how widely a token spreads its weight: 0 bits for one key, 1 bit for two equal keys, 3 bits for eight"
        ),
        of_norms=said(
            "how widely the norms of the keys' contributions are spread for a token: 0 bits for one key, 1 bit for two "
            "equal keys, 3 bits for eight"
        ),
        over="sentence",
        unit=said("bits"),
        is_share=False,
        formula=_SPREAD,
        source=_OF_SPREADS,
    ),
    "distance": Metric(
        name=said("Mean distance"),
        meaning=said("Σ weight · |key − query|, the mean distance in positions between the attended key and the query"),
        of_norms=said(
            "Σ share of norms · |key − query|, the mean distance in positions between the attended key and the query"
        ),
        meanings_at={
            DECODER: (
                said(
                    "Σ weight · |key − query|, the mean distance in positions between the attended key and the token "
                    "that the row reads"
                ),
                said(
                    "Σ share of norms · |key − query|, the mean distance in positions between the attended key and the "
                    "token that the row reads"
                ),
            ),
            CROSS: (
                said(
                    "Σ weight · |key − diagonal|, the mean distance in source positions between the attended key and "
                    "the diagonal, the straight line from the first pair of tokens to the last, where a row counts by "
                    "the token that it reads"
                ),
                said(
                    "Σ share of norms · |key − diagonal|, the mean distance in source positions between the attended "
                    "key and the diagonal, the straight line from the first pair of tokens to the last, where a row "
                    "counts by the token that it reads"
                ),
            ),
        },
        over="sentence",
        unit=said("positions"),
        decimals=1,
        is_share=False,
        formula=_SPREAD,
        source=_OF_SPREADS,
    ),
    "confidence": Metric(
        name=said("Confidence"),
        meaning=said(
            "the largest weight that a token gives to any key other than </s>, between 0 and 1: high for a confident "
            "head"
        ),
        of_norms=said(
            "the largest share that a token gives to any key other than </s>, between 0 and 1: high for a confident "
            "head"
        ),
        over="corpus",
        formula=r"C_i = \max_{j \neq \texttt{</s>}} \alpha_{ij}",
        source=said(
            "Voita et al. 2019, *Analyzing Multi-Head Self-Attention*, §4: a head with a high mean is confident about "
            "one token."
        ),
    ),
    "previous": Metric(
        name=said("Previous token"),
        meaning=said("the weight on the previous token, between 0 and 1"),
        of_norms=said("the share of norms on the previous token, between 0 and 1"),
        meanings_at={
            DECODER: (
                said("the weight on the token before the one that a row reads, between 0 and 1"),
                said("the share of norms on the token before the one that a row reads, between 0 and 1"),
            )
        },
        none_at=_OWN_ATTENTION_ONLY,
        over="sentence",
        formula=_SHARE,
        source=_OF_SHARES,
        job=Job(said("previous token"), "←", HEAD_COLOURS[0]),
    ),
    "same": Metric(
        name=said("Same token"),
        meaning=said("the weight of a token on itself, between 0 and 1"),
        of_norms=said("the share of the norms in a row that is on the row's own token, between 0 and 1"),
        meanings_at={
            DECODER: (
                said("the weight on the token that a row reads, between 0 and 1"),
                said("the share of norms on the token that a row reads, between 0 and 1"),
            )
        },
        none_at=_OWN_ATTENTION_ONLY,
        over="sentence",
        formula=_SHARE,
        source=_OF_SHARES,
        job=Job(said("same token"), "=", HEAD_COLOURS[5]),
    ),
    "next": Metric(
        name=said("Next token"),
        meaning=said("the weight on the next token, between 0 and 1"),
        of_norms=said("the share of norms on the next token, between 0 and 1"),
        none_at={
            **_OWN_ATTENTION_ONLY,
            DECODER: said("The decoder has not written the next token yet and cannot attend to it."),
        },
        over="sentence",
        formula=_SHARE,
        source=_OF_SHARES,
        job=Job(said("next token"), "→", HEAD_COLOURS[3]),
    ),
    "first": Metric(
        name=said("First token"),
        meaning=said("the weight on the first key, between 0 and 1"),
        of_norms=said("the share of norms on the first key, between 0 and 1"),
        over="sentence",
        formula=_SHARE,
        source=_OF_SHARES,
        job=Job(said("first token"), "⇤", HEAD_COLOURS[7]),
    ),
    "last": Metric(
        name=said("Last token"),
        meaning=said("the weight on the last key, between 0 and 1"),
        of_norms=said("the share of norms on the last key, between 0 and 1"),
        meanings_at={
            DECODER: (
                said("the weight on the last key, between 0 and 1; only the last token may attend to it"),
                said("the share of norms on the last key, between 0 and 1; only the last token may attend to it"),
            )
        },
        over="sentence",
        formula=_SHARE,
        source=_OF_SHARES,
        job=Job(said("last token"), "⇥", HEAD_COLOURS[7]),
    ),
    "diagonal": Metric(
        name=said("Diagonal"),
        meaning=said("the weight on a token itself and its two neighbours, between 0 and 1"),
        of_norms=said(
            "the share of the norms in a row that is on the row's own token and its two neighbours, between 0 and 1"
        ),
        meanings_at={
            DECODER: (
                said("the weight on the token that a row reads and the one before it, between 0 and 1"),
                said("the share of norms on the token that a row reads and the one before it, between 0 and 1"),
            ),
            CROSS: (
                said(
                    "the weight on keys at most one token from the diagonal, the straight line from the first pair of "
                    "tokens to the last, where a row counts by the token that it reads, between 0 and 1"
                ),
                said(
                    "the share of norms on keys at most one token from the diagonal, the straight line from the first "
                    "pair of tokens to the last, where a row counts by the token that it reads, between 0 and 1"
                ),
            ),
        },
        over="sentence",
        formula=_SHARE,
        source=_OF_SHARES,
    ),
    "punctuation": Metric(
        name=said("Punctuation"),
        meaning=said("the weight on all punctuation marks together, between 0 and 1"),
        of_norms=said("the share of norms on all punctuation marks together, between 0 and 1"),
        over="sentence",
        formula=_SHARE,
        source=_OF_SHARES,
        job=Job(said("punctuation"), ".,", HEAD_COLOURS[5]),
    ),
    "induction": Metric(
        name=said("Induction"),
        meaning=said(
            "for a token that occurred earlier, the weight on the token after its earlier occurrence, between 0 and 1"
        ),
        of_norms=said(
            "for a token that occurred earlier, the share of norms on the token after its earlier occurrence, between "
            "0 and 1"
        ),
        none_at=dict.fromkeys((ENCODER, CROSS), _NOT_IN_AN_ENCODER),
        over="corpus",
        formula=r"S_i = \sum_{j < i,\ t_{j-1} = t_i} \alpha_{ij}",
        source=said("Decoder self-attention only. Olsson et al. 2022, *In-context Learning and Induction Heads*."),
        job=Job(said("induction"), "↻", HEAD_COLOURS[4]),
    ),
    "antecedent": Metric(
        name=said("Follows antecedents"),
        meaning=said(
            "the share of Headlight's pronoun sentences in which the pronoun's row gives more weight to the right "
            "noun than to the wrong one; guessing gives 0.5"
        ),
        none_at={
            ENCODER: _NO_ANTECEDENTS,
            DECODER: said(
                "The decoder's self-attention never sees the nouns of the source sentence, so it cannot follow one of "
                "them."
            ),
            CROSS: _NO_ANTECEDENTS,
        },
        over="corpus",
        chance=0.5,
        elsewhere=_SEPARATE,
        job=Job(said("follows antecedents"), "↪", HEAD_COLOURS[1]),
    ),
    "aer_word_in": Metric(
        name=said("Alignment error (token read)"),
        meaning=said(
            "computed in the row that reads a German word, not in the row named after it, which writes it: 0 if "
            "exactly the manual links are found, 1 if none is found; lower is better"
        ),
        none_at=_NO_ALIGNMENTS,
        over="corpus",
        is_error=True,
        elsewhere=_SEPARATE,
        formula=_ERROR_RATE,
        source=_OF_ERROR_RATES,
        job=Job(said("aligns token read"), "⇇", HEAD_COLOURS[6]),
    ),
    "aer_word_out": Metric(
        name=said("Alignment error (token predicted)"),
        meaning=said(
            "computed in the row that writes a German word: 0 if exactly the manual links are found, 1 if none is "
            "found; lower is better"
        ),
        none_at=_NO_ALIGNMENTS,
        over="corpus",
        is_error=True,
        elsewhere=_SEPARATE,
        formula=_ERROR_RATE,
        source=_OF_ERROR_RATES,
        job=Job(said("aligns token predicted"), "⇉", HEAD_COLOURS[2]),
    ),
    **word_times.METRICS,
    "prefix_matching": Metric(
        name=said("Prefix matching"),
        meaning=said(
            "on 25 random tokens repeated four times, the weight of a token on what followed the same token earlier, "
            "between 0 and 1; that is what an induction head attends to"
        ),
        none_at=_RANDOM_TOKENS,
        over="corpus",
        elsewhere=_ON_RANDOM_TOKENS,
        job=Job(said("induction on repeated tokens"), "↻", HEAD_COLOURS[4]),
    ),
    "duplicate": Metric(
        name=said("Duplicate token"),
        meaning=said(
            "on 25 random tokens repeated four times, the weight of a token on its own earlier occurrences, between 0 "
            "and 1"
        ),
        none_at=_RANDOM_TOKENS,
        over="corpus",
        elsewhere=_ON_RANDOM_TOKENS,
        job=Job(said("duplicate token"), "≡", HEAD_COLOURS[6]),
    ),
    "repeat_previous": Metric(
        name=said("Previous, random tokens"),
        meaning=said("on 25 random tokens repeated four times, the weight on the previous token, between 0 and 1"),
        none_at=_RANDOM_TOKENS,
        over="corpus",
        elsewhere=_ON_RANDOM_TOKENS,
    ),
    "copying": Metric(
        name=said("Copying"),
        meaning=said(
            "the share of the vocabulary that ranks below a token in what the head writes when it attends to that "
            "token: 1 if it always promotes the token, 0.5 by chance, 0 if it always suppresses it"
        ),
        none_at=_RANDOM_TOKENS,
        over="corpus",
        elsewhere=_ON_RANDOM_TOKENS,
    ),
}
OF_SENTENCES: Final = tuple(key for key, metric in METRICS.items() if metric.over == "sentence")
OF_A_CORPUS: Final = tuple(key for key, metric in METRICS.items() if metric.over != "film")
OF_FILMS: Final = tuple(key for key, metric in METRICS.items() if metric.over != "corpus")
#: Metric → the job of heads for which it is high.
JOBS: Final[Mapping[str, Job]] = {key: metric.job for key, metric in METRICS.items() if metric.job is not None}
