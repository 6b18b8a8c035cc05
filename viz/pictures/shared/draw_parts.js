// @ts-check
// Draws the components of a picture into an element, each in a shadow of its own, from bytes that are all there.

/** @typedef {{ script: string, element: string, style: string, count: number, hidden: boolean }} Part */
/** @typedef {{ parts: Part[], heads: number, alt: string, light: Record<string, string>, dark: Record<string, string> }} Plan */

/** @param {string} text of a module */
const load = async (text) => {
  const address = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  try {
    return (await import(address)).default;
  } finally {
    URL.revokeObjectURL(address);
  }
};

/** Whether what stands around an element is dark: by its own colour, as notebooks have themes of their own. @param {Element} element */
const isDark = (element) => {
  const parts = getComputedStyle(element)
    .color.match(/[\d.]+/g)
    ?.map(Number) ?? [0, 0, 0];
  return parts[0] + parts[1] + parts[2] > 384;
};

/**
 * @param {HTMLElement} el
 * @param {Plan} plan
 * @param {Uint8Array[]} payloads of all parts, one after another
 * @param {Record<string, string>} scripts path → text of a module
 */
// biome-ignore lint/correctness/noUnusedVariables: the page and the widget that this text is put into call it
const draw = async (el, plan, payloads, scripts) => {
  const colour = () => {
    el.style.color = "";
    for (const [name, value] of Object.entries(isDark(el) ? plan.dark : plan.light)) el.style.setProperty(name, value);
    el.style.color = "var(--st-text-color)";
    el.style.background = "var(--st-background-color)";
  };
  colour();
  el.setAttribute("role", "group");
  el.ariaLabel = plan.alt;
  let first = 0;
  const drawn = plan.parts.map((part) => {
    const holder = document.createElement("div");
    const parent = holder.attachShadow({ mode: "open" });
    const style = document.createElement("style");
    style.textContent = part.style;
    const root = document.createElement("div");
    root.className = part.element;
    root.hidden = part.hidden;
    parent.append(style, root);
    el.append(holder);
    const own = payloads.slice(first, first + part.count);
    first += part.count;
    return { parent, own, part };
  });
  const components = await Promise.all(plan.parts.map((part) => load(scripts[part.script])));
  /** What each part draws. */
  const shown = drawn.map(() => 0);
  /** @param {number} number @param {number} choice */
  const show = (number, choice) => {
    const { own, parent } = drawn[number];
    shown[number] = choice;
    return components[number]({ data: own[choice], parentElement: parent, setTriggerValue: told, setStateValue: told });
  };
  /** @param {string} name @param {any} value */
  const told = (name, value) => {
    if (name !== "head") return;
    for (const [number, { part }] of drawn.entries()) {
      const choice = 1 + value.layer * plan.heads + value.head;
      if (choice < part.count) show(number, choice);
    }
  };
  const ends = drawn.map((_, number) => show(number, 0));
  const ended = new AbortController();
  const again = () => {
    colour();
    shown.forEach((choice, number) => show(number, choice));
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again, { signal: ended.signal });
  return () => {
    ended.abort();
    for (const end of ends) end?.();
  };
};
