export class Files {
    /** @param {import("./client.js").Client} client */
    constructor(client: import("./client.js").Client);
    /**
     * @param {string} path
     * @returns {Promise<Buffer>}
     */
    read(path: string): Promise<Buffer>;
    /**
     * Writes a whole file. With `atomic` a reader sees the old content or the new one; such a file has at most 8 MiB.
     * @param {string} path
     * @param {string | Uint8Array} data
     * @param {{ atomic?: boolean }} [options]
     */
    write(path: string, data: string | Uint8Array, { atomic }?: {
        atomic?: boolean;
    }): Promise<void>;
    /** @param {string} path */
    list(path: string): Promise<import("./protocol.js").FsDirectoryEntry[]>;
    /**
     * @param {string} path
     * @param {{ recursive?: boolean, missingOk?: boolean }} [options]
     */
    remove(path: string, { recursive, missingOk }?: {
        recursive?: boolean;
        missingOk?: boolean;
    }): Promise<void>;
    /** @param {string} path */
    metadata(path: string): Promise<import("./protocol.js").FsGetMetadataResult>;
    /**
     * @param {string} path
     * @param {{ parents?: boolean }} [options]
     */
    makeDirectory(path: string, { parents }?: {
        parents?: boolean;
    }): Promise<void>;
    #private;
}
