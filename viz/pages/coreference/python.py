"""The Python that gives what the page Compare shows."""

from typing import Final

import streamlit as st

from viz.access import head_verdict, models, traces
from viz.access.head_verdict import Question
from viz.pages.coreference import data, pair_controls, pair_words, two_models
from viz.pages.coreference.data import Side, causes
from viz.selection import state
from viz.selection.choices import PAIR_SETS
from viz.ui import attribution as asked_about
from viz.ui import long_work, snippets
from viz.ui.snippets import Snippet, Views, line, of_model, of_reader


def _side_by_side() -> Snippet:
    """How far every head moves between the two sentences; of unmarked ones the rows of a layer."""
    selection, pair = state.current(), pair_controls.chosen()
    texts, cases = pair.texts, pair.cases
    if not all(texts):
        return ""
    reader, measure = models.reader(selection.model), data.MEASURES[selection.common.measure]
    written = [traces.trace(models.text_reader(selection.model), text) for text in texts]
    common = selection.for_model(written[0].shapes).common
    site = common.site
    sides = [Side(number, trace, case) for number, (trace, case) in enumerate(zip(written, cases, strict=True))]
    found = [query.rows for query in pair_words.queries(sides, site)]
    both = ["" if side.case is None else data.candidates(side.trace, reader, side.case, site) for side in sides]
    functions = "analysis.coreference.pronoun_rows"
    if any(isinstance(each, str) for each in both):
        rows_of = line("sides = {}  # text, rows", list(zip(texts, found, strict=True)))
        measured = line("measured_rows(reader, trace, {}, {}, at, {})", site, common.layer, measure)
        left_out = "" if common.sinks else ", sinks=False"
        keys = line(f"trace.axes({{}}, whole_words={{}}{left_out})[1].groups", site, common.whole_words)
        of_row = f"attention_between_words({measured}, [range(len(at))], {keys})[:, 0]"
        rows = f"rows = [{of_row} for text, at in sides for trace in [reader.trace(text)]]  # [head, key]"
        return of_reader({functions: "measured_rows", "words": "attention_between_words"}, rows_of, rows)
    sides_given = list(zip(texts, found, both, strict=True))
    of_sides = line("sides = {}  # text, rows of the pronoun, tokens of antecedent and distractor", sides_given)
    of_side = line("candidate_weights(reader, reader.trace(text), {}, rows, both, {})", site, measure)
    moved = f"moved = movement(*({of_side} for text, rows, both in sides))  # [layer, head]"
    return of_reader({functions: "candidate_weights, movement"}, of_sides, moved)


def _measured() -> Snippet:
    """Every head scored over the set."""
    model, choices = state.current().model, state.current().coreference
    if not models.abilities(model).has("self-attention"):
        return ""
    measure = data.MEASURES[state.current().common.measure]
    names, package = "curated_cases", "headlight"
    cases = line("cases = curated_cases({})", data.set_language(models.languages(model)[0]))
    if choices.pair_set != PAIR_SETS[0]:
        if (file := st.session_state.get("measured-file")) is None:
            return ""
        names, package = "read_pronoun_cases", "headlight, pathlib"
        cases = line("cases = read_pronoun_cases(pathlib.Path({}))", file.name)
    imports = {"analysis.coreference.case_files": names, "analysis.coreference.measure": "measure_coreference"}
    scores = line("scores = measure_coreference(reader, cases, measure={})", measure)
    shown = "accuracies = {site: of_site.accuracy for site, of_site in scores.sites.items()}"
    return of_model(imports, cases, scores, shown, package=package)


#: Intervention → the module and the function that try it.
_BY: Final = {
    "off": ("head_effects", "measure_effects"),
    "estimate": ("head_effects", "estimate_effects"),
    "swapped": ("patching", "patch_heads"),
    "direct": ("patching", "patch_paths"),
}


def _cause() -> Snippet:
    """What each head off, and swapped, does to the choice; or over the whole set, by the chosen intervention."""
    model, choices = state.current().model, state.current().coreference
    if not models.abilities(model).has("word choice"):
        return ""
    is_pronoun = models.is_english_german(model)
    compared, chooser, of_set = pair_controls.chosen(), models.chooser(model), causes.questions(model)
    pairs_of, words = "gift_pairs", "analysis.interventions.word_pairs"
    if is_pronoun:
        pairs_of, words = "pronoun_pairs", "analysis.coreference.pronoun_choice"
    if of_set and choices.cause_scope == "set":
        module, function = _BY[choices.cause_by]
        imports = {f"analysis.interventions.{module}": function, words: pairs_of}
        pairs = f"pairs = [each.pair for each in {pairs_of}(reader).values()]"
        asked = "pairs" if module == "patching" else "[each for pair in pairs for each in (pair.a, pair.b.turned)]"
        return of_model(imports, pairs, f"changes = {function}(reader, {asked}).changes  # [choice, head], nats")
    question = next((each for each in of_set if each.name == compared.name), None)
    if question is None:
        question, pair = _own_question(compared.texts)
        words, name_of, snippet = "analysis.interventions.word_pairs", "own_pair", of_reader
    else:
        pair, name_of, snippet = line(f"pair = {pairs_of}(reader)[{{}}].pair", question.name), pairs_of, of_model
    known = long_work.known(head_verdict.every_head(chooser, question))
    sign = "" if known is None or known.prefers_right else "-"
    found = f"off = {sign}measure_effects(reader, [pair.a]).changes[0]  # [head], nats"
    imports = {"analysis.interventions.head_effects": "measure_effects", words: name_of}
    if question.b is None:
        return snippet(imports, pair, found)
    found = f"off, swapped = {sign}measure_effects(reader, [pair.a]).changes[0], "
    found += f"{sign}patch_heads(reader, [pair]).changes[0]  # [head], nats"
    return snippet({**imports, "analysis.interventions.patching": "patch_heads"}, pair, found)


def _own_question(texts: tuple[str, str]) -> tuple[Question, str]:
    """What is asked of texts that no set asks about, and the line that asks it."""
    model, (text, other) = state.current().model, texts
    reader, other = models.text_chooser(model), "" if other == text else other
    written: tuple[int, ...] = ()
    if reader.abilities.generates:
        steps = traces.written(models.writer(model), text).steps
        written = tuple(each.token_id for each in steps[: state.current().common.step + 1])
    else:
        written = asked_about.chosen_label(reader, text)
    asked = head_verdict.own_question(reader, text, other, written)
    return asked, line("pair = own_pair(reader, {}, {}, {}).pair", text, other, written)


def _two_models() -> Snippet:
    """How far each head of one model is from each head of the other."""
    offered = two_models.offered_models()
    if not offered:
        return ""
    model, choices = state.current().model, state.current().coreference
    name = choices.second_model if choices.second_model in offered else next(iter(offered))
    second, common = two_models.choice_of(name), state.current().common
    pairs = data.sites_of(models.reader(model), models.reader(second))
    site = common.site if common.site in pairs else next(iter(pairs))
    imports, texts = {"analysis.two_models": "head_distances"}, line("texts = [{}]", pair_controls.chosen().texts[0])
    if choices.texts_of_both == "corpus":
        imports, texts = {"analysis.corpus": "OWN_CORPUS, read_text", **imports}, _CORPUS
    other = f"second = {snippets.opened(second)}"
    found = line("distances = head_distances(reader, second, texts, {}).distances  # bits", (site, pairs[site]))
    return of_model(imports, other, texts, found)


_CORPUS: Final = "texts = [sentence.text for sentence in read_text(OWN_CORPUS)]"
VIEWS: Final[Views] = {"Side by side": _side_by_side, "Measured": _measured, "Cause": _cause, "Two models": _two_models}
