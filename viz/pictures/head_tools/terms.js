// Terms of the glossary in texts are links to `#term-LESSON`: those of Python's texts come so (`viz/text/glossary.py`), in
// sentences of scripts they are made here. Of each term the first that is in sight is one; others are text like any
// other. Hover, focus or a tap shows what the term means, the link's title, with a link to the lesson; Escape or leaving
// it hides this again.
import { _ } from "../shared/messages.js";
import { views } from "../shared/mount.js";
import { element } from "../shared/picture.js";

/** What finds a term, or what is left alone; name → the place of its term; each term's lesson and what it means. */
/** @typedef {{ pattern: string, names: Record<string, number>, terms: [string, string][] }} Glossary */

const TERM = 'a[href^="#term-"]';
const ANY_TERM = `${TERM}, a[data-term]`;
/** Where scripts write sentences; and what in them is no sentence, or says something new too often. */
const PROSE = "p, h3, h4, h5, figcaption, .note, .muted, .caption, .axes";
const NO_PROSE =
  "a, b, bdi, button, summary, label, select, textarea, code, svg, .token, .tooltip, [hidden], [role=status]:not(:has(p)), [aria-live]";
/** As `viz/ui/page_style.css` has it, for what views draw. */
const TERM_STYLE = `
  a[href^="#term-"] { color: inherit; text-decoration: underline dotted; text-underline-offset: 3px; cursor: help; }
  a[data-term]:not([href]) { color: inherit; text-decoration: none; }
`;
/** Of a text so many terms at most are explained: the first ones. */
const MOST_TERMS = 4;
/** How long changes of a page are gathered. */
const GATHERED_MS = 200;
const CHANGES = { childList: true, subtree: true, characterData: true };

/** @param {Event} event */
const pressedPart = (event) => event.composedPath()[0];

/** @param {Event} event */
const termAt = (event) => {
  const target = pressedPart(event);
  return target instanceof Element ? /** @type {HTMLAnchorElement | null} */ (target.closest(TERM)) : null;
};

/** What a term means: the browser's own tooltip would lie over the card. @param {HTMLAnchorElement} term */
const meaningOf = (term) => {
  if (term.title) term.dataset.text = term.title;
  term.removeAttribute("title");
  return term.dataset.text ?? "";
};

/** Make links of the terms in a view's sentences. @param {HTMLElement} view @param {RegExp} pattern @param {Glossary} glossary */
const linkTerms = (view, pattern, { names, terms }) => {
  const nodes = new Set();
  for (const prose of view.querySelectorAll(PROSE)) {
    const walker = document.createTreeWalker(prose, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) nodes.add(walker.currentNode);
  }
  for (const node of nodes) {
    if (node.parentElement.closest(NO_PROSE)) continue;
    const parts = [];
    let end = 0;
    for (const match of node.data.matchAll(pattern)) {
      if (!Object.hasOwn(names, match[0])) continue;
      const [lesson, title] = terms[names[match[0]]];
      const term = element("a", { href: `#term-${lesson}`, title }, match[0]);
      parts.push(node.data.slice(end, match.index), term);
      end = match.index + match[0].length;
    }
    if (end) node.replaceWith(...parts, node.data.slice(end));
  }
};

/** Let the first place of each term be a link, of those in sight, and no other. */
const markFirst = () => {
  /** A part of the page itself: of what a view draws, the element that holds it. @param {Node} node */
  const onPage = (node) => {
    const root = node.getRootNode();
    return root instanceof ShadowRoot ? root.host : node;
  };
  const found = [document, ...views()].flatMap((part) => [
    .../** @type {NodeListOf<HTMLAnchorElement>} */ (part.querySelectorAll(ANY_TERM)),
  ]);
  const placed = found.map((term) => ({ term, place: onPage(term) }));
  placed.sort((a, b) => {
    const [first, second] = a.place === b.place ? [a.term, b.term] : [a.place, b.place];
    return first.compareDocumentPosition(second) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1;
  });
  const known = new Set();
  /** @type {Map<Element | null, number>} */ const counts = new Map();
  for (const { term } of placed) {
    const meaning = meaningOf(term);
    const text = term.closest("p, li, h3, h4, h5, div");
    const { width, right } = term.getBoundingClientRect();
    const isFirst = !known.has(meaning) && width > 0 && right > 0 && (counts.get(text) ?? 0) < MOST_TERMS;
    if (term.hash) term.dataset.term = term.hash;
    if (isFirst) {
      known.add(meaning);
      counts.set(text, (counts.get(text) ?? 0) + 1);
      term.href = term.dataset.term ?? "";
    } else term.removeAttribute("href");
  }
};

/** Explain the terms of the page until the signal. @param {AbortSignal} signal @param {Glossary} glossary */
export const explainTerms = (signal, glossary) => {
  const pattern = new RegExp(glossary.pattern, "g");
  const [watched, style] = [new WeakSet(), new CSSStyleSheet()];
  style.replaceSync(TERM_STYLE);
  /** @type {ReturnType<typeof setTimeout> | undefined} */ let waiting;
  const observer = new MutationObserver(() => later());
  const later = () => {
    waiting ??= setTimeout(() => {
      waiting = undefined;
      for (const view of views()) {
        const root = view.getRootNode();
        if (root instanceof ShadowRoot && !watched.has(root)) {
          watched.add(root);
          observer.observe(root, CHANGES);
          root.adoptedStyleSheets.push(style);
        }
        linkTerms(view, pattern, glossary);
      }
      markFirst();
      observer.takeRecords();
    }, GATHERED_MS);
  };
  observer.observe(document.body, CHANGES);
  addEventListener("resize", later, { signal });
  document.addEventListener("headlight-view", later, { signal });
  signal.addEventListener("abort", () => {
    observer.disconnect();
    clearTimeout(waiting);
  });
  later();
  const card = element("div", { className: "term-card", id: "term-card", role: "tooltip", hidden: true });
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
    const meaning = meaningOf(term);
    const address = new URL("learn", location.href);
    const language = new URL(location.href).searchParams.get("lang");
    address.searchParams.set("lesson", term.hash.slice("#term-".length));
    if (language) address.searchParams.set("lang", language);
    card.replaceChildren(meaning, " ", element("a", { href: address.href }, _("The lesson")));
    // Within the app, whose colours it has; another theme makes another element of it.
    (document.querySelector(".stApp") ?? document.body).append(card);
    card.hidden = false;
    term.setAttribute("aria-describedby", card.id);
    shown = term;
    place();
  };
  /** @param {Event} event */
  const enter = (event) => {
    const [term, target] = [termAt(event), pressedPart(event)];
    if (term) show(term);
    else if (target instanceof Node && card.contains(target)) clearTimeout(leaving);
  };
  const leave = () => {
    clearTimeout(leaving);
    // Time to reach the link in the card.
    leaving = setTimeout(hide, 250);
  };

  for (const kind of ["pointerover", "focusin"]) document.addEventListener(kind, enter, { signal });
  const goOut = (/** @type {Event} */ event) => (termAt(event) || pressedPart(event) === card) && leave();
  for (const kind of ["pointerout", "focusout"]) document.addEventListener(kind, goOut, { signal });
  document.addEventListener("scroll", place, { signal, capture: true, passive: true });
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide(), { signal });
  const press = (/** @type {Event} */ event) => {
    const term = termAt(event);
    if (!term) return card.contains(/** @type {Node} */ (pressedPart(event))) || hide();
    // The link leads nowhere: it is there to be pointed at.
    event.preventDefault();
    show(term);
  };
  document.addEventListener("click", press, { signal });
  signal.addEventListener("abort", () => card.remove());
  // A term that was pointed at before this began, on a page that is still drawn, is told of no second time.
  const already = document.querySelector(`${TERM}:hover, ${TERM}:focus`);
  if (already) show(/** @type {HTMLAnchorElement} */ (already));
};
