// On a projector the letters of texts and tables become as large as their screen has room for (`present.css`).

import { isPresented } from "../shared/picture.js";

/** In hundredths of those of a page that is laid out for a projector; and by how much they are made smaller until they fit. */
const [LARGEST, STEP] = [200, 5];

/** Whether all is in sight. @param {Element} page */
const fits = (page) =>
  page.scrollHeight <= page.clientHeight &&
  [...page.querySelectorAll("table")].every((table) => table.offsetWidth <= (table.parentElement?.clientWidth ?? 0));

/** Fit them whenever the screen, or what it shows, has another size. @param {AbortSignal} ended */
export function fitLetters(ended) {
  const page = /** @type {HTMLElement | null} */ (document.querySelector("[data-testid=stMain]"));
  const contents = page?.querySelector("[data-testid=stMainBlockContainer] > *");
  if (!page || !contents) return;
  const size = () => [page.clientWidth, page.clientHeight, contents.clientHeight].join(" ");
  let fitted = "";
  const watch = new ResizeObserver(() => {
    if (!isPresented(page) || size() === fitted) return;
    for (let letters = LARGEST; letters >= 100; letters -= STEP) {
      page.style.setProperty("--letters", String(letters / 100));
      if (fits(page)) break;
    }
    fitted = size();
  });
  for (const each of [page, contents]) watch.observe(each);
  ended.addEventListener("abort", () => watch.disconnect());
}
