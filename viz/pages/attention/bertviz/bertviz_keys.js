// @ts-check
// bertviz knows the mouse and wide screens alone: here what can be clicked can be reached with Tab and the arrow keys and
// pressed with Enter, what can be pointed at can be focused, and the model view shrinks to the room there is.
// These are the elements of bertviz 1.4.1.

import { headLabel } from "../../../pictures/shared/head_label.js";
import { _ } from "../../../pictures/shared/messages.js";

/** @param {Element} target @param {string} type */
const fire = (target, type) => target.dispatchEvent(new MouseEvent(type, { bubbles: true }));

/**
 * One stop for Tab; from there arrow keys move by one shape, or by one row of `columns` shapes.
 * @param {SVGElement[]} shapes @param {number} columns @param {(shape: SVGElement) => void} act
 */
function rove(shapes, columns, act) {
  /** @type {Record<string, number>} */
  const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns };
  shapes.forEach((shape, i) => {
    shape.tabIndex = i === 0 ? 0 : -1;
    shape.addEventListener("focus", () => {
      for (const other of shapes) other.tabIndex = other === shape ? 0 : -1;
    });
    shape.addEventListener("keydown", (event) => {
      const next = shapes[i + steps[event.key]];
      if (event.key === "Enter" || event.key === " ") act(shape);
      else if (next) next.focus();
      else return;
      event.preventDefault();
    });
  });
}

/** @param {SVGElement[]} squares */
function equipHeads(squares) {
  squares.forEach((square, head) =>
    Object.assign(square, { role: "button", ariaLabel: _("Head {number}, on or off", { number: head + 1 }) }),
  );
  rove(squares, squares.length, (square) => fire(square, "click"));
}

/** @param {Element} side */
function equipTokens(side) {
  const tokens = [...side.querySelectorAll("text")].map((text) => /** @type {SVGElement} */ (text.parentNode));
  for (const token of tokens) {
    Object.assign(token, { role: "img", ariaLabel: _("Lines of {token}", { token: token.textContent }) });
    token.addEventListener("focus", () => fire(token, "mouseover"));
    token.addEventListener("blur", () => fire(side, "mouseleave"));
  }
  rove(tokens, 1, (token) => fire(token, "mouseover"));
}

/** @param {Element[]} backgrounds */
function equipThumbnails(backgrounds) {
  const heads = backgrounds.filter((background) => background.id.startsWith("attn_background_0_")).length;
  const thumbnails = backgrounds.map((background) => /** @type {SVGElement} */ (background.parentNode));
  thumbnails.forEach((thumbnail, i) => {
    const ariaLabel = headLabel(Math.floor(i / heads), i % heads);
    Object.assign(thumbnail, { role: "button", ariaLabel });
  });
  rove(thumbnails, heads, (thumbnail) => fire(/** @type {Element} */ (thumbnail.lastChild), "click"));
}

/** @param {Element} root */
function equip(root) {
  const drawing = root.querySelector("svg");
  if (!drawing) return;
  const sides = drawing.querySelectorAll("#left, #right");
  sides.forEach(equipTokens);
  if (sides.length) equipHeads([.../** @type {Element} */ (drawing.lastChild).querySelectorAll("rect")]);
  else {
    drawing.setAttribute("viewBox", `0 0 ${drawing.getAttribute("width")} ${drawing.getAttribute("height")}`);
    equipThumbnails([...drawing.querySelectorAll(".attn_background")]);
  }
}

export function reachByKeyboard() {
  const root = /** @type {HTMLElement} */ (document.getElementById("vis"));
  document.getElementById("layer")?.setAttribute("aria-label", _("Layer"));
  // Another layer is another picture.
  new MutationObserver(() => equip(root)).observe(root, { childList: true });
  equip(root);
}
