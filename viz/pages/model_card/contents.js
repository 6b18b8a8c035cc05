// The contents of a page: a link for each section. A section that a person or an address asks for is brought to the top,
// and kept there while the sections above it are still filled.

import { mount, View } from "../../pictures/shared/mount.js";
import { button, element } from "../../pictures/shared/picture.js";

/** @typedef {{ sections: string[], open: number }} Header */

/** No section takes longer to be filled, and nobody waits longer for one. */
const KEPT_FOR_MS = 15_000;
/** CSS pixels between the head and a section. */
const GAP = 8;
/** What a person does to look elsewhere. */
const LOOKED_ELSEWHERE = ["wheel", "touchmove", "keydown", "pointerdown"];

class Contents extends View {
  open = 0;
  /** Ends that a section is kept at the top. */
  kept = new AbortController();

  dispose() {
    super.dispose();
    this.kept.abort();
  }

  /** @param {{ header: Header }} payload */
  receive({ header }) {
    const links = header.sections.map((label, number) =>
      button({ className: "section-link" }, () => this.press(number), label),
    );
    this.root.replaceChildren(element("nav", {}, ...links));
    if (header.open !== this.open) this.show(header.open);
    this.root.dataset.ready = "1";
  }

  /** @param {number} number */
  press(number) {
    this.show(number);
    this.python.trigger("open", number);
  }

  /** @param {number} number */
  show(number) {
    this.open = number;
    this.kept.abort();
    this.kept = new AbortController();
    const { signal } = this.kept;
    const bring = () => {
      const section = /** @type {HTMLElement | null} */ (document.querySelector(`.st-key-section-${number}`));
      if (!section) return;
      // The head of the page lies over what is below it.
      section.style.scrollMarginTop = `${this.root.getBoundingClientRect().bottom + GAP}px`;
      section.scrollIntoView({ block: "start" });
    };
    const observer = new ResizeObserver(bring);
    const page = document.querySelector('[data-testid="stMainBlockContainer"]');
    if (page) observer.observe(page);
    signal.addEventListener("abort", () => observer.disconnect());
    setTimeout(() => this.kept.signal === signal && this.kept.abort(), KEPT_FOR_MS);
    // After the press that led here.
    setTimeout(() => {
      for (const kind of LOOKED_ELSEWHERE)
        document.addEventListener(kind, () => this.kept.signal === signal && this.kept.abort(), { signal });
    });
    bring();
  }
}

export default mount(".contents", Contents);
