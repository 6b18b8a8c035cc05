// bertviz knows the mouse and wide screens alone: here what can be clicked can be reached with Tab and the arrow keys and
// pressed with Enter, what can be pointed at can be focused, and the model view shrinks to the room there is.
// Knows bertviz 1.4.1's elements, nothing of what they show.
(() => {
  const root = document.getElementById("vis");
  document.getElementById("layer")?.setAttribute("aria-label", "Layer");

  const fire = (target, type) => target.dispatchEvent(new MouseEvent(type, { bubbles: true }));

  /** One stop for Tab; from there arrow keys move by one shape, or by one row of `columns` shapes. */
  function rove(shapes, columns, act) {
    const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns };
    shapes.forEach((shape, place) => {
      shape.setAttribute("tabindex", place === 0 ? "0" : "-1");
      shape.addEventListener("focus", () => {
        shapes.forEach((other) => other.setAttribute("tabindex", other === shape ? "0" : "-1"));
      });
      shape.addEventListener("keydown", (event) => {
        const next = shapes[place + steps[event.key]];
        if (event.key === "Enter" || event.key === " ") act(shape);
        else if (next) next.focus();
        else return;
        event.preventDefault();
      });
    });
  }

  function name(shape, role, label) {
    shape.setAttribute("role", role);
    shape.setAttribute("aria-label", label);
  }

  function equipHeads(squares) {
    squares.forEach((square, head) => name(square, "button", `Head ${head + 1}, on or off`));
    rove(squares, squares.length, (square) => fire(square, "click"));
  }

  function equipTokens(side) {
    const tokens = [...side.querySelectorAll("text")].map((text) => text.parentNode);
    for (const token of tokens) {
      name(token, "img", `Lines of ${token.textContent}`);
      token.addEventListener("focus", () => fire(token, "mouseover"));
      token.addEventListener("blur", () => fire(side, "mouseleave"));
    }
    rove(tokens, 1, (token) => fire(token, "mouseover"));
  }

  function equipThumbnails(backgrounds) {
    const heads = backgrounds.filter((background) => background.id.startsWith("attn_background_0_")).length;
    const thumbnails = backgrounds.map((background) => background.parentNode);
    thumbnails.forEach((thumbnail, place) => {
      name(thumbnail, "button", `Layer ${Math.floor(place / heads) + 1}, head ${(place % heads) + 1}`);
    });
    rove(thumbnails, heads, (thumbnail) => fire(thumbnail.lastChild, "click"));
  }

  function equip() {
    const svg = root.querySelector("svg");
    const sides = svg.querySelectorAll("#left, #right");
    sides.forEach(equipTokens);
    if (sides.length) equipHeads([...svg.lastChild.querySelectorAll("rect")]);
    else {
      svg.setAttribute("viewBox", `0 0 ${svg.getAttribute("width")} ${svg.getAttribute("height")}`);
      equipThumbnails([...svg.querySelectorAll(".attn_background")]);
    }
  }

  // Another layer is another picture.
  new MutationObserver(equip).observe(root, { childList: true });
  equip();
})();
