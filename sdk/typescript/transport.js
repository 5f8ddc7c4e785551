// The ways to a server. A Dial opens a connection, and calls its handlers until the connection has ended.

import { Disconnected } from "./errors.js";

/**
 * @typedef {object} Transport
 * @property {(message: string) => void} send
 * @property {() => void} close
 */

/**
 * @typedef {object} Handlers
 * @property {(message: string) => void} onMessage
 * @property {() => void} onEnd called once
 */

/** @typedef {(handlers: Handlers) => Promise<Transport>} Dial */

/**
 * What a class needs to be used as a WebSocket: that of the platform, or of a package such as ws.
 * @typedef {new (url: string, options?: any) => any} WebSocketClass
 */

/**
 * Dials ws://, wss://, unix:// or the https:// URL of an executor behind a rendezvous.
 * @param {string} url
 * @param {{ token?: string, WebSocket?: WebSocketClass }} options
 * @returns {Dial}
 */
export function dialUrl(url, { token, WebSocket = /** @type {any} */ (globalThis).WebSocket }) {
  if (url.startsWith("unix://")) return dialUnix(decodeURIComponent(new URL(url).pathname));
  const address = url.replace(/^http/, "ws");
  if (!/^wss?:/.test(address)) throw new TypeError(`${url} is not the URL of a server: it begins with ws://, wss://, https:// or unix://`);
  if (!WebSocket) {
    throw new TypeError(
      "this runtime has no WebSocket: Node 22 has one, Node 20 has one with --experimental-websocket, and the option WebSocket takes a class",
    );
  }
  return (handlers) => dialWebSocket(new WebSocket(address, token ? { headers: { Authorization: `Bearer ${token}` } } : undefined), handlers);
}

/**
 * @param {any} socket
 * @param {Handlers} handlers
 * @returns {Promise<Transport>}
 */
function dialWebSocket(socket, { onMessage, onEnd }) {
  socket.binaryType = "arraybuffer";
  return new Promise((resolve, reject) => {
    let open = false;
    const end = (/** @type {any} */ event) => {
      if (!open) return reject(new Disconnected(`the server cannot be reached, or refuses this client: ${event.message ?? event.reason ?? ""}`));
      open = false;
      onEnd();
    };
    socket.onopen = () => {
      open = true;
      resolve({
        send: (message) => socket.send(message),
        close: () => {
          socket.close();
          end({}); // a peer that is gone would let the farewell wait
        },
      });
    };
    socket.onmessage = (/** @type {any} */ { data }) => {
      if (open) onMessage(typeof data === "string" ? data : new TextDecoder().decode(data));
    };
    socket.onerror = end;
    socket.onclose = end;
  });
}

/**
 * @param {string} path
 * @returns {Dial}
 */
function dialUnix(path) {
  return async (handlers) => {
    const { connect } = await import("node:net");
    const socket = connect(path);
    await new Promise((resolve, reject) => {
      socket.once("connect", () => resolve(undefined));
      socket.once("error", (problem) => reject(new Disconnected(`the server cannot be reached: ${problem.message}`)));
    });
    return lines(socket, socket, handlers, () => socket.destroy());
  };
}

/**
 * Starts a program that is the server, on its standard streams, such as `holdfast exec-server --listen stdio`. When it ends, its sessions
 * end too, so that it is dialled once.
 * @param {string[]} words
 * @returns {Dial}
 */
export function dialCommand(words) {
  let used = false;
  return async (handlers) => {
    if (used) throw new Disconnected(`${words[0]} has ended`);
    used = true;
    const { spawn } = await import("node:child_process");
    const child = spawn(/** @type {string} */ (words[0]), words.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
    await new Promise((resolve, reject) => {
      child.once("spawn", () => resolve(undefined));
      child.once("error", (problem) => reject(new Disconnected(`${words[0]} cannot be started: ${problem.message}`)));
    });
    return lines(child.stdout, child.stdin, handlers, () => child.stdin.end());
  };
}

/**
 * A connection on which each message is a line.
 * @param {import("node:stream").Readable} readable
 * @param {import("node:stream").Writable} writable
 * @param {Handlers} handlers
 * @param {() => void} close
 * @returns {Transport}
 */
function lines(readable, writable, { onMessage, onEnd }, close) {
  /** @type {string[]} */
  let parts = [];
  let open = true;
  const end = () => {
    if (open) onEnd();
    open = false;
  };
  readable.setEncoding("utf8");
  readable.on("data", (/** @type {string} */ text) => {
    const pieces = text.split("\n");
    for (const piece of pieces.slice(0, -1)) {
      const message = [...parts, piece].join("");
      parts = [];
      if (open) onMessage(message);
    }
    parts.push(/** @type {string} */ (pieces.at(-1)));
  });
  for (const stream of new Set([readable, writable])) stream.on("error", end);
  readable.on("close", end);
  readable.on("end", end);
  return {
    send: (message) => void writable.write(`${message}\n`),
    close: () => {
      close();
      end();
    },
  };
}
