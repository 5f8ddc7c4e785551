// The files of the server's machine. A path is an absolute path or a file: URI.

import { randomUUID } from "node:crypto";
import { Disconnected, RpcError } from "./errors.js";
import { ErrorCode } from "./protocol.js";

const longestWhole = 8 << 20; // of a file that is written by one message
const block = 1 << 19;

export class Files {
  #client;

  /** @param {import("./client.js").Client} client */
  constructor(client) {
    this.#client = client;
  }

  /**
   * @param {string} path
   * @returns {Promise<Buffer>}
   */
  async read(path) {
    return Buffer.from((await this.#client.call("fs/readFile", { path })).dataBase64, "base64");
  }

  /**
   * Writes a whole file. With `atomic` a reader sees the old content or the new one; such a file has at most 8 MiB.
   * @param {string} path
   * @param {string | Uint8Array} data
   * @param {{ atomic?: boolean }} [options]
   */
  async write(path, data, { atomic = false } = {}) {
    const bytes = Buffer.from(data);
    if (bytes.length > longestWhole && !atomic) return await this.#writeBlocks(path, bytes);
    await this.#client.call("fs/writeFile", { path, dataBase64: bytes.toString("base64"), atomic });
  }

  /**
   * @param {string} path
   * @param {Buffer} bytes
   */
  async #writeBlocks(path, bytes) {
    const handleId = randomUUID().replaceAll("-", "");
    await this.#client.call("fs/open", { handleId, path, mode: "replace" });
    try {
      for (let offset = 0; offset < bytes.length; offset += block) {
        const chunk = bytes.subarray(offset, offset + block).toString("base64");
        await this.#client.call("fs/writeBlock", { handleId, offset, chunk });
      }
    } catch (problem) {
      // Open files end with their connection.
      if (!(problem instanceof RpcError) || problem.code !== ErrorCode.NotFound) throw problem;
      throw new Disconnected(`the connection was lost while ${path} was written`);
    }
    await this.#client.call("fs/close", { handleId });
  }

  /** @param {string} path */
  async list(path) {
    return (await this.#client.call("fs/readDirectory", { path })).entries;
  }

  /**
   * @param {string} path
   * @param {{ recursive?: boolean, missingOk?: boolean }} [options]
   */
  async remove(path, { recursive = false, missingOk = false } = {}) {
    await this.#client.call("fs/remove", { path, recursive, force: missingOk });
  }

  /** @param {string} path */
  async metadata(path) {
    return await this.#client.call("fs/getMetadata", { path });
  }

  /**
   * @param {string} path
   * @param {{ parents?: boolean }} [options]
   */
  async makeDirectory(path, { parents = false } = {}) {
    await this.#client.call("fs/createDirectory", { path, recursive: parents });
  }
}
