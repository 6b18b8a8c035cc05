// Another page is one step in the browser's history. Streamlit 1.67 makes two: the page's address without parameters,
// and the same with those that the page's run writes at its end. A step back would first lead to the bare address.

/** Where Streamlit says whether a run is under way. */
export const APP = '[data-testid="stApp"]';

/** The page whose run may still write its address; "" once it has and a person presses something there. */
let opening = "";
let isWritten = false;
let isJoining = false;

/** From now on what a page that was just opened writes into its address takes the place of the bare one. */
export function joinSteps() {
  if (isJoining) return;
  isJoining = true;
  const push = history.pushState.bind(history);
  history.pushState = (state, unused, address) => {
    const { pathname } = new URL(address ?? "", location.href);
    const isSame = pathname === location.pathname;
    if (isSame && opening === pathname) {
      isWritten = true;
      history.replaceState(state, unused, address);
      return;
    }
    push(state, unused, address);
    if (!isSame) [opening, isWritten] = [pathname, false];
  };
  for (const kind of ["pointerdown", "keydown"]) document.addEventListener(kind, hearPress, { capture: true });
  window.addEventListener("popstate", () => (opening = ""));
}

function hearPress() {
  const isRunning = document.querySelector(APP)?.getAttribute("data-test-script-state") !== "notRunning";
  if (isWritten || !isRunning) opening = "";
}
