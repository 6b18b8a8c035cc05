"""What one sees without scrolling, and what stays in sight while one scrolls."""

from playwright.sync_api import Page, expect

#: CSS pixels that title, sentence and controls may take.
ROOM_ABOVE = 260
#: A wider window leaves more room beside each other.
WIDTH, HEIGHT = 1280, 720
#: Page and tab → the picture that it is about.
PICTURES = {
    ("Learn", "Lessons"): ".st-key-lesson-look-up-1",
    ("Learn", "The Transformer"): ".st-key-architecture",
    ("Learn", "Follow one token"): ".st-key-follow-path",
    ("Attention", "All heads"): ".st-key-heads",
    ("Attention", "Where a weight comes from"): ".st-key-origin .first svg",
    ("Attention", "QK and OV"): "[aria-label='What the head writes of each token']",
    ("Attention", "bertviz"): "iframe",
    ("Decode", "Film"): ".st-key-player",
    ("Decode", "Branches"): ".st-key-branch-tree",
    ("Decode", "Edit attention"): ".st-key-edit-row",
    ("Decode", "Logit lens"): ".st-key-lens",
    ("Decode", "Attribution"): ".st-key-attribution-words",
    ("Decode", "Beam search"): ".st-key-beam-tree",
    ("Decode", "Sampling"): ".st-key-samples",
    ("Decode", "Cost"): ".st-key-cache-self",
    ("Compare", "Side by side"): ".st-key-movement",
    ("Compare", "Measured"): "table[aria-label='Accuracies side by side']",
    ("Compare", "Cause"): "[class*='st-key-cause-effects-encoder'] >> nth=0",
    ("Compare", "Two models"): "[class*='st-key-two-models-map']",
    ("Atlas", "Layer × head"): ".st-key-atlas-maps",
    ("Masks & positions", "Masks"): ".st-key-mask-alone-causal",
    ("Why attention?", "Scores"): ".st-key-score-row-dot",
    ("Why attention?", "Table 1"): ".st-key-influence-recurrent",
    ("Why attention?", "Ablations"): ".st-key-ablation-full",
    ("Why attention?", "Through training"): ".st-key-training-film",
    ("Model", "Architecture"): ".st-key-parameters",
    ("Model", "Vocabulary"): "[aria-label^='Pieces of the vocabulary']",
    ("Model", "Curves"): ".st-key-training-curves",
}


def test_the_pictures_of_all_pages_begin_in_the_upper_part_of_the_screen(page: Page, app_as_shipped: str) -> None:
    # A model of random weights would write a sentence that fills the head of the page.
    page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
    page.goto(app_as_shipped)
    low, opened = [], ""
    for (name, tab), selector in PICTURES.items():
        # A link to the page that is open draws it anew, and a press on what is about to go is heard by nobody.
        if name != opened:
            page.get_by_role("link", name=name, exact=True).click()
        opened = name
        page.get_by_role("tab", name=tab).click()
        picture = page.locator(selector)
        expect(picture).to_be_visible()
        top = picture.evaluate("(element) => element.getBoundingClientRect().top")
        if top > ROOM_ABOVE:
            low.append(f"{name}, {tab}: {top}")
    assert low == []


def test_the_translation_stays_in_sight_below_the_bar_of_pages_and_the_menu_has_the_theme(
    page: Page, app_as_shipped: str
) -> None:
    page.goto(app_as_shipped)
    expect(page.locator("[data-ready='1']").first).to_be_visible()
    translation = page.locator(".word-picker span[lang='de']")
    page.set_viewport_size({"width": 1280, "height": 500})
    page.get_by_test_id("stMain").evaluate("(main) => main.scrollTo(0, 400)")
    expect(page.get_by_role("tab", name="All heads")).not_to_be_in_viewport()
    expect(translation).to_be_in_viewport(ratio=1)
    # Nothing lies over it.
    seen = "(text) => { const { left, top } = text.getBoundingClientRect();"
    at = "text.getRootNode().elementFromPoint(left + 5, top + 5)"
    assert translation.evaluate(f"{seen} return text.contains({at}); }}")
    # The theme is chosen in the menu.
    app = page.get_by_test_id("stApp")
    expect(app).to_have_css("color-scheme", "light")
    page.get_by_test_id("stMainMenu").get_by_role("button").click()
    page.get_by_role("menuitemradio", name="Dark").click()
    expect(app).to_have_css("color-scheme", "dark")
