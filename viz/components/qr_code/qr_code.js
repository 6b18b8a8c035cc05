// @ts-check
// The address that the browser shows, as a QR code. A visitor of it sees the page as it usually is.
import { svg } from "../shared/drawing.js";
import { mount, View } from "../shared/mount.js";
import { element } from "../shared/picture.js";

/** What only a presentation needs; and the collection, which would make the code of any other page too fine. */
const PRESENTING = ["present", "screen", "pins"];
/** A reader needs so many empty modules around a code. */
const MARGIN = 4;
/** Streamlit changes the address without an event. */
const LOOK_EVERY_MS = 400;
const LOCAL = /^(localhost|127(\.\d+){3}|\[::1\])$/;
const ONLY_HERE = "Opens on this computer only.";
const HOW_TO_OPEN =
  "Headlight listens on 127.0.0.1. For others, start it with --server.address=0.0.0.0 and this machine's name or address " +
  "in server.allowedHosts, and open it by that.";

/** @param {string} address */
export function linkFor(address) {
  const url = new URL(address);
  for (const name of PRESENTING) url.searchParams.delete(name);
  return url.href;
}

/** The dark modules as one path. @param {string[]} modules */
export const pathOf = (modules) =>
  modules
    .flatMap((row, y) =>
      [...row.matchAll(/1+/g)].map(
        (run) => `M${run.index + MARGIN} ${y + MARGIN}h${run[0].length}v1h-${run[0].length}z`,
      ),
    )
    .join("");

class QrCode extends View {
  asked = "";

  start() {
    const timer = setInterval(() => this.look(), LOOK_EVERY_MS);
    this.ended.signal.addEventListener("abort", () => clearInterval(timer));
  }

  look() {
    const address = linkFor(location.href);
    if (address === this.asked || !this.python) return;
    this.asked = address;
    this.python.state("address", address);
  }

  /** @param {{ header: { address: string, modules: string[] } }} payload */
  receive({ header: { address, modules } }) {
    if (!address) return;
    this.asked ||= address;
    const isLocal = LOCAL.test(new URL(address).hostname);
    const said = modules.length ? (isLocal ? ONLY_HERE : "") : "The address is too long for a code.";
    const note = element("span", { className: "code-note", title: isLocal ? HOW_TO_OPEN : "" }, said);
    this.root.replaceChildren(...(said ? [note] : []), ...(modules.length ? [this.code(address, modules)] : []));
    Object.assign(this.root.dataset, { ready: "1", address });
  }

  /** @param {string} address @param {string[]} modules */
  code(address, modules) {
    const side = modules.length + 2 * MARGIN;
    const label = `QR code of this view's address: ${address}`;
    const attributes = {
      viewBox: `0 0 ${side} ${side}`,
      role: "img",
      "aria-label": label,
      "shape-rendering": "crispEdges",
    };
    return svg("svg", attributes, svg("path", { d: pathOf(modules), fill: "#000" }));
  }
}

export default mount(".qr-code", QrCode);
