// Of answers that cross what a person does meanwhile, only the one that is waited for is shown.
// Knows nothing of what is shown.

/** If the awaited answer never comes, the last one held back is better than a picture that Python knows nothing of. */
const PATIENCE = 2000;

class Awaited {
  /** A person has done something that was drawn at once; Python's answer to it will be called `name`. */
  expect(name) {
    this.name = name;
    this.held = null;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.name = null;
      this.held?.();
    }, PATIENCE);
  }

  /** An answer of this name has come: `show` is called, unless it answers something older. */
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
