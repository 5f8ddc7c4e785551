// One connection to a server: requests and their answers, notifications, and the questions of the server.

import { Disconnected, HoldfastError, RpcError } from "./errors.js";
import { ErrorCode } from "./protocol.js";

let lastId = 0;

/**
 * @typedef {object} Owner
 * @property {(method: string, params: any) => void} onNotification
 * @property {(method: string, params: any) => Promise<any> | undefined} onQuestion undefined for a method that the client does not have
 * @property {(connection: Connection) => void} onEnd
 */

export class Connection {
  ended = false;
  /** @type {import("./transport.js").Transport} */
  #transport;
  #owner;
  /** @type {Map<number, { resolve: (result: any) => void, reject: (error: Error) => void }>} */
  #pending = new Map();

  /**
   * `number` tells the connections of a session apart; each has a higher one than those before it.
   * @param {import("./transport.js").Dial} dial
   * @param {number} number
   * @param {Owner} owner
   */
  static async open(dial, number, owner) {
    const connection = new Connection(number, owner);
    connection.#transport = await dial({ onMessage: (message) => connection.#take(message), onEnd: () => connection.#finish() });
    return connection;
  }

  /**
   * @param {number} number
   * @param {Owner} owner
   * @private
   */
  constructor(number, owner) {
    this.number = number;
    this.#owner = owner;
    this.#transport = { send() {}, close() {} };
  }

  /**
   * @param {string} method
   * @param {any} params
   * @returns {Promise<any>}
   */
  request(method, params) {
    return new Promise((resolve, reject) => {
      if (this.ended) return reject(new Disconnected("the connection has ended"));
      const id = ++lastId;
      this.#pending.set(id, { resolve, reject });
      this.#send({ id, method, params: params ?? {} });
    });
  }

  /** @param {string} method */
  notify(method) {
    this.#send({ method });
  }

  close() {
    this.#finish();
    this.#transport.close();
  }

  /** @param {object} message */
  #send(message) {
    try {
      if (!this.ended) this.#transport.send(JSON.stringify(message));
    } catch {
      this.#finish();
    }
  }

  /** @param {string} text */
  #take(text) {
    try {
      const message = JSON.parse(text);
      if (message.method === undefined) this.#takeAnswer(message);
      else if (message.id === undefined) this.#owner.onNotification(message.method, message.params);
      else void this.#answer(message);
    } catch {
      this.close(); // the peer does not speak the protocol
    }
  }

  /** @param {any} message */
  #takeAnswer({ id, result, error }) {
    const call = this.#pending.get(id);
    this.#pending.delete(id);
    if (error) call?.reject(new RpcError(error.code, error.message, error.data?.kind));
    else call?.resolve(result);
  }

  /** @param {any} message */
  async #answer({ id, method, params }) {
    try {
      const result = await (this.#owner.onQuestion(method, params) ?? Promise.reject(new HoldfastError(`this client has no method ${method}`)));
      this.#send({ id, result });
    } catch (problem) {
      this.#send({ id, error: { code: ErrorCode.UnknownMethod, message: String(problem) } });
    }
  }

  #finish() {
    if (this.ended) return;
    this.ended = true;
    const reason = new Disconnected("the connection has ended; the server may or may not have done it");
    for (const call of this.#pending.values()) call.reject(reason);
    this.#pending.clear();
    this.#owner.onEnd(this);
  }
}
