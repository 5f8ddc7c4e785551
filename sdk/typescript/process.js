// A command that runs on the server.

import { randomUUID } from "node:crypto";
import { Disconnected, HoldfastError, InputClosed } from "./errors.js";
import { EventOrder } from "./events.js";
import { Signal } from "./signal.js";

/** @typedef {import("./events.js").ProcessEvent} ProcessEvent */
/** @typedef {import("./protocol.js").ProcessStartParams} ProcessStartParams */

/**
 * `env` is added to the environment of the server, of which variables that look like secrets are left out; with `cleanEnv` it is the whole
 * environment. With `stdin` the standard input is a pipe; otherwise it is empty. The other members are those of process/start.
 * @typedef {object} StartOptions
 * @property {string} [cwd] by default the directory of the server
 * @property {Record<string, string>} [env]
 * @property {boolean} [cleanEnv]
 * @property {boolean} [stdin]
 * @property {{ rows: number, cols: number }} [terminal]
 * @property {import("./protocol.js").Sandbox} [sandbox]
 * @property {import("./protocol.js").ExecPolicy} [execPolicy]
 * @property {import("./protocol.js").Limits} [limits]
 * @property {string} [processId]
 */

/**
 * `stdout` has the output of a terminal too. `lost` tells whether the server has dropped output before it could be read.
 * @typedef {object} Completed
 * @property {number} exitCode
 * @property {Buffer} stdout
 * @property {Buffer} stderr
 * @property {boolean} sandboxDenied
 * @property {import("./protocol.js").EndCause | undefined} cause
 * @property {boolean} lost
 */

const longestWrite = 1 << 18;

/**
 * @param {string[]} argv
 * @param {StartOptions} options
 * @param {string} directory
 * @returns {ProcessStartParams}
 */
export function startParams(argv, options, directory) {
  const { cwd = directory, env = {}, cleanEnv = false, stdin = false, terminal, processId = randomUUID(), ...rest } = options;
  return {
    processId,
    argv,
    cwd,
    env,
    tty: terminal !== undefined,
    pipeStdin: stdin,
    envPolicy: cleanEnv ? null : { inherit: "all", ignoreDefaultExcludes: false, exclude: [], set: {}, includeOnly: [] },
    ...(terminal && { io: { pty: terminal } }),
    ...rest,
  };
}

/**
 * Client.start makes one. Its events are read by `for await (const event of process)`, once each and in order, whatever happens to the
 * connection; events that nobody reads are kept in memory.
 */
export class Process {
  /** @type {import("./events.js").Exited | undefined} */
  exited;
  /** Whether the server has the process, as far as the client knows. */
  isCertain = false;
  #client;
  #order = new EventOrder();
  /** @type {ProcessEvent[]} */
  #events = [];
  /** @type {Error | undefined} */
  #failure;
  #closed = false;
  #changed = new Signal();
  #writing = Promise.resolve();
  #writes = 0;
  #writePrefix = randomUUID();

  /**
   * @param {import("./client.js").Client} client
   * @param {string} processId
   */
  constructor(client, processId) {
    this.#client = client;
    this.processId = processId;
  }

  /** @returns {AsyncGenerator<ProcessEvent, void, void>} */
  async *[Symbol.asyncIterator]() {
    while (true) {
      for (let event; (event = this.#events.shift()); ) yield event;
      if (this.#closed) return;
      if (this.#failure) throw this.#failure;
      await this.#changed.next();
    }
  }

  /** Waits until the command has exited. Its events can be read all the same. */
  async wait() {
    while (!this.exited) {
      if (this.#failure) throw this.#failure;
      await this.#changed.next();
    }
    return this.exited;
  }

  /**
   * Writes the input, closes it, and collects the output until the end.
   * @param {string | Uint8Array} [input]
   * @returns {Promise<Completed>}
   */
  async communicate(input) {
    const feeding = input === undefined ? undefined : this.#feed(input);
    /** @type {Record<string, Uint8Array[]>} */
    const output = { stdout: [], stderr: [] };
    let lost = false;
    for await (const event of this) {
      if (event.type === "output") output[event.stream === "stderr" ? "stderr" : "stdout"]?.push(event.data);
      if (event.type === "lost") lost = true;
    }
    await feeding;
    if (!this.exited) throw new HoldfastError(`${this.processId} has ended without an exit`);
    const { exitCode, sandboxDenied, cause } = this.exited;
    return { exitCode, stdout: Buffer.concat(output.stdout ?? []), stderr: Buffer.concat(output.stderr ?? []), sandboxDenied, cause, lost };
  }

  /** @param {string | Uint8Array} input */
  async #feed(input) {
    try {
      await this.write(input);
      await this.closeStdin();
    } catch (problem) {
      // A command need not read all of its input, and may have ended before.
      if (!(problem instanceof InputClosed) && !this.#closed) this.fail(/** @type {Error} */ (problem));
    }
  }

  /**
   * Writes to the command's standard input, each byte once and in order. Throws InputClosed if the input is closed.
   * @param {string | Uint8Array} data
   */
  write(data) {
    const bytes = Buffer.from(data);
    return this.#afterWrites(async () => {
      for (let begin = 0; begin < bytes.length; begin += longestWrite) await this.#write(bytes.subarray(begin, begin + longestWrite));
    });
  }

  /** Closes the standard input behind what was written. A terminal gets its end-of-file character. */
  closeStdin() {
    return this.#afterWrites(async () => void (await this.#client.call("process/closeStdin", { processId: this.processId })));
  }

  /**
   * @param {() => Promise<void>} work
   * @returns {Promise<void>}
   */
  #afterWrites(work) {
    const done = this.#writing.then(work);
    this.#writing = done.catch(() => {});
    return done;
  }

  /** @param {Buffer} bytes */
  async #write(bytes) {
    const params = { processId: this.processId, chunk: bytes.toString("base64"), writeId: `${this.#writePrefix}-${++this.#writes}` };
    for (let lost = 0; ; ) {
      const connection = await this.#client.connected(lost);
      lost = connection.number;
      try {
        const { status } = await connection.request("process/write", params);
        if (status === "accepted") return;
        throw new InputClosed(`${this.processId}: ${status}`);
      } catch (problem) {
        if (!(problem instanceof Disconnected)) throw problem; // the server knows the writeId, and writes the bytes once
      }
    }
  }

  /**
   * @param {number} rows
   * @param {number} cols
   */
  async resize(rows, cols) {
    await this.#client.call("process/resize", { processId: this.processId, rows, cols });
  }

  /**
   * Sends a signal, such as "SIGTERM", to the command's process group.
   * @param {string} signal
   */
  async signal(signal) {
    await this.#client.call("process/signal", { processId: this.processId, signal });
  }

  /**
   * Ends the command and every descendant: at once, or by SIGTERM and after that time.
   * @param {number} [graceMs]
   */
  async terminate(graceMs) {
    const mode = graceMs === undefined ? null : { graceful: { timeoutMs: graceMs } };
    await this.#client.call("process/terminate", { processId: this.processId, mode }, { timeoutMs: 30_000 + (graceMs ?? 0) });
  }

  /**
   * Takes in a notification. For the client.
   * @param {string} method
   * @param {any} params
   */
  take(method, params) {
    const { seq, fromSeq, toSeq } = params;
    if (method === "process/output") this.#order.take({ type: "output", seq, stream: params.stream, data: Buffer.from(params.chunk, "base64") });
    if (method === "process/exited") {
      const { exitCode, sandboxDenied = false, end } = params;
      this.#order.take({ type: "exited", seq, exitCode, sandboxDenied, cause: end?.cause });
    }
    if (method === "process/closed") this.#order.take({ type: "closed", seq });
    if (method === "process/outputLost") this.#order.take({ type: "lost", seq: fromSeq, toSeq });
    this.#publish();
  }

  /**
   * Reads what the server has sent while there was no connection. For the client.
   * @param {import("./connection.js").Connection} connection
   */
  async catchUp(connection) {
    const params = { processId: this.processId, afterSeq: this.#order.published, waitMs: 0 };
    this.#order.settle(await connection.request("process/read", params));
    this.#publish();
  }

  /**
   * For the client.
   * @param {Error} reason
   */
  fail(reason) {
    if (!this.#closed) this.#failure ??= reason;
    this.#changed.notify();
  }

  #publish() {
    for (const event of this.#order.ready()) {
      this.#events.push(event);
      if (event.type === "exited") this.exited = event;
      if (event.type === "closed") {
        this.#closed = true;
        this.#client.forget(this);
      }
    }
    this.#changed.notify();
  }
}
