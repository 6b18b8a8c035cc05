// Buttons that save what bertviz has drawn, as SVG or as PNG. bertviz's shapes carry their own colours, but what the
// page's style sheet gives to text and backgrounds has to be written into the copy. Knows nothing of what is drawn.
(() => {
  const STYLED = "text, rect";
  const PROPERTIES = ["fill", "font-family", "font-size", "font-weight", "text-anchor", "visibility", "opacity"];
  const SCALE = 2;
  const bar = document.getElementById("save");

  function copied() {
    const svg = document.querySelector("#vis svg");
    const { width, height } = svg.getBoundingClientRect();
    const copy = svg.cloneNode(true);
    const twins = copy.querySelectorAll(STYLED);
    svg.querySelectorAll(STYLED).forEach((shape, place) => {
      const style = getComputedStyle(shape);
      for (const property of PROPERTIES) twins[place].style.setProperty(property, style.getPropertyValue(property));
    });
    if (!copy.hasAttribute("viewBox")) copy.setAttribute("viewBox", `0 0 ${width} ${height}`);
    copy.setAttribute("width", width);
    copy.setAttribute("height", height);
    copy.style.background = getComputedStyle(document.body).backgroundColor;
    return { width, height, text: new XMLSerializer().serializeToString(copy) };
  }

  function save(blob, format) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = `${bar.dataset.name}.${format}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  function saveShapes() {
    save(new Blob([copied().text], { type: "image/svg+xml" }), "svg");
  }

  async function savePixels() {
    const { width, height, text } = copied();
    const picture = new Image();
    picture.src = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
    await picture.decode();
    const canvas = document.createElement("canvas");
    canvas.width = width * SCALE;
    canvas.height = height * SCALE;
    canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(picture.src);
    canvas.toBlob((blob) => save(blob, "png"));
  }

  for (const [label, act] of [["PNG", savePixels], ["SVG", saveShapes]]) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = label;
    button.title = `Save the picture as ${label}`;
    button.addEventListener("click", act);
    bar.append(button);
  }
})();
