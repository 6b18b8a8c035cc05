import json

import pytest

from viz.pictures.offline import colours, offline_page, script_json
from viz.text.messages import speaking

SIGNS = "</script><!--\u2028\u2029&'\"`\\"


def test_json_in_a_script_is_the_same_value_without_the_signs_that_end_it() -> None:
    written = script_json({"a": SIGNS})
    assert json.loads(written) == {"a": SIGNS}
    assert not set("<\u2028\u2029") & set(written)


@pytest.mark.parametrize("script", ["x = '</SCRIPT >'", "x = '<!-- '"])
def test_a_script_that_could_end_its_element_is_a_mistake_of_ours(script: str) -> None:
    with pytest.raises(AssertionError, match="end its element"):
        offline_page(title="", style="", body="", libraries=[], script=script)


def test_the_title_is_text() -> None:
    page = offline_page(title="</title><script>", style="", body="", libraries=[], script="")
    assert "<title>&lt;/title&gt;&lt;script&gt;</title>" in page


def test_both_palettes_name_the_same_colours() -> None:
    assert set(colours("light")) == set(colours("dark"))


def test_a_page_is_in_the_language_in_which_it_is_made() -> None:
    entry = "pages/attention/bertviz/bertviz_page.js"
    english = offline_page(title="", style="", body="", libraries=[], entry=entry)
    with speaking("zh"):
        chinese = offline_page(title="", style="", body="", libraries=[], entry=entry)
    assert '<html lang="en">' in english
    assert "globalThis.headlightLanguage = {" not in english
    assert '<html lang="zh">' in chinese
    spoken, module = chinese.index("globalThis.headlightLanguage = {"), chinese.index(".headlightLanguage ??")
    assert spoken < module, "the language is there before messages.js looks for it"
