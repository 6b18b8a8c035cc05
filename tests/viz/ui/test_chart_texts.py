"""plotly's own texts on a chart are given to it in the language that is read."""

from viz.text.messages import speaking, template
from viz.ui import chart_texts


def test_english_needs_no_configuration() -> None:
    assert chart_texts.locale_config() == {}


def test_another_language_comes_with_its_dictionary() -> None:
    with speaking("zh"):
        config = chart_texts.locale_config()
        reset = template("Reset axes")

    assert config["locale"] == "zh"
    assert isinstance(config["locales"], dict)
    assert config["locales"]["zh"]["dictionary"]["Reset axes"] == reset
