// Of answers that cross what a person does meanwhile, only the one that is waited for is shown.

/** If the awaited answer never comes, the last one held back is better than a picture that Python knows nothing of. */
const PATIENCE = 2000;

export class Awaited {
  /** @type {string | null} */
  name = null;
  /** @type {(() => void) | null} */
  held = null;

  /** A person has done something that was drawn at once; Python's answer to it will be called `name`. @param {string} name */
  expect(name) {
    this.name = name;
    this.held = null;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.name = null;
      this.held?.();
    }, PATIENCE);
  }

  /** Calls `show`, unless this answer is to something older. @param {string} name @param {() => void} show */
  take(name, show) {
    if (this.name && this.name !== name) this.held = show;
    else {
      this.forget();
      show();
    }
  }

  forget() {
    this.name = this.held = null;
    clearTimeout(this.timer);
  }
}
