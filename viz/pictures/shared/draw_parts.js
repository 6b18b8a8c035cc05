// Draws the components of a picture into an element, each in a shadow of its own, from bytes that are all there.

/** @typedef {{ script: string, element: string, style: string, count: number, answers: readonly string[], hidden: boolean }} Part */
/** @typedef {{ parts: Part[], heads: number, alt: string, light: Record<string, string>, dark: Record<string, string> }} Plan */

/** Who answers what no payload does. @typedef {{ ask: (name: string, value: any) => void, hear: (then: (payloads: Uint8Array[]) => void) => void }} Live */

/** @param {string} text of a module */
const load = async (text) => {
  const address = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  try {
    return (await import(address)).default;
  } finally {
    URL.revokeObjectURL(address);
  }
};

/** A payload with another header. @param {Uint8Array} bytes @param {(header: any) => any} change */
const withHeader = (bytes, change) => {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const [header, arrays] = [bytes.subarray(4, 4 + length), bytes.subarray(4 + length)];
  const changed = new TextEncoder().encode(JSON.stringify(change(JSON.parse(new TextDecoder().decode(header)))));
  const made = new Uint8Array(4 + changed.length + arrays.length);
  new DataView(made.buffer).setUint32(0, changed.length, true);
  made.set(changed, 4);
  made.set(arrays, 4 + changed.length);
  return made;
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
 * @param {Live} [live] of a picture whose parts have a payload each
 */
// biome-ignore lint/correctness/noUnusedVariables: the page and the widget that this text is put into call it
const draw = async (el, plan, payloads, scripts, live) => {
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
  /** The row and the column that a person keeps, whichever head is open. @type {(number | null)[] | null} */
  let kept = null;
  /** What lines have become in a person's hands, until another head is open. */
  let lines = {};
  // Lines obey each command once, whichever payload it comes with.
  let commands = payloads.length;
  /** What a part draws with what is kept. @param {any} header */
  const keeping = (header) => {
    const [query, key] = /** @type {(number | null)[]} */ (kept);
    if ("kept" in header) return { ...header, kept };
    if (!("query" in (header.command ?? {}))) return header;
    const view = { ...lines, number: ++commands, query, key: query === null ? key : null };
    return { ...header, command: { ...header.command, ...view } };
  };
  /** @param {number} number @param {number} choice */
  const show = (number, choice) => {
    const { own, parent } = drawn[number];
    shown[number] = choice;
    const data = kept ? withHeader(own[choice], keeping) : own[choice];
    const tell = (/** @type {string} */ name, /** @type {any} */ value) => told(number, name, value);
    return components[number]({ data, parentElement: parent, setTriggerValue: tell, setStateValue: tell });
  };
  /** @param {number} teller @param {string} name @param {any} value */
  const told = (teller, name, value) => {
    if (live) return live.ask(name, value);
    // What is not among the answers is the question itself.
    if (name === "trail") {
      for (const [number, { answers }] of plan.parts.entries())
        if (answers.length) show(number, 1 + answers.indexOf(value.codes));
      return;
    }
    let now = kept;
    if (name === "head") lines = {};
    else if (name === "kept") now = [value.row, value.column];
    else if (name === "view" && "query" in value) {
      lines = { heads: value.heads, threshold: value.threshold };
      // Lines keep one of both; a column stays behind a row.
      now = [value.query, value.query === null ? value.key : (kept?.[1] ?? null)];
    }
    if (now?.join() !== kept?.join()) {
      kept = now;
      shown.forEach((choice, number) => number !== teller && show(number, choice));
    }
    if (name !== "head") return;
    for (const [number, { part }] of drawn.entries()) {
      const choice = 1 + value.layer * plan.heads + value.head;
      if (choice < part.count) show(number, choice);
    }
  };
  const ends = drawn.map((_, number) => show(number, 0));
  live?.hear((payloads) => {
    for (const [number, payload] of payloads.entries()) {
      drawn[number].own[0] = payload;
      show(number, 0);
    }
  });
  const ended = new AbortController();
  const again = () => {
    colour();
    shown.forEach((choice, number) => show(number, choice));
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again, { signal: ended.signal });
  // Of several pictures on a page, the one that a person comes to has the head that the page speaks of.
  // Drawn once: what is redrawn between a press and its release loses the click.
  const open = () => {
    const page = /** @type {{ headlightOpened?: HTMLElement }} */ (globalThis);
    if (page.headlightOpened === el) return;
    page.headlightOpened = el;
    shown.forEach(
      (choice, number) => plan.parts[number].count > 1 + plan.parts[number].answers.length && show(number, choice),
    );
  };
  for (const event of ["pointerenter", "focusin"]) el.addEventListener(event, open, { signal: ended.signal });
  return () => {
    ended.abort();
    for (const end of ends) end?.();
  };
};
