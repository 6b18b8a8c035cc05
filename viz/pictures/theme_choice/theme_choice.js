// Light, dark or as the system has it: the choice of Streamlit's own menu, which is out of sight, among our settings.
// Streamlit keeps it for the address of one page; we keep it for all, and `opening_page/cover.js` hands it on.
import { _ } from "../shared/messages.js";
import { mount, View } from "../shared/mount.js";
import { button, element } from "../shared/picture.js";

/** As Streamlit names them. */
const THEMES = ["Light", "Dark", "System"];
/** As in `opening_page/cover.js`. */
const KEPT = "headlight-theme";

/** @param {string} selector */
const press = (selector) => /** @type {HTMLElement?} */ (document.querySelector(selector))?.click();

class ThemeChoice extends View {
  choices = THEMES.map((theme) => button({ className: "theme", role: "radio" }, () => this.choose(theme)));

  start() {
    const group = element("div", { className: "themes", role: "radiogroup", ariaLabel: _("Theme") }, ...this.choices);
    this.root.append(element("span", { className: "theme-label", ariaHidden: "true" }, _("Theme")), group);
  }

  receive() {
    const labels = [_("Light"), _("Dark"), _("System")];
    const chosen = localStorage.getItem(KEPT) ?? "System";
    for (const [at, choice] of this.choices.entries()) {
      choice.textContent = labels[at];
      choice.ariaChecked = String(THEMES[at] === chosen);
    }
    this.root.dataset.ready = "1";
  }

  /** @param {string} theme */
  choose(theme) {
    localStorage.setItem(KEPT, theme);
    press('[data-testid="stMainMenuButton"]');
    // The menu is drawn by then.
    setTimeout(() => press(`[data-testid="stMainMenuItem-theme-${theme}"]`));
    this.receive();
  }
}

export default mount(".theme-choice", ThemeChoice);
