// What happens to a process, and the order in which it happened.

/** @typedef {import("./protocol.js").Stream} Stream */
/** @typedef {import("./protocol.js").EndCause} EndCause */

/** @typedef {{ type: "output", seq: number, stream: Stream, data: Uint8Array }} Output */
/**
 * The command has exited; output may follow. `exitCode` is 128 + N after signal N, and `cause` says why the server has ended the command.
 * @typedef {{ type: "exited", seq: number, exitCode: number, sandboxDenied: boolean, cause: EndCause | undefined }} Exited
 */
/**
 * The server has dropped the events with these numbers before they could be read.
 * @typedef {{ type: "lost", seq: number, toSeq: number }} Lost
 */
/**
 * The last event: the command has exited, and every stream has ended.
 * @typedef {{ type: "closed", seq: number }} Closed
 */
/** @typedef {Output | Exited | Lost | Closed} ProcessEvent */

/** @param {ProcessEvent} event */
const lastSeq = (event) => (event.type === "lost" ? event.toSeq : event.seq);

/**
 * Puts the events of a process into the order of their numbers. It drops what was published before, and holds what comes early: after a
 * reconnect the server sends what happens then, while the client still reads what it has missed.
 */
export class EventOrder {
  published = 0;
  /** @type {Map<number, ProcessEvent>} */
  #held = new Map();
  #exitKnown = false;

  /** @param {ProcessEvent} event */
  take(event) {
    if (event.seq <= this.published || this.#held.has(event.seq)) return;
    this.#held.set(event.seq, event);
    if (event.type === "exited") this.#exitKnown = true;
  }

  /**
   * Takes in an answer of process/read without maxBytes. Then every number before its nextSeq has an event.
   *
   * The server drops its oldest output first. So behind the oldest chunk at most one number is missing, that of the exit; if none is, the
   * exit was among what was dropped, and counts as the last of it.
   * @param {import("./protocol.js").ProcessReadResult} read
   */
  settle(read) {
    for (const chunk of read.chunks) this.take({ type: "output", seq: chunk.seq, stream: chunk.stream, data: Buffer.from(chunk.chunk, "base64") });
    if (read.closed) this.take({ type: "closed", seq: read.nextSeq - 1 });
    const gaps = this.#gaps(read.nextSeq);
    const last = gaps.at(-1);
    if (last && read.exited && !this.#exitKnown) {
      const exitCode = read.exitCode ?? 0;
      this.take({ type: "exited", seq: last.toSeq, exitCode, sandboxDenied: read.sandboxDenied ?? false, cause: read.end?.cause });
      last.toSeq -= 1;
    }
    for (const gap of gaps) if (gap.seq <= gap.toSeq) this.take({ type: "lost", ...gap });
  }

  /** @param {number} end */
  #gaps(end) {
    const gaps = [];
    let expected = this.published + 1;
    for (const seq of [...this.#held.keys()].sort((a, b) => a - b)) {
      if (expected < Math.min(seq, end)) gaps.push({ seq: expected, toSeq: Math.min(seq, end) - 1 });
      expected = lastSeq(/** @type {ProcessEvent} */ (this.#held.get(seq))) + 1;
    }
    if (expected < end) gaps.push({ seq: expected, toSeq: end - 1 });
    return gaps;
  }

  /**
   * Publishes the events whose turn it is.
   * @returns {Generator<ProcessEvent>}
   */
  *ready() {
    for (let event; (event = this.#held.get(this.published + 1)); ) {
      this.#held.delete(this.published + 1);
      this.published = lastSeq(event);
      yield event;
    }
  }
}
