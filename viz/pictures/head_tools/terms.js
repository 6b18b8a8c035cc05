// Terms of the glossary in texts are links to `#term-LESSON` (`viz/text/glossary.py`). Hover, focus or a tap shows what
// the term means, the link's title, with a link to the lesson; Escape or leaving it hides this again.
import { _ } from "../shared/messages.js";

const TERM = 'a[href^="#term-"]';

/** @param {EventTarget | null} target */
const termAt = (target) =>
  target instanceof Element ? /** @type {HTMLAnchorElement | null} */ (target.closest(TERM)) : null;

/** Explain the terms of the page until the signal. @param {AbortSignal} signal */
export const explainTerms = (signal) => {
  const card = document.createElement("div");
  card.className = "term-card";
  card.id = "term-card";
  card.setAttribute("role", "tooltip");
  card.hidden = true;
  /** @type {HTMLAnchorElement | undefined} */ let shown;
  /** @type {ReturnType<typeof setTimeout> | undefined} */ let leaving;

  const hide = () => {
    shown?.removeAttribute("aria-describedby");
    shown = undefined;
    card.hidden = true;
  };
  /** Put the card below its term, or above it where there is no room. */
  const place = () => {
    if (!shown) return;
    const { left, bottom, top } = shown.getBoundingClientRect();
    const { width, height } = card.getBoundingClientRect();
    card.style.left = `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`;
    card.style.top = `${bottom + height + 8 < innerHeight ? bottom + 4 : top - height - 4}px`;
  };
  /** @param {HTMLAnchorElement} term */
  const show = (term) => {
    clearTimeout(leaving);
    if (term === shown && card.isConnected) return;
    hide();
    // The browser's own tooltip would lie over the card.
    term.dataset.text ??= term.title;
    term.removeAttribute("title");
    const lesson = document.createElement("a");
    const address = new URL("learn", location.href);
    const language = new URL(location.href).searchParams.get("lang");
    address.searchParams.set("lesson", term.hash.slice("#term-".length));
    if (language) address.searchParams.set("lang", language);
    lesson.href = address.href;
    lesson.textContent = _("The lesson");
    card.replaceChildren(term.dataset.text, " ", lesson);
    // Within the app, whose colours it has; another theme makes another element of it.
    (document.querySelector(".stApp") ?? document.body).append(card);
    card.hidden = false;
    term.setAttribute("aria-describedby", card.id);
    shown = term;
    place();
  };
  /** @param {Event} event */
  const enter = (event) => {
    const term = termAt(event.target);
    if (term) show(term);
    else if (event.target instanceof Node && card.contains(event.target)) clearTimeout(leaving);
  };
  const leave = () => {
    clearTimeout(leaving);
    // Time to reach the link in the card.
    leaving = setTimeout(hide, 250);
  };

  document.addEventListener("pointerover", enter, { signal });
  document.addEventListener("focusin", enter, { signal });
  document.addEventListener("pointerout", (event) => (termAt(event.target) || event.target === card) && leave(), {
    signal,
  });
  document.addEventListener("focusout", (event) => termAt(event.target) && leave(), { signal });
  document.addEventListener("scroll", place, { signal, capture: true, passive: true });
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide(), { signal });
  document.addEventListener(
    "click",
    (event) => {
      const term = termAt(event.target);
      if (!term) return card.contains(/** @type {Node} */ (event.target)) || hide();
      // The link leads nowhere: it is there to be pointed at.
      event.preventDefault();
      show(term);
    },
    { signal },
  );
  signal.addEventListener("abort", () => card.remove());
  // A term that was pointed at before this began, on a page that is still drawn, is told of no second time.
  const already = document.querySelector(`${TERM}:hover, ${TERM}:focus`);
  if (already) show(/** @type {HTMLAnchorElement} */ (already));
};
