/** Something that changes, and on which any number of functions wait. */
export class Signal {
  /** @type {(() => void)[]} */
  #waiting = [];

  /** @returns {Promise<void>} */
  next() {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  notify() {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
