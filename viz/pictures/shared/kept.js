// What a browser keeps for its person, where it lets a page keep anything: storage can be blocked, or full.

/** The theme that was chosen, for all pages. */
export const THEME = "headlight-theme";

/** @param {string} key @returns {string | null} */
export function kept(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** @param {string} key @param {string} value */
export function keep(key, value) {
  try {
    localStorage.setItem(key, value);
  } catch {
    // Then it counts until the page is loaded again.
  }
}
