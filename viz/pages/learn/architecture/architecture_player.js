// @ts-check
// The map of the Transformer with a film over it: the source through the encoder, then token after token through the
// decoder. Boxes light up; beside the map stands what the lit one does.
// Data: the payload of tab.py. Sends back the state `view` and the trigger `box`: { box, layer, row }.
import { ArchitectureMap } from "../../../pictures/architecture_map/architecture_map.js";
import { stagesOf, tokenAway } from "../../../pictures/architecture_map/stages.js";
import { PlayerView } from "../../../pictures/player/player_view.js";
import { Transport } from "../../../pictures/player/transport.js";
import { _, plural } from "../../../pictures/shared/messages.js";
import { mount, onResize } from "../../../pictures/shared/mount.js";
import { clamp, element, Tooltip, tokenElement } from "../../../pictures/shared/picture.js";
import { percent } from "../../../pictures/shared/probability.js";
import { pictureButton } from "../../../pictures/shared/save_picture.js";

/** @import { Architecture } from "../../../pictures/architecture_map/layout.js" */
/** @import { Stage } from "../../../pictures/architecture_map/stages.js" */
/** @import { Command } from "../../../pictures/player/player_view.js" */
/**
 * @typedef {{ step: number }} MapState
 * @typedef {{ token: string, probability: number }} Candidate
 * @typedef {{
 *   architecture: Architecture, source: string[], read: string[], written: Candidate[][], tokens: string[],
 *   texts: Record<string, string>, leads: Record<string, string>, colours: Record<string, string>, name: string,
 *   digest: string, command: Command<MapState>,
 * }} MapHeader `written` are the candidates of each step, `tokens` what was written
 */

const NARROW_BELOW = 600;
/** @type {Record<string, number>} */
const TOKEN_KEYS = { PageUp: -1, PageDown: 1 };

/** @extends {PlayerView<MapState, MapHeader>} */
class ArchitecturePlayer extends PlayerView {
  /** @type {Stage[]} */ stages = [];
  /** @type {ArchitectureMap} */ map;
  /** What stands beside the map. */ panel = element("div", { className: "map-panel", role: "status" });
  holder = element("div");
  tooltip = new Tooltip(this.root);

  start() {
    super.start();
    this.tooltip.box.dataset.notInPicture = "";
    this.root.ariaLabel = _(
      "Film of a translation over the map. Left and right arrow keys step, Page Up and Page Down go back or forward one token, Space plays.",
    );
    onResize(this, () => {
      if (this.header && this.isNarrow !== this.map.isNarrow) {
        this.buildMap();
        this.draw();
      }
    });
  }

  get isNarrow() {
    return this.root.clientWidth < NARROW_BELOW;
  }

  get count() {
    return this.stages.length;
  }

  build() {
    const { architecture, tokens, colours } = this.header;
    this.stages = stagesOf(architecture, tokens.length);
    for (const [name, colour] of Object.entries(colours)) this.root.style.setProperty(`--map-${name}`, colour);
    this.transport = new Transport(this.stages.length, {
      goTo: (step) => this.goTo(step),
      moveBy: (count) => this.goTo(this.state.step + count),
      onPause: () => this.report(),
      nameOf: (step) => this.nameOf(step),
    });
    this.buildMap();
    this.transport.element.append(pictureButton(this.root, () => `${this.header.name}-step${this.state.step}`));
    const board = element("div", "map-board", this.holder, this.panel);
    this.root.replaceChildren(this.transport.element, board, this.tooltip.box);
  }

  buildMap() {
    const { architecture, leads } = this.header;
    this.map = new ArchitectureMap(architecture, this.isNarrow, {
      open: (box) => this.open(box),
      leadsTo: (box) => leads[box] ?? "",
      point: (box, event) => this.tell(box, event),
      leave: () => this.tooltip.hide(),
    });
    this.holder.replaceChildren(this.map.element);
  }

  /** @param {number} step */
  nameOf(step) {
    const { row } = this.stages[clamp(0, step, this.count - 1)];
    const { tokens, architecture } = this.header;
    if (row >= 0) return _("Token {number} of {count}", { number: row + 1, count: tokens.length });
    return architecture.decoder ? _("Reading the source") : _("Reading");
  }

  // ---- what a person does ----

  /** @param {string} box */
  open(box) {
    this.transport.pause();
    this.flush();
    const { layer, row } = this.stages[this.state.step];
    this.python.trigger("box", { box, layer, row });
  }

  /** @param {string} key */
  actOf(key) {
    if (!(key in TOKEN_KEYS)) return undefined;
    return () => this.goTo(tokenAway(this.stages, this.state.step, TOKEN_KEYS[key]));
  }

  /** @param {string} box @param {PointerEvent} event */
  tell(box, event) {
    const { texts, leads } = this.header;
    const kind = box.replace(/_(norm|add)$/, "");
    const own = box.endsWith(".layers")
      ? ""
      : (texts[box] ?? (kind === box ? "" : _("The sum is passed on; a norm keeps its scale bounded (§3.1).")));
    const lines = [own, _("Click to open {page}.", { page: leads[box] })].filter(Boolean);
    const content = lines.map((line) => element("div", {}, line));
    this.tooltip.showContent(event, "", ...content);
  }

  // ---- drawing ----

  draw() {
    const step = clamp(0, this.state.step, this.count - 1);
    this.state.step = step;
    const stage = this.stages[step];
    this.transport.draw(step);
    this.map.light(stage, this.textAt(stage));
    this.panel.replaceChildren(...this.told(stage));
  }

  /** What is written beside the lit box. @param {Stage} stage */
  textAt({ boxes: [box], row }) {
    const { source, read, tokens } = this.header;
    if (row < 0) return source.length === 1 ? source[0] : plural("{count} token", "{count} tokens", source.length);
    return box === "decoder.softmax" ? tokens[row] : read[row];
  }

  /** @param {Stage} stage */
  told(stage) {
    const { architecture, texts, source, read, tokens, written } = this.header;
    const [box] = stage.boxes;
    const shape = architecture[/** @type {"encoder" | "decoder"} */ (box.split(".")[0])];
    const found = this.map.layout.boxes.find(({ id }) => id === box);
    const name = found?.label ?? "";
    const where = { number: stage.layer + 1, layers: shape?.layers, box: name };
    const parts = [
      element("h3", {}, stage.layer >= 0 ? _("Layer {number} of {layers} · {box}", where) : name),
      ...(found?.note ? [element("p", "muted", found.note)] : []),
      element("p", {}, texts[box] ?? ""),
    ];
    if (stage.row < 0) {
      const all = source.flatMap((token) => [tokenElement(token, "chip"), " "]);
      return [
        ...parts,
        element("p", "label", _("Works on all {count} tokens at once:", { count: source.length })),
        element("p", "chips", ...all),
      ];
    }
    const isWritten = box === "decoder.softmax";
    const before = tokens.slice(0, stage.row + (isWritten ? 1 : 0)).flatMap((token, i) => {
      const isNew = isWritten && i === stage.row;
      return [tokenElement(token, isNew ? "chip new" : "chip"), " "];
    });
    const [first, last] = _("Works on the row that reads {token}.").split("{token}");
    parts.push(element("p", "label", first, tokenElement(read[stage.row], "chip now"), last));
    if (isWritten) parts.push(this.candidates(written[stage.row], tokens[stage.row]));
    parts.push(element("p", "label", before.length ? _("Written so far:") : _("Nothing is written yet.")));
    return [...parts, element("p", "chips", ...before)];
  }

  /** @param {Candidate[]} candidates @param {string} token that is written */
  candidates(candidates, token) {
    const rows = candidates.map((candidate) => {
      const style = `width:${100 * candidate.probability}%`;
      const bar = element("span", "share", element("span", { className: "share-bar", style }));
      const name = tokenElement(candidate.token, candidate.token === token ? "token taken" : "token");
      return element("div", "candidate", name, bar, element("span", "number", percent(candidate.probability)));
    });
    return element("div", "map-candidates", ...rows);
  }
}

export default mount(".architecture-player", ArchitecturePlayer);
