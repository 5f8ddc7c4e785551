// A client of the holdfast exec-server. README.md shows its use.

import { Client } from "./client.js";

/**
 * Connects to the server at a URL.
 * @param {string} url
 * @param {Omit<import("./client.js").ConnectOptions, "url" | "command" | "dial">} [options]
 */
export const connect = (url, options) => Client.connect({ ...options, url });

export { Client } from "./client.js";
export { Disconnected, HoldfastError, InputClosed, RpcError, TimedOut } from "./errors.js";
export { Files } from "./files.js";
export { Process } from "./process.js";
export { ErrorCode } from "./protocol.js";

/** @typedef {import("./client.js").ConnectOptions} ConnectOptions */
/** @typedef {import("./process.js").StartOptions} StartOptions */
/** @typedef {import("./process.js").Completed} Completed */
/** @typedef {import("./events.js").ProcessEvent} ProcessEvent */
/** @typedef {import("./transport.js").Dial} Dial */
