"""What is said of heads: planted ones are described right, and the numbers depend on nothing but the texts."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from model import Translator
from model.analysis.corpus import CorpusSentence
from model.analysis.head_circuits import head_circuits
from model.analysis.head_description import file, measure
from model.analysis.head_description.cells import KINDS, Place, sources_of, words_of
from model.analysis.head_description.corpora import FIRST, corpus_for, default_corpus
from model.analysis.head_description.describe import HeadDescription, describe_heads
from model.analysis.head_description.measure import Measured, SiteSums, measure_heads, measure_in_stages, row_values
from model.analysis.head_description.table import Number
from model.analysis.head_description.writing import cost, promoted
from model.analysis.metrics.head_metrics import CROSS, DECODER, ENCODER, HeadName
from model.errors import DataError
from model.nn.attention import WeightsOnly
from model.nn.edits import SwitchOff
from model.nn.masks import AttentionMask
from model.opening import open_reader
from model.sources.source import TextSource
from model.trace.trace import Trace
from model.words import word_spans
from tests.shipped import FOLDER
from viz.text.head_description import lines

Look = Callable[[Sequence[str], int], torch.Tensor]
"""Where a head looks, by the keys and how many rows there are: [row, key], of any sums."""


def at(step: int) -> Look:
    return lambda keys, rows: torch.tensor(
        [[float(key == row + step) for key in range(len(keys))] for row in range(rows)]
    )


def at_marks(keys: Sequence[str], rows: int) -> torch.Tensor:
    return torch.tensor([float(key in ",.?:;") for key in keys]).expand(rows, -1)


def after_in_short_texts(keys: Sequence[str], rows: int) -> torch.Tensor:
    return at(1)(keys, rows) + (len(keys) > 20) * 0.5 / len(keys)


def itself_but_at_marks(keys: Sequence[str], rows: int) -> torch.Tensor:
    is_mark = torch.tensor([float(key in ",.?:;") for key in keys])[:rows, None]
    return (1 - is_mark) * at(0)(keys, rows) + is_mark * evenly(keys, rows)


def evenly(keys: Sequence[str], rows: int) -> torch.Tensor:
    return torch.ones(rows, len(keys))


def nearly_evenly(keys: Sequence[str], rows: int) -> torch.Tensor:
    return 1 + torch.rand(rows, len(keys), generator=torch.Generator().manual_seed(rows))


def at_the_end(keys: Sequence[str], rows: int) -> torch.Tensor:
    return torch.eye(len(keys))[-1].expand(rows, -1) + 1e-4


def at_the_first(keys: Sequence[str], rows: int) -> torch.Tensor:
    return torch.eye(len(keys))[0].expand(rows, -1) + 1e-4


def at_copies(keys: Sequence[str], rows: int) -> torch.Tensor:
    same = torch.tensor([[float(key == other) for key in keys] for other in keys])
    return same - torch.eye(len(keys)) + 1e-3


def after_copies(keys: Sequence[str], rows: int) -> torch.Tensor:
    return at_copies(keys, rows).roll(1, 1)


def backwards(keys: Sequence[str], rows: int) -> torch.Tensor:
    return torch.eye(rows, len(keys)).flip(1) + 1e-3


def less_backwards(keys: Sequence[str], rows: int) -> torch.Tensor:
    return 0.3 * torch.eye(rows, len(keys)).flip(1) + 0.7 / len(keys)


def at_some(keys: Sequence[str], rows: int) -> torch.Tensor:
    return torch.rand(len(keys), generator=torch.Generator().manual_seed(len(keys))).pow(8).expand(rows, -1)


def along(keys: Sequence[str], rows: int) -> torch.Tensor:
    places = torch.arange(rows)[:, None] * (len(keys) - 1) / (rows - 1)
    return ((torch.arange(len(keys)) - places).abs() <= 1) + 1e-3


PLANTED: dict[str, list[Look]] = {
    ENCODER: [
        at(-1),
        itself_but_at_marks,
        at_marks,
        evenly,
        at_the_end,
        after_in_short_texts,
        at_copies,
        nearly_evenly,
    ],
    DECODER: [at(-1), at(0), at(-2), evenly, at_the_first, after_copies, at_marks, nearly_evenly],
    CROSS: [along, *[backwards] * 4, at_some, less_backwards, at_marks],
}


def planted(sentences: Sequence[CorpusSentence]) -> Iterator[tuple[int, Trace]]:
    """Traces of a model with two layers of four heads each at every site, which look so."""
    for number, (text, _target) in enumerate(sentences):
        words = [piece for start, end in word_spans(text) for piece in split(text[start:end])]
        source, target = (*words, "</s>"), ("<s>", *words[: 2 * len(words) // 3 + 1])
        axes = {ENCODER: (source, source), DECODER: (target, target), CROSS: (target, source)}
        inputs = {}
        for site, (rows, keys) in axes.items():
            mask = AttentionMask(num_queries=len(rows), num_keys=len(keys), causal=site == DECODER)
            shown = torch.stack([look(keys, len(rows)) for look in PLANTED[site]]) * mask.rows()
            # A row that can look nowhere looks at the first key.
            shown[..., 0] += shown.sum(-1) == 0
            weights = shown / shown.sum(-1, keepdim=True)
            inputs[site] = tuple(
                WeightsOnly(held=held, mask=mask, why="They are planted.") for held in weights.split(4)
            )
        yield (
            number,
            Trace(
                reader_key="planted",
                source=TextSource(text=text, ids=tuple(range(len(source))), tokens=source),
                target_ids=tuple(range(len(target))),
                target_tokens=target,
                inputs=inputs,
                recorded={},
            ),
        )


def split(word: str) -> list[str]:
    """A word and the marks after it."""
    stem = word.rstrip(",.?:;")
    return [*([f"▁{stem}"] if stem else []), *word[len(stem) :]]


@pytest.fixture(scope="module")
def measured(translator: Translator) -> Measured:
    return measure_heads(translator, default_corpus("en"), read=planted)


@pytest.fixture(scope="module")
def described(measured: Measured) -> dict[str, list[HeadDescription]]:
    found = describe_heads(measured)
    return {site: [found[head] for head in measured.names(site)] for site in measured.heads}


@pytest.mark.parametrize(
    ("site", "head", "cell"),
    [
        (ENCODER, 0, "back1"), (ENCODER, 1, "self"), (ENCODER, 2, "punctuation"), (ENCODER, 5, "ahead1"),
        (ENCODER, 6, "same"), (DECODER, 0, "back1"), (DECODER, 1, "self"), (DECODER, 2, "back2"),
        (DECODER, 5, "after same"), (DECODER, 6, "punctuation"), (CROSS, 0, "diagonal"), (CROSS, 1, "source written"),
        (CROSS, 7, "punctuation"),
    ],
)  # fmt: skip
def test_a_planted_head_has_its_rule(
    described: dict[str, list[HeadDescription]], site: str, head: int, cell: str
) -> None:
    found = described[site][head]
    assert found.kind == "rule"
    assert found.main is not None
    assert (found.main.metric, found.is_most) == (cell, True)
    assert found.main.even is not None
    assert found.main.low <= found.main.value <= found.main.high
    assert found.main.low > found.main.even


def test_a_cell_by_distance_or_by_place_holds_what_its_name_says() -> None:
    tokens = ("<s>", "▁The", "▁old", "▁dog", "▁and", "▁the", "▁old", "▁cat", "▁slept", "</s>")
    words = words_of(tokens, frozenset(("<s>", "</s>")))
    place = Place(ENCODER, words, words, tokens, tokens, tokens)
    found = dict(zip(place.names, place.cells(), strict=True))
    steps: dict[str, Callable[[int], bool]] = {
        "self": lambda step: step == 0, "back1": lambda step: step == -1, "back2": lambda step: step == -2,
        "ahead1": lambda step: step == 1, "ahead2": lambda step: step == 2, "back1-3": lambda step: -3 <= step < 0,
        "ahead1-3": lambda step: 0 < step <= 3, "beside": lambda step: step in (-1, 1),
        "near": lambda step: step in range(-2, 3), "far": lambda step: step <= -5 or step >= 5,
        "back": lambda step: step < 0, "ahead": lambda step: step > 0,
    }  # fmt: skip
    for name, holds in steps.items():
        assert found[name].tolist() == [[holds(key - row) for key in range(10)] for row in range(10)], name
    where = {name: [torch.nonzero(row)[:, 0].tolist() for row in cell] for name, cell in found.items()}
    assert where["first"] == [[0]] * 10
    # "old" is there twice, and what follows it for the second time may be what followed it before.
    assert where["same"] == [[], [], [6], [], [], [], [2], [], [], []]
    assert where["after same"] == [[], [], [], [], [], [], [3], [], [], []]
    assert where["content back"][5:8] == [[3], [3], [6]]
    assert where["content ahead"][:4] == [[2], [2], [3], [6]]
    assert where["articles"][2:5] == [[1, 5]] * 3
    place = Place(CROSS, words, words, tokens, tokens, tokens)
    across = dict(zip(place.names, place.cells(torch.arange(10)), strict=True))
    assert across["first"].equal(found["first"])
    assert across["diagonal"].equal(found["beside"] | found["self"])
    assert across["second half"].tolist() == [[False] * 5 + [True] * 5] * 10
    assert [across[name].tolist() for name in ("source written", "source read", "source next")] == [
        found[name].tolist() for name in ("self", "back1", "ahead1")
    ]


def test_a_rule_that_long_texts_follow_less_is_told_of_both(described: dict[str, list[HeadDescription]]) -> None:
    previous, after = (described[ENCODER][head].main for head in (0, 5))
    assert previous is not None
    assert previous.by_length is None
    assert after is not None
    assert after.by_length is not None
    assert after.by_length[0] > 0.95 > 0.8 > after.by_length[1]
    assert after.ends == (after.by_length[1], after.by_length[0])
    low, high = lines(described[ENCODER][5])[0].numbers.split(" of its free weight, ")[1].split(", ")[:2]
    assert low.startswith(f"{after.by_length[0]:.0%} in texts of up to")
    assert high.startswith(f"{after.by_length[1]:.0%} in texts of")


def test_each_length_of_texts_has_its_own_even_look(described: dict[str, list[HeadDescription]]) -> None:
    after = described[ENCODER][5].main
    assert after is not None
    assert after.even is not None
    assert after.even_by_length is not None
    short, long = after.even_by_length
    # A key of few, of many, or of those of all texts.
    assert short > after.even > long
    numbers = lines(described[ENCODER][5])[0].numbers
    assert f"(uniform attention {short:.0%})" in numbers
    assert f"({long:.0%})" in numbers
    assert f"uniform attention {after.even:.0%}," not in numbers


def test_a_length_is_of_tokens_also_where_few_rows_of_a_text_count(described: dict[str, list[HeadDescription]]) -> None:
    decoder, cross = described[DECODER][0], described[CROSS][0]
    assert decoder.rows < cross.rows
    assert (decoder.short, decoder.long) == (cross.short, cross.long)


def number(**changed: float | tuple[float, float] | None) -> Number:
    """A share of punctuation, which many heads give."""
    usual: dict[str, Any] = {
        "metric": "punctuation", "value": 0.2, "low": 0.18, "high": 0.22, "even": 0.12, "middle": 0.1, "rank": 2,
        "heads": 48, "runner_up": 0.3, "texts": 0.9, "everywhere": True, "by_length": None, "even_by_length": None,
        "middle_half": (0.15, 0.35),
    }  # fmt: skip
    return Number(**usual | changed)


def test_a_range_is_said_only_where_it_is_above_an_even_look() -> None:
    assert number().ends == (0.15, 0.35)
    assert number(middle_half=(0.1, 0.35)).ends is None
    by_length = number(by_length=(0.3, 0.1), even_by_length=(0.2, 0.05))
    # Each length beside its own.
    assert by_length.ends == (0.1, 0.3)
    assert number(by_length=(0.3, 0.1), even_by_length=(0.2, 0.11)).ends is None
    sure = (number(), number(texts=0.7), number(middle_half=(0.1, 0.35)), by_length)
    assert [each.is_sure for each in sure] == [True, False, False, False]


def test_a_rule_is_common_or_followed_less_by_what_the_other_heads_do(
    described: dict[str, list[HeadDescription]],
) -> None:
    told = described[ENCODER][0]
    assert told.kind == "rule"
    assert told.main is not None

    def among(heads: int, rank: int, value: float, middle: float) -> HeadDescription:
        assert told.main is not None
        return replace(told, main=replace(told.main, heads=heads, rank=rank, value=value, middle=middle))

    common, of_few = among(100, 50, 0.5, 0.5), among(100, 5, 0.5, 0.5)
    beyond, below, hardly_below = among(100, 50, 0.9, 0.2), among(100, 80, 0.3, 0.6), among(100, 80, 0.58, 0.6)
    two = among(2, 2, 0.3, 0.6)
    found = [(each.is_common, each.is_less) for each in (common, of_few, beyond, below, hardly_below, two)]
    assert found == [(True, False), (False, False), (False, False), (False, True), (True, False), (False, False)]
    # Of what is no rule neither is said.
    assert not replace(common, kind="mixed").is_common
    assert not replace(below, kind="mixed").is_less
    assert replace(told, sinks=(".", ",")).sinks_are_marks
    assert not replace(told, sinks=(".", "Tom")).sinks_are_marks


def test_two_or_three_heads_are_not_many_or_most(measured: Measured) -> None:
    few = measured.sites[ENCODER].of_heads(np.array([2, 2, 0]))
    found = describe_heads(replace(measured, heads={ENCODER: (3,)}, sites={ENCODER: few}))
    text = " ".join(line.sentence for each in found.values() for line in lines(each))
    assert "ttends to" in text
    assert "many heads" not in text
    assert "most heads" not in text


def test_a_head_without_numbers_changes_nothing_that_is_said_of_others(measured: Measured) -> None:
    sums, heads = measured.sites[ENCODER], np.arange(8)
    broken = sums.of_heads(heads)
    for of in (broken.weight, broken.free, broken.divergence, broken.resting, broken.fill):
        of[:, 3] = np.nan
    names = measured.names(ENCODER)
    found = describe_heads(replace(measured, sites={**measured.sites, ENCODER: broken}))
    assert set(describe_heads(measured)) - set(found) == {names[3]}
    seven = replace(measured, heads={ENCODER: (7,)}, sites={ENCODER: sums.of_heads(np.delete(heads, 3))})
    for name, alone in zip([*names[:3], *names[4:]], describe_heads(seven).values(), strict=True):
        assert lines(found[name]) == lines(alone)


def test_rows_that_do_not_follow_a_rule_are_told(described: dict[str, list[HeadDescription]]) -> None:
    told = [more for more in described[ENCODER][1].more if more.kind == "fails"]
    assert [(more.query, more.cell) for more in told] == [("punctuation", "self")]
    assert told[0].share < 0.3 < 0.8 < told[0].usual
    assert not [more for more in described[ENCODER][0].more if more.kind == "fails"]


@pytest.mark.parametrize("site", [ENCODER, DECODER])
def test_an_even_look_is_no_rule(described: dict[str, list[HeadDescription]], site: str) -> None:
    assert {described[site][head].kind for head in (3, 7)} == {"spreads"}


@pytest.mark.parametrize(("writers", "readers"), [(3, 1), (1, 3), (2, 2)])
def test_the_source_of_a_token_is_where_heads_look_as_it_is_written_and_as_it_is_read(
    writers: int, readers: int
) -> None:
    sources = torch.tensor([3, 1, 1, 4, 0, 2])
    for_written = torch.eye(6)[sources]
    for_read = torch.cat((torch.full((1, 6), 1 / 6), for_written[:-1]))
    sink = torch.eye(6)[5].expand(6, 6)
    weights = torch.stack([for_written] * writers + [for_read] * readers + [sink] * 2)
    # What the last row writes is read by none.
    assert sources_of(weights, torch.zeros(6, dtype=torch.bool))[:-1].tolist() == sources[:-1].tolist()


def test_it_is_not_told_what_heads_look_for_that_all_look_alike(described: dict[str, list[HeadDescription]]) -> None:
    assert not any(found.tells_sources for found in described[CROSS])


def test_a_rule_that_most_heads_follow_more_is_not_told(described: dict[str, list[HeadDescription]]) -> None:
    assert described[CROSS][6].kind not in ("rule", "unusual")


def test_the_same_tokens_in_every_row_are_an_answer_and_said_once(described: dict[str, list[HeadDescription]]) -> None:
    found = described[CROSS][5]
    assert found.main is not None
    assert (found.kind, found.main.metric) == ("unusual", "same keys")
    assert "columns" not in {more.kind for more in found.more}


def test_a_head_prefers_the_tokens_that_it_looks_at_and_one_that_looks_evenly_none(
    described: dict[str, list[HeadDescription]],
) -> None:
    favourites = described[ENCODER][PLANTED[ENCODER].index(at_marks)].favourites
    assert favourites
    assert {token for token, _times in favourites} <= set(",.?:;")
    assert [times for _token, times in favourites] == sorted((times for _token, times in favourites), reverse=True)
    assert not described[ENCODER][PLANTED[ENCODER].index(evenly)].favourites


@pytest.mark.parametrize(("site", "place"), [(ENCODER, "last"), (DECODER, "first")])
def test_a_head_that_rests_is_said_to(described: dict[str, list[HeadDescription]], site: str, place: str) -> None:
    found = described[site][4]
    assert found.is_idle
    assert found.rest.value > 0.95
    assert place in found.rest_on
    assert (found.kind, found.main) == ("too little", None)


def test_a_metric_of_a_text_is_that_of_its_rows(measured: Measured) -> None:
    texts = [sentence.text for sentence in default_corpus("en")]
    for number, trace in planted(default_corpus("en")[:5]):
        row = measured.texts.index(texts[number])
        for head, metric in ((4, "rests"), (7, "rests"), (2, "punctuation")):
            of_rows = row_values(trace, ENCODER, *divmod(head, 4), metric)
            if np.isfinite(of_rows).any():
                expected = measured.values(ENCODER, metric)[row, head]
                assert np.nanmean(of_rows) == pytest.approx(expected, abs=1e-5)


def arrays_of(measured: Measured) -> Iterator[tuple[str, np.ndarray]]:
    for site, sums in measured.sites.items():
        yield from ((f"{site} {of.name}", getattr(sums, of.name)) for of in fields(SiteSums) if of.name != "tokens")


def test_numbers_depend_on_no_chunk(translator: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    sentences = [CorpusSentence(text, text) for text, _target in default_corpus("de") if len(text) < 40]
    whole = measure_heads(translator, sentences)
    monkeypatch.setattr(measure, "TEXTS_AT_ONCE", 3)
    parted = measure_heads(translator, sentences)
    assert whole.texts == parted.texts
    assert whole.sites[CROSS].tokens == parted.sites[CROSS].tokens
    for (name, one), (_name, other) in zip(arrays_of(whole), arrays_of(parted), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6, err_msg=name)


@pytest.mark.long
def test_an_induction_head_is_found_on_repeated_tokens() -> None:
    reader = open_reader(FOLDER.parent / "induction")
    measured = measure_heads(reader, [sentence for sentence in default_corpus("en") if len(sentence.text) < 30])
    surest = measured.names(DECODER)[int(measured.repeated["prefix_matching"].argmax())]
    job = describe_heads(measured)[surest].job
    assert job is not None
    assert job.metric == "prefix_matching"


def test_what_is_kept_is_what_was_measured(measured: Measured, translator: Translator, tmp_path: Path) -> None:
    path = file.cache_path(tmp_path, measured.model, measured.corpus)
    file.save_measured(measured, path)
    found = file.kept(tmp_path, measured.model, measured.corpus)
    assert found is not None
    assert describe_heads(found) == describe_heads(measured)
    assert [one.given for one in file.cached_in_stages(translator, default_corpus("en"), tmp_path)] == [200]
    assert file.kept(tmp_path, "another", measured.corpus) is None
    path.write_bytes(path.read_bytes()[:-100])
    assert file.kept(tmp_path, measured.model, measured.corpus) is None
    with pytest.raises(DataError, match="damaged"):
        file.load_measured(path)


def test_a_model_is_read_in_its_language_and_writes_its_own_translations_after_the_first(
    translator: Translator,
) -> None:
    found = corpus_for(translator)
    assert (found.language, found.written) == ("en", "de")
    assert found.sentences == default_corpus("en")
    pairs = list(zip(default_corpus("en"), default_corpus("de"), strict=True))[:FIRST]
    assert found.quick == tuple(CorpusSentence(text, target) for (text, _own), (target, _none) in pairs)
    texts = [CorpusSentence(text, None) for text in ("A man walks.", "The dog sleeps in the sun.")]
    early, whole = measure_in_stages(translator, texts, quick=[CorpusSentence("A man walks.", "Ein Hund.")])
    assert (early.translations, early.given) == (("Ein Hund.",), 1)
    assert (whole.given, whole.total) == (2, 2)
    assert whole.translations == tuple(translator.trace(text).translation for text, _target in texts)


@pytest.mark.parametrize(
    ("tokens", "kinds"),
    [
        (("[CLS]", "▁The", "▁cat", "s", "▁didn", "'", "t", "▁eat", "▁3", ".", "5", "▁of", "▁them", "."),
         ("", "articles", *["content words"] * 2, *["auxiliaries"] * 3, "content words", *["numbers"] * 3,
          "prepositions", "pronouns", "punctuation")),
        (("▁我们在", "公园", "里", "走", "了", "。"),
         ("pronouns", *["content words"] * 3, "particles", "punctuation")),
        (("▁Die", "▁Kat", "ze", "▁und", "▁", "12", "▁Hunde", "⏎"),
         ("articles", *["content words"] * 2, "conjunctions", *["numbers"] * 2, "content words", "")),
    ],
)  # fmt: skip
def test_a_token_is_of_the_kind_of_its_word(tokens: tuple[str, ...], kinds: tuple[str, ...]) -> None:
    assert words_of(tokens, frozenset({"[CLS]"})).kinds == kinds
    assert {*kinds} <= {*KINDS, ""}


def test_a_switched_off_head_costs_what_the_model_says_without_it(translator: Translator, tmp_path: Path) -> None:
    pairs = [
        CorpusSentence("Tom told me that he would be late.", "Tom sagte mir, dass er zu spät käme."),
        CorpusSentence("A man walks.", "Ein Mann geht."),
    ]
    measured, head = measure_heads(translator, pairs), HeadName(CROSS, 1, 2)
    found = cost(translator, measured, head, folder=tmp_path)

    def log_prob(text: str, target: str | None, *edits: SwitchOff) -> list[float]:
        return [step.log_prob for step in translator.trace(text, target, edits=edits).steps]

    whole = [one for pair in pairs for one in log_prob(*pair)]
    without = [one for pair in pairs for one in log_prob(*pair, SwitchOff(*head))]
    assert found.tokens == len(whole)
    assert found.intact == pytest.approx(np.mean(whole), abs=1e-5)
    assert found.change == pytest.approx(np.mean(without) - np.mean(whole), abs=1e-5)
    assert found.low <= found.change <= found.high
    assert found.low < found.high
    # What is kept is not measured again.
    read: list[int] = []
    assert cost(translator, measured, head, read.append, tmp_path) == found
    assert not read


def test_what_a_head_promotes_is_told_of_the_tokens_that_it_looks_at(translator: Translator) -> None:
    texts = [CorpusSentence(f"The {word} sleeps.", f"Der {word}.") for word in ("a", "cat", "dog", "man") * 3]
    measured, head = measure_heads(translator, texts), HeadName(ENCODER, 1, 3)
    found = promoted(translator, measured, head)
    vocabulary = translator.all_tokens()
    assert found
    for each in found:
        assert each.share > each.even
        added = head_circuits(translator, *head).writes(torch.tensor([vocabulary.index(each.token)]))[0]
        assert each.most[0] == vocabulary[int(added.argmax())]
        assert each.own_place == 1 + int((added > added[vocabulary.index(each.token)]).sum())


def test_after_a_kill_no_text_is_read_again(translator: Translator, tmp_path: Path) -> None:
    read: list[str] = []

    def reads(sentences: Sequence[CorpusSentence]) -> Iterator[tuple[int, Trace]]:
        if len(read) >= 100:
            raise KeyboardInterrupt
        read.extend(text for text, _target in sentences)
        return planted(sentences)

    texts = default_corpus("en")
    with pytest.raises(KeyboardInterrupt):
        list(measure_in_stages(translator, texts, unfinished=tmp_path, read=reads))
    assert len(read) == 100
    again: list[str] = []

    def reads_on(sentences: Sequence[CorpusSentence]) -> Iterator[tuple[int, Trace]]:
        again.extend(text for text, _target in sentences)
        return planted(sentences)

    early, whole = measure_in_stages(translator, texts, unfinished=tmp_path, read=reads_on)
    assert not set(read) & set(again)
    assert (early.given, whole.given, whole.texts) == (FIRST, 200, tuple(text for text, _target in texts))
    # Nothing is left behind.
    assert not list(tmp_path.rglob("*.npz"))
