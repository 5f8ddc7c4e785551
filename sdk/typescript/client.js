// A client of holdfast. It keeps one session, over as many connections as it takes: when a connection breaks, the client makes another
// one, resumes the session and reads what it has missed.

import { Connection } from "./connection.js";
import { Disconnected, HoldfastError, RpcError, TimedOut } from "./errors.js";
import { Files } from "./files.js";
import { Process, startParams } from "./process.js";
import { ErrorCode, observerMethods } from "./protocol.js";
import { Signal } from "./signal.js";
import { dialCommand, dialUrl } from "./transport.js";

/** @typedef {import("./protocol.js").Methods} Methods */
/** @typedef {import("./process.js").StartOptions} StartOptions */

/**
 * A client has one of `url`, `command` and `dial`. `command` is a program that speaks the protocol on its standard streams; its processes
 * end with it. `dial` is a way to the server of your own. `token` is the bearer token, if the server asks for one. `approver` answers the
 * server's questions about supervised programs; without it they are denied.
 * @typedef {object} ConnectOptions
 * @property {string} [url] ws://, wss://, unix:///path or the https:// URL of an executor
 * @property {string[]} [command]
 * @property {import("./transport.js").Dial} [dial]
 * @property {string} [token]
 * @property {import("./transport.js").WebSocketClass} [WebSocket] instead of that of the platform
 * @property {string} [name]
 * @property {number} [recoverForMs] how long the client tries to reach the server again; 25 s
 * @property {number} [callTimeoutMs] 30 s
 * @property {(question: import("./protocol.js").ExecApproveParams) => Promise<import("./protocol.js").ExecApproveResult>} [approver]
 */

// A second execution of these changes nothing, so they are sent again when the connection was lost before the answer.
const repeatable = new Set([...observerMethods, "process/closeStdin", "process/resize", "process/terminate"]);
repeatable.delete("initialize");
repeatable.delete("session/takeOver");

const pauseMs = 100; // between the starts of two attempts to connect
const rememberedMs = 10_000; // a server remembers a process for longer than this after its end

/** @param {number} ms */
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * @template T
 * @param {Promise<T>} work
 * @param {number | undefined} ms
 * @returns {Promise<T>}
 */
async function within(work, ms) {
  if (ms === undefined) return await work;
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new TimedOut(`no answer within ${ms} ms`)), ms);
  });
  work.catch(() => {}); // its failure after the time limit is of no interest
  try {
    return /** @type {T} */ (await Promise.race([work, late]));
  } finally {
    clearTimeout(timer);
  }
}

export class Client {
  /** @type {string | undefined} */
  sessionId;
  /** @type {import("./protocol.js").EnvironmentInfo} */
  // @ts-expect-error: connect sets it before anybody has the client
  environment;
  files = new Files(this);
  #options;
  #dial;
  /** @type {Connection | undefined} */
  #connection;
  #connections = 0;
  /** @type {Error | undefined} */
  #ended;
  #changed = new Signal();
  /** @type {Map<string, Process>} */
  #processes = new Map();

  /**
   * @param {ConnectOptions} options
   * @returns {Promise<Client>}
   */
  static async connect(options) {
    const client = new Client(options);
    client.#setUp(await client.#open());
    return client;
  }

  /**
   * @param {ConnectOptions} options
   * @private
   */
  constructor(options) {
    this.#options = { name: "holdfast-typescript", recoverForMs: 25_000, callTimeoutMs: 30_000, ...options };
    if (options.dial) this.#dial = options.dial;
    else if (options.command) this.#dial = dialCommand(options.command);
    else if (options.url) this.#dial = dialUrl(options.url, options);
    else throw new TypeError("give a url, a command or a dial");
  }

  /** Ends the connection. The server ends the processes of the session when the session has had no connection for a while. */
  close() {
    const connection = this.#connection;
    this.#end(new Disconnected("the client was closed"));
    connection?.close();
  }

  async [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]() {
    this.close();
  }

  /**
   * Calls any method. A method that only looks is called again after a lost connection; others throw Disconnected.
   * @template {keyof Methods} Name
   * @param {Name} method
   * @param {Methods[Name]["params"]} [params]
   * @param {{ timeoutMs?: number }} [options]
   * @returns {Promise<Methods[Name]["result"]>}
   */
  call(method, params, { timeoutMs = this.#options.callTimeoutMs } = {}) {
    return within(this.#call(method, params), timeoutMs);
  }

  /**
   * @param {string} method
   * @param {any} params
   */
  async #call(method, params) {
    for (let lost = 0; ; ) {
      const connection = await this.connected(lost);
      lost = connection.number;
      try {
        return await connection.request(method, params);
      } catch (problem) {
        if (!(problem instanceof Disconnected) || !repeatable.has(method)) throw problem;
      }
    }
  }

  /**
   * Runs a command to its end, and returns its output and its exit code.
   * @param {string[]} argv
   * @param {Omit<StartOptions, "stdin"> & { input?: string | Uint8Array }} [options]
   */
  async run(argv, { input, ...options } = {}) {
    const process = await this.start(argv, { ...options, stdin: input !== undefined });
    return await process.communicate(input);
  }

  /**
   * @param {string[]} argv
   * @param {StartOptions} [options]
   * @returns {Promise<Process>}
   */
  async start(argv, options = {}) {
    const params = startParams(argv, options, this.environment.cwd);
    const process = new Process(this, params.processId);
    this.#processes.set(process.processId, process);
    const attempt = { sentAt: 0, over: false };
    try {
      // A question about the command itself may take any time.
      await within(this.#start(process, params, attempt), params.execPolicy ? undefined : this.#options.callTimeoutMs);
    } catch (problem) {
      attempt.over = true;
      this.forget(process);
      // It may run, and nobody has its handle.
      if (attempt.sentAt && !(problem instanceof RpcError)) this.call("process/terminate", { processId: process.processId }).catch(() => {});
      throw problem;
    }
    process.isCertain = true;
    return process;
  }

  /**
   * @param {Process} process
   * @param {import("./protocol.js").ProcessStartParams} params
   * @param {{ sentAt: number, over: boolean }} attempt
   */
  async #start(process, params, attempt) {
    for (let lost = 0; ; ) {
      const connection = await this.connected(lost);
      lost = connection.number;
      try {
        if (attempt.sentAt && (await this.#hasStarted(process, connection, attempt.sentAt))) return;
        if (attempt.over) return;
        attempt.sentAt ||= Date.now();
        return await connection.request("process/start", params);
      } catch (problem) {
        if (!(problem instanceof Disconnected)) throw problem; // the server may have started it; the next connection tells
      }
    }
  }

  /**
   * Asks for a process whose start was sent over a connection that broke.
   * @param {Process} process
   * @param {Connection} connection
   * @param {number} sentAt
   */
  async #hasStarted(process, connection, sentAt) {
    try {
      await process.catchUp(connection);
      return true;
    } catch (problem) {
      if (!(problem instanceof RpcError) || problem.code !== ErrorCode.InvalidRequest) throw problem;
    }
    if (Date.now() - sentAt > rememberedMs) throw new HoldfastError(`the connection was lost while ${process.processId} was started`);
    return false;
  }

  /**
   * Waits for a connection with a higher number than the one that was lost. For processes.
   * @param {number} lost
   */
  async connected(lost) {
    while (!this.#ended) {
      if (this.#connection && this.#connection.number > lost && !this.#connection.ended) return this.#connection;
      await this.#changed.next();
    }
    throw this.#ended;
  }

  /**
   * For processes.
   * @param {Process} process
   */
  forget(process) {
    this.#processes.delete(process.processId);
  }

  /** Dials, and opens the session or resumes it. */
  async #open() {
    const connection = await Connection.open(this.#dial, ++this.#connections, {
      onNotification: (method, params) => this.#onNotification(method, params),
      onQuestion: (method, params) => this.#onQuestion(method, params),
      onEnd: (ended) => this.#onEnd(ended),
    });
    try {
      await within(this.#greet(connection), this.#options.callTimeoutMs);
      return connection;
    } catch (problem) {
      connection.close();
      throw problem;
    }
  }

  /** @param {Connection} connection */
  async #greet(connection) {
    const answer = await connection.request("initialize", { clientName: this.#options.name, resumeSessionId: this.sessionId ?? null });
    connection.notify("initialized");
    this.sessionId ??= answer.sessionId;
    this.environment ??= answer.environmentInfo;
    for (const process of [...this.#processes.values()].filter(({ isCertain }) => isCertain)) {
      try {
        await process.catchUp(connection);
      } catch (problem) {
        if (!(problem instanceof RpcError)) throw problem;
        process.fail(problem);
        this.forget(process);
      }
    }
  }

  /** @param {Connection} connection */
  #setUp(connection) {
    if (this.#ended) return connection.close();
    this.#connection = connection;
    if (connection.ended) this.#onEnd(connection);
    this.#changed.notify();
  }

  async #recover() {
    const giveUp = Date.now() + this.#options.recoverForMs;
    let reason = "the connection has ended";
    for (let begun; (begun = Date.now()) < giveUp && !this.#ended; ) {
      try {
        return this.#setUp(await this.#open());
      } catch (problem) {
        reason = String(problem);
        // The server believes for a moment that the connection which broke still lives. Any other refusal is final.
        if (problem instanceof RpcError && problem.code !== ErrorCode.SessionAttached) break;
      }
      await sleep(Math.max(0, begun + pauseMs - Date.now()));
    }
    this.#end(new Disconnected(`the session is lost: ${reason}`));
  }

  /** @param {Error} reason */
  #end(reason) {
    const ended = (this.#ended ??= reason);
    this.#connection = undefined;
    for (const process of this.#processes.values()) process.fail(ended);
    this.#processes.clear();
    this.#changed.notify();
  }

  /** @param {Connection} connection */
  #onEnd(connection) {
    if (connection !== this.#connection) return;
    this.#connection = undefined;
    void this.#recover();
  }

  /**
   * @param {string} method
   * @param {any} params
   */
  #onNotification(method, params) {
    if (method === "session/ended") this.#end(new Disconnected("the session was ended"));
    else if (method.startsWith("process/")) this.#processes.get(params.processId)?.take(method, params);
  }

  /**
   * @param {string} method
   * @param {any} params
   */
  #onQuestion(method, params) {
    if (method !== "exec/approve") return undefined;
    return this.#options.approver?.(params) ?? Promise.resolve({ decision: "deny", reason: "the client does not ask its user" });
  }
}
