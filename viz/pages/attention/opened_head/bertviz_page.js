// What bertviz's page gets beside bertviz: the keyboard, and the button that saves the picture.
import { headLabel } from "../../../pictures/shared/head_label.js";
import { _ } from "../../../pictures/shared/messages.js";
import { chooseHowSaved, saveAs, saveButton } from "../../../pictures/shared/picture_file.js";

/** @import { Format } from "../../../pictures/shared/picture_file.js" */

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

/** @param {Element} drawing */
function equipThumbnails(drawing) {
  const backgrounds = [...drawing.querySelectorAll(".attn_background")];
  const heads = backgrounds.filter((background) => background.id.startsWith("attn_background_0_")).length;
  const thumbnails = backgrounds.map((background) => /** @type {SVGElement} */ (background.parentNode));
  thumbnails.forEach((thumbnail, i) => {
    const ariaLabel = headLabel(Math.floor(i / heads), i % heads);
    Object.assign(thumbnail, { role: "button", ariaLabel });
  });
  const press = (/** @type {Element} */ thumbnail) => fire(/** @type {Element} */ (thumbnail.lastChild), "click");
  rove(thumbnails, heads, press);
  // The head that is open may cover its own picture, a click on which closes it. Its tokens are pointed at, tapped too.
  drawing.addEventListener("click", (event) => {
    const open = drawing.querySelector('.attn_background[stroke-opacity="0.8"]')?.parentElement;
    const target = /** @type {Element} */ (event.target);
    if (open && target.closest(".detail") && !target.closest("g.detail")) press(open);
  });
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
    equipThumbnails(drawing);
  }
}

function reachByKeyboard() {
  const root = /** @type {HTMLElement} */ (document.getElementById("vis"));
  document.getElementById("layer")?.setAttribute("aria-label", _("Layer"));
  // Another layer is another picture.
  new MutationObserver(() => equip(root)).observe(root, { childList: true });
  equip(root);
}

const STYLED = "text, rect";
const PROPERTIES = ["fill", "font-family", "font-size", "font-weight", "text-anchor", "visibility", "opacity"];

/** The drawing with its styles. @param {Element} drawing */
function copied(drawing) {
  const { width, height } = drawing.getBoundingClientRect();
  const copy = /** @type {SVGElement} */ (drawing.cloneNode(true));
  /** @type {NodeListOf<SVGElement>} */ const twins = copy.querySelectorAll(STYLED);
  drawing.querySelectorAll(STYLED).forEach((shape, place) => {
    const style = getComputedStyle(shape);
    for (const property of PROPERTIES) twins[place].style.setProperty(property, style.getPropertyValue(property));
  });
  if (!copy.hasAttribute("viewBox")) copy.setAttribute("viewBox", `0 0 ${width} ${height}`);
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  copy.style.background = getComputedStyle(document.body).backgroundColor;
  return { width, height, text: new XMLSerializer().serializeToString(copy) };
}

/** One button, as at every picture; the page around this one has said in which format. */
function buildSaveButton() {
  const bar = /** @type {HTMLElement} */ (document.getElementById("save"));
  chooseHowSaved(/** @type {Format} */ (bar.dataset.format), "shown");
  const save = (/** @type {Format} */ format) => {
    const { width, height, text } = copied(/** @type {Element} */ (document.querySelector("#vis svg")));
    saveAs(format, text, width, height, String(bar.dataset.name));
  };
  bar.append(saveButton(save));
}

reachByKeyboard();
buildSaveButton();
