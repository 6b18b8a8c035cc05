// Take the cover from a page once it is whole and nothing in it moves any more, or once it says what it waits for.
import { keep, kept, THEME } from "../../pictures/shared/kept.js";

/** Milliseconds: between two looks; without a change, until a page is whole. */
const EACH = 16;
const CALM = 120;
/** Milliseconds at most: of a page that says itself that it waits; of one that has something, and does not go on; of all. */
const WAITS = 1200;
const HALTS = 3000;
const MOST = 15_000;

/** What a page shows while a part of it is still to come. */
const UNFINISHED = '[data-testid="stSkeleton"], .stSpinner, .stProgress, .stPlotlyChart:not(:has(.main-svg))';
/** What shows a picture: empty until its script is there. */
const PICTURES = '[data-testid="stBidiComponentIsolated"]';
/** Where it says something that cannot wait. */
const TELLS = '[role="dialog"], [data-testid="stAlert"], [data-testid="stException"]';

const cover = /** @type {HTMLElement} */ (document.getElementById("cover"));
const began = performance.now();
let before = "";
let since = began;
let waitsSince = 0;

/** The theme that a person has chosen in the settings, given to Streamlit, which keeps one for each address; or that one. */
const chosenTheme = () => {
  const key = `stActiveTheme-${location.pathname}-v2`;
  const theme = kept(THEME) ?? kept(key)?.replaceAll('"', "");
  if (!theme) return "";
  keep(key, JSON.stringify(theme));
  keep(THEME, theme);
  return theme.toLowerCase();
};

/** Where everything of a page lies, as one text; "" while it has nothing. */
const places = () => {
  const parts = document.querySelectorAll('[data-testid="stElementContainer"], [data-testid="stHeader"]');
  return parts.length > 1
    ? Array.from(parts, (part) => {
        const { x, y, width, height } = part.getBoundingClientRect();
        return `${Math.round(x)},${Math.round(y)},${Math.round(width)},${Math.round(height)}`;
      }).join(" ")
    : "";
};

/** Whether a script still has to draw, or Python to answer. @param {Element | null} main */
const isUnfinished = (main) =>
  !document.querySelector('[data-test-script-state="notRunning"]') ||
  main?.querySelector(UNFINISHED) ||
  document.fonts.status !== "loaded" ||
  Array.from(document.querySelectorAll(PICTURES)).some((part) => !part.shadowRoot?.querySelector(":not(style)"));

const look = () => {
  const now = performance.now();
  const found = places();
  if (found !== before) {
    before = found;
    since = now;
  }
  const main = document.querySelector('[data-testid="stMain"]');
  const isWaiting = Boolean(main?.querySelector(".stSpinner, .stProgress"));
  waitsSince = isWaiting ? waitsSince || now : 0;
  const isWhole = found && now - since > CALM && (!isUnfinished(main) || document.querySelector(TELLS));
  const isLate = (waitsSince && now - waitsSince > WAITS) || (found && now - since > HALTS);
  if (isWhole || isLate || now - began > MOST) {
    cover.remove();
    document.dispatchEvent(new Event("headlight-uncovered"));
    performance.mark("headlight-whole", { detail: Boolean(isWhole) });
  } else setTimeout(look, EACH);
};

cover.className = `${chosenTheme()} ${location.pathname.endsWith("/") ? "tiled" : ""}`;
look();
