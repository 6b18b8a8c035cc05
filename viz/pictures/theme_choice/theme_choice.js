// Light, dark or as the system has it: the choice of Streamlit's own menu, which is out of sight, among our settings.
// Streamlit keeps it for the address of one page; we keep it for all, and `opening_page/cover.js` hands it on.
import { consume, isCombination, reachByTab } from "../shared/items.js";
import { keep, kept, THEME } from "../shared/kept.js";
import { _ } from "../shared/messages.js";
import { mount, View } from "../shared/mount.js";
import { button, element } from "../shared/picture.js";

/** As Streamlit names them. */
const THEMES = ["Light", "Dark", "System"];
/** So often a look is taken whether its menu is drawn. */
const LOOKS = 20;
/** @type {Record<string, number>} */
const MOVES = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };

/** @param {string} name @returns {HTMLElement?} */
const ofMenu = (name) => document.querySelector(`[data-testid="stMainMenu${name}"]`);

/** Press it, unheard by the document: our settings would close. @param {HTMLElement} part */
function press(part) {
  document.body.addEventListener("click", (event) => event.stopPropagation(), { once: true });
  part.click();
}

/** Open or close Streamlit's menu, unless it is so already. @param {boolean} isOpen */
function turnMenu(isOpen) {
  const menu = ofMenu("Button");
  if (menu && (menu.ariaExpanded === "true") !== isOpen) press(menu);
}

class ThemeChoice extends View {
  choices = THEMES.map((theme) => button({ className: "theme", role: "radio" }, () => this.choose(theme)));
  chosen = kept(THEME) ?? "System";

  start() {
    const group = element("div", { className: "themes", role: "radiogroup", ariaLabel: _("Theme") }, ...this.choices);
    group.onkeydown = (event) => this.walk(event);
    this.root.append(element("span", { className: "theme-label", ariaHidden: "true" }, _("Theme")), group);
  }

  receive() {
    const labels = [_("Light"), _("Dark"), _("System")];
    for (const [at, choice] of this.choices.entries()) {
      choice.textContent = labels[at];
      choice.ariaChecked = String(THEMES[at] === this.chosen);
    }
    reachByTab(this.choices, this.choices[THEMES.indexOf(this.chosen)] ?? this.choices[0]);
    this.root.dataset.ready = "1";
  }

  /** As in any group of radio buttons, an arrow chooses. @param {KeyboardEvent} event */
  walk(event) {
    const at = this.choices.indexOf(/** @type {HTMLButtonElement} */ (event.target));
    const to = (at + MOVES[event.key] + THEMES.length) % THEMES.length;
    if (at < 0 || Number.isNaN(to) || isCombination(event)) return;
    this.choices[to].focus();
    this.choose(THEMES[to]);
    consume(event);
  }

  /** @param {string} theme @param {number} [looks] */
  choose(theme, looks = LOOKS) {
    const item = ofMenu(`Item-theme-${theme}`);
    if (item) {
      press(item);
      this.chosen = theme;
      keep(THEME, theme);
      this.receive();
      setTimeout(() => turnMenu(false));
    } else if (looks) {
      turnMenu(true);
      setTimeout(() => this.choose(theme, looks - 1));
    }
  }
}

export default mount(".theme-choice", ThemeChoice);
