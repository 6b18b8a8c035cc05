"""How few clicks lead to what one wants to see: to a pronoun's head none, to any two words' head two, to √d_k one."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import visit
from tests.browser.pointing import until
from tests.shipped import link_of
from viz.text.written import head_label


@pytest.mark.long
def test_which_word_it_stands_for_and_its_head_take_no_click_and_the_root_of_d_k_one(
    page: Page, shipped_url: str
) -> None:
    visit(page, shipped_url)
    head, weight = head_label(link_of().layer, link_of().head), f"{link_of().weight:.4f}"
    said = (
        f"When the model writes “es” for “it”, {head} of the cross-attention gives {weight} of its weight to “animal”"
    )
    expect(page.locator(".headline")).to_contain_text(f"Worth seeing: {said}")
    expect(page.locator(f".matrix-picture[data-title^='{head}']")).to_be_visible()
    expect(page.get_by_role("gridcell", name=re.compile(f"{head}.*, open"))).to_be_visible()
    # The root of dₖ is shown after one click.
    page.get_by_role("button", name="How a weight is computed").click()
    step = page.locator(".head-scene li.step").filter(has_text="Divide by √dₖ")
    expect(step).to_contain_text(re.compile(r"√32|5\.66|5\.657"))


@pytest.mark.long
def test_any_two_words_heads_take_two_clicks_and_one_of_them_a_third(page: Page, shipped_url: str) -> None:
    visit(page, shipped_url)
    words = page.locator(".word-picker[data-ready='1']")
    words.get_by_role("button", name="Straße", exact=True).click()
    expect(page.locator(".link-question")).to_contain_text("Which heads link Straße to …?")
    words.get_by_role("button", name="street", exact=True).click()
    expect(page).to_have_url(re.compile(r"from=\d+&to=\d+"))
    best = page.locator(".st-key-linked-0 button")
    # No longer the pronoun's.
    expect(best).not_to_contain_text(head_label(link_of().layer, link_of().head))
    label = best.text_content() or ""
    head = re.fullmatch(r"cross (L\d+ H\d+) · (0\.\d{4})", label)
    assert head is not None, label
    # Its tile is the first of those framed, and the head that was open still is.
    first = page.locator(".head-grid .cell").filter(has=page.locator(".cell-rank", has_text="1"))
    expect(first).to_have_attribute("aria-label", re.compile(f"^{head[1]}(?!.*open)"))
    opened = head_label(link_of().layer, link_of().head)
    expect(page.locator(f".matrix-picture[data-title^='{opened}'][data-exact='1']")).to_be_visible()
    # Opened, its number is printed where the two words meet.
    best.click()
    picture = page.locator(f".matrix-picture[data-title^='{head[1]}'][data-exact='1']")
    expect(picture.locator(".kept-number")).to_have_text(head[2])
    expect(first).to_have_attribute("aria-label", re.compile(f"^{head[1]}.*open$"))


@pytest.mark.long
def test_the_headline_of_words_of_several_tokens_says_the_cell_that_is_kept_and_what_is_worth_seeing_before(
    page: Page, shipped_url: str
) -> None:
    visit(page, f"{shipped_url}&text=The+hedgehog+did+not+cross+the+street+because+it+was+tired.")
    headline, words = page.locator(".headline"), page.locator(".word-picker[data-ready='1']")
    expect(page.locator(".matrix-picture .kept-number")).to_be_visible()
    # A noun of several tokens was only guessed.
    expect(headline).to_contain_text(
        re.compile(r"Worth seeing: When the model writes “\w+” for “it”, .* to “hedgehog”.*\(\?\)")
    )
    visit(page, shipped_url)
    words.get_by_role("button", name="überquerte", exact=True).click()
    expect(page.locator(".link-question")).to_contain_text("Which heads link überquerte to …?")
    best = page.locator(".st-key-linked-0 button")
    # The list of the words before is gone.
    expect(best).to_have_count(0)
    words.get_by_role("button", name="cross", exact=True).click()
    expect(best).to_contain_text(re.compile(r" · 0\.\d{4}$"))
    number = re.search(r"0\.\d{4}", best.text_content() or "")
    assert number is not None
    best.click()
    page.mouse.move(0, 0)
    expect(page.locator(".matrix-picture .kept-number")).to_have_text(number[0])
    expect(headline).to_contain_text(f"gives {number[0]} from überquerte to cross")


def test_the_words_that_are_worth_seeing_are_in_sight_in_a_long_sentence(page: Page, shipped_url: str) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    begin = "I saw the man who had been watching the woman who was feeding the birds that lived in the tree "
    text = f"{begin} that stood next to the old house, and because it was late, he decided to go home before it rained."
    visit(page, f"{shipped_url}&text={text.replace(' ', '+')}")
    chosen = page.locator(".word-picker[data-ready='1'] .word.from")
    expect(chosen).to_have_text("it")
    is_seen = """(word) => {
      const [line, box] = [word.closest(".words"), word].map((node) => node.getBoundingClientRect());
      return line.top <= box.top && box.bottom <= line.bottom;
    }"""
    until(lambda: chosen.evaluate(is_seen), "the word is in sight")
    # So they are where the lines are shorter.
    page.set_viewport_size({"width": 390, "height": 720})
    until(lambda: chosen.evaluate(is_seen), "the word is in sight")


#: What a person asks → the labels that lead to its home (page, then a tab, a lesson or a section), and what answers.
HOMES: dict[str, tuple[str, str, str]] = {
    "Which head links “it” to “animal” in my sentence?": ("Attention", "tab:All heads", ".headline"),
    "What does head L5 H2 do over many sentences?": ("Atlas", "", "[class*='st-key-atlas']"),
    "Which head is the cause of the pronoun?": ("Compare", "tab:Cause", ".st-key-cause-said"),
    "What changes when one word of the sentence is another?": ("Compare", "tab:Side by side", ".st-key-movement"),
    "How do two models differ?": ("Compare", "tab:Two models", "[class*='st-key-two-models-map']"),
    "How well do heads follow pronouns?": ("Compare", "tab:Measured", "table[aria-label='Accuracies compared']"),
    "How is the translation written, token by token?": ("Decode", "tab:Film", ".decode-player[data-ready='1']"),
    "What else could it have written here?": ("Decode", "tab:Film", ".decode-player[data-ready='1']"),
    "What would each layer have said?": ("Decode", "tab:Inside", "text=Logit lens"),
    "How does the model know the order of words?": ("Learn", "lesson:Positions", "text=The same words backwards"),
    "Why are scores divided by √dₖ?": (
        "Learn",
        "lesson:The formula, and why √dₖ",
        "text=By hand: queries, keys and values",
    ),
    "What may the decoder not see?": ("Learn", "lesson:Three attentions and their masks", ".st-key-lesson-step"),
    "What is beam search?": ("Learn", "lesson:Decoding: greedy and beam search", "text=A choice at every step"),
    "What does the whole Transformer do with my sentence?": ("Learn", "tab:The Transformer", ".model-scene"),
    "What if there were no residual connections?": ("Experiments", "tab:Ablations", ".st-key-ablation-full"),
    "When in training does a head learn its job?": ("Experiments", "tab:Through training", ".st-key-training-film"),
    "How many parameters does the model have?": ("Model", "section:Overview", ".st-key-parameters"),
    "What was it trained on?": ("Model", "section:Data and training", "table[aria-label='Training data']"),
    "How good are its translations?": ("Model", "section:Scores", "table[aria-label='Scores on each set']"),
    "What does a long text cost?": ("Model", "section:Masks, positions and cost", "text=Multiply-adds, millions"),
}


@pytest.mark.long
def test_twenty_questions_are_answered_where_their_labels_lead(page: Page, app_as_shipped: str) -> None:
    visit(page, app_as_shipped)
    assert len(HOMES) == 20
    for question, (title, labels, answer) in HOMES.items():
        kind, _colon, label = labels.partition(":")
        page.get_by_role("link", name=title, exact=True).click()
        expect(page.get_by_role("heading", level=1)).to_have_text(title)
        if kind == "tab":
            page.get_by_role("tab", name=label, exact=True).click()
            expect(page.get_by_role("tab", name=label, exact=True)).to_have_attribute("aria-selected", "true")
        elif kind == "lesson":
            page.get_by_role("tab", name="Lessons", exact=True).click()
            page.locator(".st-key-lesson-contents button").first.click()
            page.get_by_test_id("stPopoverBody").get_by_text(label).click()
        elif kind == "section":
            page.get_by_role("button", name=label, exact=True).click()
            expect(page.get_by_role("heading", level=3, name=label, exact=True)).to_be_in_viewport()
        expect(page.locator(answer).first, question).to_be_visible()
