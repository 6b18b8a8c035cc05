"""Every step of every lesson with the model that ships: it bears out what is said, in every language."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from math import exp, log
from typing import Any

import numpy as np
import pytest

from tests.paths import ROOT
from viz.access import findings, models
from viz.pages.learn.lessons import data
from viz.pages.learn.lessons.data.shipped import Shipped
from viz.pages.learn.lessons.lesson import (
    OfHead,
    Question,
    Step,
    filled,
    filled_plainly,
    holds,
    is_right,
    lessons,
    right_answer,
    unnamed,
)
from viz.pages.learn.lessons.pictures import Bars, Curves, Rows, View
from viz.pictures.matrix_picture.component import MatrixData
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.choices import ModelChoice
from viz.selection.selection import FIELDS
from viz.text import messages
from viz.text.messages import shown
from viz.text.written import SITES, NamedHead

Views = Callable[[str, int], View]

STEPS = [(name, number) for name, lesson in lessons().items() for number in range(1, len(lesson.steps) + 1)]
LANGUAGES = list(messages.languages())


def step_of(name: str, number: int) -> Step:
    return lessons()[name].steps[number - 1]


QUESTIONS: dict[tuple[str, int], Question] = {
    place: question for place in STEPS if (question := step_of(*place).question) is not None
}


@pytest.fixture(scope="module")
def shipped() -> Iterator[Shipped]:
    choice = ModelChoice("en-de")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(ROOT_VARIABLE, str(ROOT / "checkpoints"))
        yield Shipped(choice, models.translator(choice))


@pytest.fixture(scope="module")
def view(shipped: Shipped) -> Views:
    """The view of a step with the model that ships, computed once for all tests."""
    return cache(lambda name, number: data.view(shipped, lessons()[name], number))


@pytest.mark.parametrize(("name", "number"), STEPS)
def test_the_model_that_ships_bears_out_the_step(view: Views, name: str, number: int) -> None:
    step, computed = step_of(name, number), view(name, number)
    assert [(claim, dict(computed.found)) for claim in step.claims if not holds(claim, computed.found)] == []
    assert set(computed.full.choices) <= set(FIELDS)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_number_of_a_head_is_said_with_the_name_of_that_head_and_of_what_it_was_measured_over(
    view: Views, language: str
) -> None:
    with messages.speaking(language):
        assert {place: names for place in STEPS if (names := unnamed(step_of(*place), view(*place).found))} == {}


def test_a_number_of_another_head_than_the_one_that_is_named_is_noticed() -> None:
    step = step_of("it", 5)
    cross, encoder = NamedHead("decoder.cross", 4, 1, with_site=True), NamedHead("encoder.self", 4, 7)
    over = "the curated pronoun sentences"
    numbers = {name: OfHead(0.7, cross, over) for name in ("value", "low", "high")}
    assert unnamed(step, numbers | {"head": cross, "over": over}) == []
    assert set(unnamed(step, numbers | {"head": encoder, "over": over})) == set(numbers)
    assert set(unnamed(step, numbers | {"head": cross, "over": "this sentence"})) == set(numbers)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_text_that_speaks_of_this_head_names_it_in_the_same_step(view: Views, language: str) -> None:
    def names(step: Step, found: Mapping[str, object]) -> bool:
        return any(isinstance(found.get(name), NamedHead) for name in re.findall(r"{(\w+)", messages._(step.text)))

    with messages.speaking(language):
        of_one = [place for place in STEPS if re.search(r"this head|该头|这个头", messages._(step_of(*place).text))]
        assert [place for place in of_one if not names(step_of(*place), view(*place).found)] == []


def test_a_step_opens_the_head_and_the_token_that_it_names(view: Views, shipped: Shipped) -> None:
    for name, number in STEPS:
        given, computed = step_of(name, number).given, view(name, number)
        words = [str(value) for value in computed.found.values()]
        choices: dict[str, Any] = dict(computed.full.choices)
        match str(given.get("head")).split():
            case [site, layer, head] if "." in site:
                assert computed.found["head"] == f"L{int(layer) + 1} H{int(head) + 1}", (name, number)
        if "layer" in computed.found:
            is_given = computed.found["layer"] == given.get("layer", -1) + 1
            assert is_given or f"L{computed.found['layer']} " in str(computed.found["head"]), (name, number)
        if "head" in choices:
            opened = f"L{choices['layer'] + 1} H{choices['head'] + 1}"
            assert [word for word in words if opened in word], (name, number, opened)
        trace = shipped.trace(given["text"]) if "token" in choices or "step" in choices else None
        for choice, word in (("token", "word"), ("step", "word"), ("key_token", "key")):
            if trace is not None and choice in choices and (word in given or "from" in computed.found):
                is_read = choice == "key_token" or choices.get("site") == "encoder.self"
                tokens = trace.source_tokens if is_read else [step.token for step in trace.steps]
                named = given.get(word, computed.found.get("from"))
                assert tokens[choices[choice]].removeprefix("▁") == named, (name, number, choice)


def test_a_picture_has_a_name_for_each_of_its_numbers_and_room_for_it(view: Views) -> None:
    for place in STEPS:
        computed = view(*place)
        match picture := computed.picture:
            case Bars():
                values = np.stack(list(picture.series.values()))
                assert values.shape[1] == len(picture.labels), place
                assert picture.top is None or values.max() <= picture.top + 1e-6, place
                if picture.marked:
                    marked = str(picture.labels[picture.marked]).removeprefix("▁")
                    words = [str(value) for value in computed.found.values()]
                    assert marked in [*words, f"mean of all {computed.found.get('heads')}"], place
            case Curves():
                assert {len(values) for values in picture.lines.values()} == {len(picture.x)}, place
                assert picture.upright is None or picture.x.min() <= picture.upright <= picture.x.max(), place
            case Rows():
                assert {len(row) for row in picture.rows} == {len(picture.columns)}, place
            case MatrixData():
                assert picture.values.shape == (len(picture.row_tokens), len(picture.column_tokens)), place
                low, high = picture.values.min(), picture.values.max()
                assert picture.scale.low - 1e-6 <= low <= high <= picture.scale.high + 1e-6, place


def of_view(view: Views, name: str) -> list[tuple[Mapping[str, Any], Any]]:
    """What the steps with this view are given, and the view of each; each test knows the picture of its view."""
    return [(step_of(*place).given, view(*place)) for place in STEPS if step_of(*place).view == name]


def test_what_is_said_of_bars_is_read_off_them(view: Views, shipped: Shipped) -> None:
    for _, computed in of_view(view, "without_each"):
        (none, *off), labels = (values := next(iter(computed.picture.series.values()))), computed.picture.labels
        lowest, head = int(values.argmin()), list(labels).index(computed.found["head"])
        assert labels[lowest] == computed.found["lowest_head"]
        assert [computed.found[name] for name in ("before", "lowest", "after")] == [none, min(off), values[head]]
    for _, computed in of_view(view, "fired"):
        (counts,), found = computed.picture.series.values(), computed.found
        assert [str(label) for label in computed.picture.labels] == [f"layer {number}" for number in range(1, 7)]
        assert [found["most"], found["fewest"]] == [max(counts), min(counts)]
        assert found["share"] == pytest.approx(counts.sum() / 6 / 1024)
    for given, computed in of_view(view, "additions"):
        (before, added), found = computed.picture.series.values(), computed.found
        labels, most = [str(label) for label in computed.picture.labels], int((added / before).argmax())
        assert labels == [f"L{layer} {part}" for layer in range(1, 7) for part in ("attention", "feed-forward")]
        assert [found["parts"], found["smaller"], found["begin"]] == [12, (added < before).sum(), before[0]]
        assert [found["most"], found["most_added"], found["most_before"]] == [labels[most], added[most], before[most]]
        assert [found["attention"], found["feed_forward"]] == pytest.approx([added[::2].sum(), added[1::2].sum()])
        assert found["share"] == pytest.approx((added / before).mean())
        trace = shipped.trace(given["text"])
        end = trace.recorded["encoder.layers.5.hook_output"][trace.source_tokens.index(f"▁{given['word']}")]
        assert found["end"] == pytest.approx(float(end.norm()), rel=1e-4)
    for _, computed in of_view(view, "lengths"):
        assert computed.found["expected"] == pytest.approx(computed.found["positional"], rel=1e-3)
    for _, computed in of_view(view, "normed"):
        (wide, even), found = computed.picture.series.values(), computed.found
        assert [found["widest"], found["narrowest"], found["after"]] == [wide.max(), wide.min(), even.mean()]
        assert computed.full.choices["token"] == 0
    for _, computed in of_view(view, "neighbours"):
        *near, other = next(iter(computed.picture.series.values()))
        found = computed.found
        assert [found["cosine"], found["last"], found["other_cosine"]] == pytest.approx([near[0], near[-1], other])
        assert near == sorted(near, reverse=True)
        assert found["nearest"] == computed.picture.labels[0].removeprefix("▁")
    for _, computed in of_view(view, "shared"):
        once, thrice, *parts = next(iter(computed.picture.series.values()))
        assert (thrice, computed.found["once"]) == (3 * once, once)
        assert computed.found["share"] == once / computed.found["all"]
        assert 0.99 < (once + sum(parts)) / computed.found["all"] <= 1
    for given, computed in of_view(view, "bleu"):
        means, found = next(iter(computed.picture.series.values())), computed.found
        names = [preset.replace("-", "_") for preset in given["presets"]]
        assert [found[name] for name in names] == means.tolist()
        assert [found[f"{name}_deviation"] for name in names] == list(computed.picture.spread)
        assert [found[f"{name}_less"] for name in names] == (means - means[0]).tolist()
        assert [found["best"], found["worst"]] == [
            computed.picture.labels[means.argmax()], computed.picture.labels[means.argmin()],
        ]  # fmt: skip
    for _, computed in of_view(view, "smoothed"):
        (hot, smooth, model), found = computed.picture.series.values(), computed.found
        (right,) = np.flatnonzero(hot)
        assert (hot[right], smooth[right]) == (1.0, pytest.approx(0.9 + 0.1 / 8000))
        assert np.delete(smooth, right) == pytest.approx(0.1 / 8000)
        assert [found["model"], found["right"], found["each"]] == pytest.approx(
            [model[right], smooth[right], 0.1 / 8000]
        )
        assert list(model) == sorted(model, reverse=True)
        assert len(model) == 6
        chance = found["right"]
        floor = -chance * log(chance) - (1 - chance) * log((1 - chance) / 7999)
        assert found["floor"] == pytest.approx(floor, rel=1e-3)
    for given, computed in of_view(view, "sureness"):
        for preset, values in zip(given["presets"], computed.picture.series.values(), strict=True):
            steps = shipped.experiment(preset).trace(given["text"], given["target"]).steps
            assert values == pytest.approx([exp(step.log_prob) for step in steps], rel=1e-4)
            name = preset.replace("-", "_")
            largest = np.mean([max(exp(one.log_prob) for one in step.candidates) for step in steps])
            assert computed.found[f"{name}_largest"] == pytest.approx(largest, rel=1e-4)
            assert computed.found[f"{name}_entropy"] == pytest.approx(
                np.mean([step.entropy for step in steps]), rel=1e-4
            )
            assert computed.found["tokens"] == len(steps)
        surest = max(given["presets"], key=lambda name: computed.found[f"{name.replace('-', '_')}_largest"])
        assert computed.found["surest"] == surest.replace("-", " ")
    for _, computed in of_view(view, "dropout"):
        (before, after), found = computed.picture.series.values(), computed.found
        assert [str(label) for label in computed.picture.labels] == [str(number) for number in range(1, 25)]
        assert len(before) == len(after) == 24
        assert [found["numbers"], found["shown"], found["share"]] == [256, 24, 0.1]
        assert found["scale"] == pytest.approx(1 / 0.9)
        assert 256 * 0.04 < found["dropped"] < 256 * 0.18
    for given, computed in of_view(view, "hidden_words"):
        own, other = computed.picture.series.values()
        (_, *labels), found = computed.picture.labels, computed.found
        most, hidden = labels.index(found["most"]), labels.index(given["hidden"])
        assert own[1:][most] == own[1:].min()
        assert [found["before"], found["after"], found["hidden_after"]] == [own[0], own[1:][most], own[1:][hidden]]
        assert [found["other_before"], found["other_after"], found["words"]] == [other[0], other[1:][most], len(labels)]


def test_what_is_said_of_a_table_stands_in_its_rows(view: Views, shipped: Shipped) -> None:
    for given, computed in of_view(view, "without_part"):
        rows = [
            [str(messages.shown(cell)) if isinstance(cell, str) else cell for cell in row]
            for row in computed.picture.rows
        ]
        assert [row[0] for row in rows] == given["texts"]
        assert [row[1] for row in rows] == [computed.found[f"translation_{n}"] for n in range(1, len(rows) + 1)]
        assert computed.full.choices["text"] == given["texts"][0]
    for _, computed in of_view(view, "without_heads"):
        _, *rows = computed.picture.rows
        assert [row[0] for row in rows] == [computed.found[f"head_{n}"] for n in range(1, len(rows) + 1)]
        assert [str(row[2]) == "yes" for row in rows] == [
            bool(computed.found[f"changed_{n}"]) for n in range(1, len(rows) + 1)
        ]
        assert computed.found["looks_1"] == "animal"
        assert computed.found["changed"] == sum(str(row[2]) == "yes" for row in rows)
    for given, computed in of_view(view, "alphas"):
        rows = computed.picture.rows
        assert [row[0] for row in rows] == [f"{percent / 100:g}" for percent in given["percents"]]
        assert [row[2] for row in rows] == [str(computed.found[f"tokens_{percent}"]) for percent in given["percents"]]
        assert rows[0][1] == computed.found["text_0"]
        assert computed.full.choices["length_penalty"] == given["percents"][0]
    for _, computed in of_view(view, "greedy_and_beam"):
        found, (greedy, beam) = computed.found, computed.picture.rows
        assert [greedy[1], greedy[2], beam[2]] == [
            found["greedy"], f"{found['greedy_log_prob']:.2f}", f"{found['beam_log_prob']:.2f}",
        ]  # fmt: skip
        assert found["times"] == pytest.approx(exp(found["beam_log_prob"] - found["greedy_log_prob"]))
    for given, computed in of_view(view, "tokens"):
        *words, end = computed.picture.rows
        trace = shipped.trace(given["text"])
        assert " · ".join(row[1] for row in (*words, end)) == " · ".join(trace.source_tokens)
        assert ", ".join(row[2] for row in (*words, end)) == ", ".join(map(str, trace.source_ids))
        assert ([row[0] for row in words], end[1]) == (given["text"].split(), "</s>")
        assert (computed.found["words"], computed.found["tokens"]) == (len(words), len(trace.source_tokens))
        longest = max(words, key=lambda row: row[1].count("·"))
        assert computed.found["split"] == longest[0].strip(".")
        assert (computed.found["pieces"], computed.found["count"]) == (longest[1], longest[1].count("·") + 1)
    measured = {site: findings.of_model(shipped.choice, site) for site in SITES}
    of_heads = [
        (NamedHead(site, *at, with_site=True), job)
        for site, one in measured.items()
        for at, jobs in (one.of_heads.items() if one is not None else ())
        for job in jobs
    ]
    for _, computed in of_view(view, "jobs"):
        best = {
            (str(name).split()[0], job.metric): f"{job.value:.2f}"
            for name, job in sorted(of_heads, key=lambda each: each[1].value)
        }
        assert sorted(row[2] for row in computed.picture.rows) == sorted(best.values())
        named = len({str(name) for name, _ in of_heads})
        assert [computed.found[name] for name in ("heads", "named", "unnamed", "jobs")] == [
            144, named, 144 - named, len(best),
        ]  # fmt: skip
        assert computed.found["share"] == named / 144
    for _, computed in of_view(view, "followed"):
        following = [(job.value, job.low, job.high, name) for name, job in of_heads if job.metric == "antecedent"]
        value, low, high, name = max(following, key=lambda each: each[0])
        assert [computed.found[key] for key in ("value", "low", "high", "head", "heads")] == [
            value, low, high, name, len(following),
        ]  # fmt: skip
    for given, computed in of_view(view, "backwards"):
        assert computed.found["backwards"] == " ".join(given["text"].split()[::-1])


def test_what_is_said_of_lines_is_read_off_them(view: Views) -> None:
    for _, computed in of_view(view, "saturation"):
        (divided, raw), found = computed.picture.lines.values(), computed.found
        assert computed.picture.x[[0, -1]].tolist() == [2, 512]
        assert [found["wide"], found["divided"], found["raw"]] == [512, divided[-1], raw[-1]]
        assert found["divided_narrow"] == divided[0]
    for _, computed in of_view(view, "pre_and_post"):
        (before, after), found = computed.picture.lines.values(), computed.found
        assert [found["pre_begin"], found["pre_end"], found["post_end"]] == [before[0], before[-1], after[-1]]
        assert [found["growth"], found["post_growth"]] == [before[-1] / before[0], after[-1] / after[1]]
        assert computed.picture.x.tolist() == list(range(len(before)))
    for _, computed in of_view(view, "schedule"):
        (own, other, _), x = computed.picture.lines.values(), computed.picture.x
        assert [x[0], x[-1], x[1] - x[0]] == [100, 100_000, 100]
        assert computed.found["share"] == pytest.approx(own[x == 100_000][0] / own[x == 4_000][0], rel=1e-5)
        assert [computed.found["peak"], computed.found["other_peak"]] == [own[x == 4_000][0], other[x == 1_000][0]]
        assert (computed.found["other"], computed.found["peak_step"]) == (1_000, 4_000)
    for _, computed in of_view(view, "own_rate"):
        (rates,), found = computed.picture.lines.values(), computed.found
        assert [found["steps"], found["last"], found["peak"]] == [computed.picture.x[-1], rates[-1], max(rates)]
        begins = [now for before, now in zip([0.0, *rates], rates, strict=False) if before == 0 and now > 0]
        assert (rates[0] > 0, found["rises"]) == (True, len(begins))
    for _, computed in of_view(view, "own_loss"):
        (losses, smooth), found = computed.picture.lines.values(), computed.found
        known = smooth[~np.isnan(smooth)]
        assert [known[0], known[-1]] == [found["first"], found["last"]]
        assert (len(losses) - len(known), found["width"]) == (19, 20)
        assert [known[0], known[-1]] == pytest.approx([losses[:20].mean(), losses[-20:].mean()])
        epsilon, others = found["epsilon"], found["vocabulary"] - 1
        right = 1 - epsilon + epsilon / found["vocabulary"]
        assert found["floor"] == pytest.approx(-right * log(right) - (1 - right) * log((1 - right) / others), rel=1e-4)
    for _, computed in of_view(view, "loss_over_certainty"):
        (plain, both), x, found = computed.picture.lines.values(), computed.picture.x, computed.found
        assert [found["sure"], found["sure_at"], found["plain_least"]] == [both[-1], x[-1], plain.min()]
        assert (found["least"], found["least_at"]) == (both.min(), x[both.argmin()])
        assert found["right"] == pytest.approx(0.9 + 0.1 / found["vocabulary"])
        assert (x[0], x[96], 1 - x[97], 1 - x[-1]) == pytest.approx((0.02, 0.98, 0.0199, 1e-6))
        assert found["half"] == "0.69"


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_step_can_be_told_in_every_language(view: Views, language: str) -> None:
    with messages.speaking(language):
        texts = {place: _told(*place, view(*place)) for place in STEPS}
    assert [(place, text) for place in STEPS for text in texts[place] if not text or "{" in text] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_exactly_one_option_is_right_and_the_verdict_reads_as_it_does(view: Views, language: str) -> None:
    for place, question in QUESTIONS.items():
        found = view(*place).found
        with messages.speaking(language):
            options = [filled_plainly(option, found) for option in question.options]
            right = [is_right(option, question, found) for option in question.options]
            verdict = right_answer(question, found)
        assert right.count(True) == 1, place
        assert verdict == options[right.index(True)], place
        assert len(set(options)) == len(options) > 1, place


def test_every_wrong_option_says_what_would_have_to_be_true_and_no_right_one_does(view: Views) -> None:
    for place, question in QUESTIONS.items():
        is_wrong = [not is_right(option, question, view(*place).found) for option in question.options]
        assert [bool(text) for text in question.wrong] == is_wrong, place


def test_a_question_has_three_options_and_its_wrong_ones_name_no_number_that_is_not_computed() -> None:
    assert [place for place, question in QUESTIONS.items() if len(question.options) < 3] == []
    texts = [text for question in QUESTIONS.values() for text in question.wrong]
    assert [text for text in texts if re.search(r"\d", re.sub(r"\{\w+[^}]*\}", "", text))] == []


def test_an_answer_is_not_what_always_stands_first(view: Views) -> None:
    """Who always chose the first option would else be right."""
    first = [is_right(one.options[0], one, view(*place).found) for place, one in QUESTIONS.items()]
    assert 0.2 < sum(first) / len(first) < 0.8


def _told(name: str, number: int, computed: View) -> list[str]:
    """What a person reads beside the picture."""
    lesson, step = lessons()[name], step_of(name, number)
    texts = [messages._(lesson.title), messages._(lesson.section), messages._(step.title), shown(computed.caption)]
    texts.append(filled(step.text, computed.found))
    if step.question is not None:
        texts += [filled(text, computed.found) for text in (step.question.ask, step.question.because)]
        texts += [filled(text, computed.found) for text in step.question.wrong if text]
    return texts
