// Translations side by side, each a card that opens to show its steps: every token on the colour of its probability.
// Data: the payload of sample_cards.py. Which cards are open is the browser's own business.

class SampleCards {
  constructor(root) {
    this.root = root;
    this.grid = element("div", "sample-grid");
    root.replaceChildren(this.grid);
    this.tooltip = new Tooltip(root);
    this.grid.addEventListener("pointermove", (event) => this.point(event));
    this.grid.addEventListener("pointerleave", () => this.tooltip.hide());
  }

  show({ header }) {
    if (this.data?.digest !== header.digest) {
      this.data = header;
      for (const [name, colour] of Object.entries(header.colours)) this.root.style.setProperty(`--${name}`, colour);
      this.tooltip.hide();
      this.grid.replaceChildren(...header.cards.map((card, at) => this.card(card, at)));
    }
    this.root.dataset.ready = "1";
  }

  card(card, at) {
    const box = element("article", card.isGreedy ? "sample-card greedy" : "sample-card");
    const head = element("div", "sample-head");
    head.append(element("b", "", card.title), element("span", "muted", card.which));
    const text = element("p", "sample-text");
    text.lang = this.data.language;
    text.dir = "auto";
    card.pieces.forEach(([words, isMarked], i) => text.append(i ? " " : "", isMarked ? element("mark", "", words) : words));
    const foot = element("div", "sample-foot");
    foot.append(this.numbers(card.numbers), this.opener(box, at));
    box.append(head, text, foot);
    if (card.note) box.append(element("p", "sample-note", card.note));
    return box;
  }

  numbers(pairs) {
    const list = element("dl", "sample-numbers");
    for (const [name, value] of pairs) list.append(element("dt", "", name), element("dd", "", value));
    return list;
  }

  opener(box, at) {
    const button = element("button", "sample-open", "Show steps");
    button.type = "button";
    button.setAttribute("aria-expanded", "false");
    button.setAttribute("aria-label", `Steps of: ${this.data.cards[at].title}`);
    button.addEventListener("click", () => {
      const isOpen = box.classList.toggle("opened");
      button.textContent = isOpen ? "Hide steps" : "Show steps";
      button.setAttribute("aria-expanded", String(isOpen));
      box.querySelector(".sample-steps")?.remove();
      if (isOpen) box.append(this.steps(at));
    });
    return button;
  }

  steps(at) {
    const part = element("div", "sample-steps");
    const line = element("ol", "sample-line");
    this.data.cards[at].tokens.forEach(([token, probability], step) => {
      const item = element("li");
      const { fill, ink } = colourAt(this.data.scale, probability);
      item.style.background = fill;
      item.style.color = ink;
      item.dataset.card = at;
      item.dataset.step = step;
      item.append(tokenElement(token), element("small", "", percent(probability)));
      line.append(item);
    });
    part.append(probabilityLegend(this.data.scale.stops), line);
    return part;
  }

  point(event) {
    const item = event.target.closest("li[data-step]");
    if (!item) {
      this.tooltip.hide();
      return;
    }
    const step = Number(item.dataset.step);
    const [token, probability, filtered] = this.data.cards[item.dataset.card].tokens[step];
    const name = element("div", "tooltip-pair");
    name.append(tokenElement(token));
    const lines = [`${percent(probability)} under the model`, ...(filtered === null ? [] : [`${percent(filtered)} as it was drawn`])];
    const title = element("div", "tooltip-title", `Step ${step + 1}`);
    this.tooltip.showContent(event, title, name, ...lines.map((one) => element("div", "tooltip-value", one)));
  }
}

const sampleCards = new WeakMap();

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".sample-cards");
  if (!root || !(data instanceof Uint8Array)) return undefined;
  const cards = sampleCards.get(root) ?? new SampleCards(root);
  sampleCards.set(root, cards);
  cards.show(unpack(data));
  return () => sampleCards.delete(root);
}
