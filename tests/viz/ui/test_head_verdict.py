"""One sentence says whether a choice depends on a head; every page that asks gets the same one."""

import pytest

from model import Translator
from model.analysis.interventions.head_verdict import HeadVerdict, Intervention
from model.analysis.metrics.head_names import HeadName
from tests.shipped import FOLDER, TIRED, WIDE, link_of
from viz.access import head_verdict as access
from viz.access.head_verdict import Stated
from viz.pages.learn.lessons.data.search import three_interventions
from viz.pages.learn.lessons.data.shipped import Shipped
from viz.selection.model_choice import ModelChoice
from viz.server.background_jobs import Progress
from viz.text.messages import _, speaking
from viz.ui.head_verdict import sentence

HEAD = HeadName("decoder.cross", 4, 1)
STAYS, CHANGES = Intervention(-1.26, 5), Intervention(-9.0, 6)


def of(off: Intervention, swapped: Intervention | None, pointed: Intervention | None) -> str:
    names = {5: "▁es", 6: "▁sie"}
    verdict = HeadVerdict(head=HEAD, before=4.0, said=5, off=off, swapped=swapped, pointed=pointed, key=2)
    said = ["" if each is None else names[each.said] for each in (off, swapped, pointed)]
    key = "▁street" if pointed else ""
    return sentence(Stated(verdict, "▁es", "▁sie", off=said[0], swapped=said[1], pointed=said[2], key=key))


def test_the_three_interventions_stand_side_by_side_behind_what_follows_from_them() -> None:
    assert of(STAYS, CHANGES, CHANGES) == (
        "cross L5 H2 can change the choice of “es” rather than “sie”, but the choice does not need it: switched off, "
        "“es” stays (−1.3 nats); pointed at “street”, it becomes “sie” (−9.0 nats); with its output from the other "
        "sentence, it becomes “sie” (−9.0 nats)."
    )
    needed, unmoved = of(CHANGES, STAYS, STAYS), of(STAYS, STAYS, STAYS)
    assert needed.startswith("The choice of “es” rather than “sie” needs cross L5 H2: switched off, it becomes “sie”")
    assert unmoved.startswith("cross L5 H2 alone does not change the choice of “es” rather than “sie”: switched off")


def test_an_intervention_that_cannot_be_made_is_named() -> None:
    said = of(STAYS, None, None)
    assert said.endswith("; it cannot be pointed at a word; there is no other sentence to take its output from.")


def test_it_is_whole_in_chinese() -> None:
    with speaking("zh"):
        said = _(of(STAYS, CHANGES, CHANGES))
    assert "指向“street”时，变成“sie”（−9.0 奈特）" in said
    assert "nats" not in said


@pytest.fixture(scope="module")
def translator() -> Translator:
    return Translator.load(FOLDER, device="cpu")


def test_the_page_and_the_lesson_say_the_same_of_the_pronouns_head(translator: Translator) -> None:
    link, trace = link_of(), translator.trace(TIRED)
    step = next(number for number, step in enumerate(trace.steps) if step.token == "▁es")
    asked = access.at_step(translator, trace, step, WIDE)
    known = access.every_head(translator, asked).compute(Progress(0, "runs"))
    assert access.all_heads(translator)[known.strongest] == HeadName(link.site, link.layer, link.head)
    said = sentence(access.tested(translator, asked, (link.site, link.layer, link.head)).compute(Progress(1, "heads")))
    lesson = three_interventions(Shipped(ModelChoice(), translator), text=TIRED, other=WIDE, head="finding", word="es")
    assert said == lesson.found["verdict"]
    assert "“es” rather than “sie”" in said


def test_the_verdict_is_of_the_word_that_the_model_prefers_whichever_is_right(translator: Translator) -> None:
    es, sie = (f"Das Tier überquerte die Straße nicht, weil {word} zu müde war." for word in ("es", "sie"))
    a, b = (translator.word_choice(text, es, sie) for text in (TIRED, WIDE))
    asked = access.Question("", (TIRED, WIDE), a, b, ("▁es", "▁sie"))
    turned = access.Question("", (TIRED, WIDE), a.turned, b.turned, ("▁sie", "▁es"))
    link = link_of()

    def said(asked: access.Question) -> str:
        task = access.tested(translator, asked, (link.site, link.layer, link.head))
        return sentence(task.compute(Progress(1, "heads")))

    assert said(asked) == said(turned)
    assert "“es” rather than “sie”" in said(asked)
    found = [access.every_head(translator, each).compute(Progress(0, "runs")) for each in (asked, turned)]
    assert [each.prefers_right for each in found] == [True, False]
    assert found[0].off.tolist() == pytest.approx(found[1].off.tolist(), abs=1e-4)
