/**
 * @param {string[]} argv
 * @param {StartOptions} options
 * @param {string} directory
 * @returns {ProcessStartParams}
 */
export function startParams(argv: string[], options: StartOptions, directory: string): ProcessStartParams;
/**
 * Client.start makes one. Its events are read by `for await (const event of process)`, once each and in order, whatever happens to the
 * connection; events that nobody reads are kept in memory.
 */
export class Process {
    /**
     * @param {import("./client.js").Client} client
     * @param {string} processId
     */
    constructor(client: import("./client.js").Client, processId: string);
    /** @type {import("./events.js").Exited | undefined} */
    exited: import("./events.js").Exited | undefined;
    /** Whether the server has the process, as far as the client knows. */
    isCertain: boolean;
    processId: string;
    /** Waits until the command has exited. Its events can be read all the same. */
    wait(): Promise<import("./events.js").Exited>;
    /**
     * Writes the input, closes it, and collects the output until the end.
     * @param {string | Uint8Array} [input]
     * @returns {Promise<Completed>}
     */
    communicate(input?: string | Uint8Array): Promise<Completed>;
    /**
     * Writes to the command's standard input, each byte once and in order. Throws InputClosed if the input is closed.
     * @param {string | Uint8Array} data
     */
    write(data: string | Uint8Array): Promise<void>;
    /** Closes the standard input behind what was written. A terminal gets its end-of-file character. */
    closeStdin(): Promise<void>;
    /**
     * @param {number} rows
     * @param {number} cols
     */
    resize(rows: number, cols: number): Promise<void>;
    /**
     * Sends a signal, such as "SIGTERM", to the command's process group.
     * @param {string} signal
     */
    signal(signal: string): Promise<void>;
    /**
     * Ends the command and every descendant: at once, or by SIGTERM and after that time.
     * @param {number} [graceMs]
     */
    terminate(graceMs?: number): Promise<void>;
    /**
     * Takes in a notification. For the client.
     * @param {string} method
     * @param {any} params
     */
    take(method: string, params: any): void;
    /**
     * Reads what the server has sent while there was no connection. For the client.
     * @param {import("./connection.js").Connection} connection
     */
    catchUp(connection: import("./connection.js").Connection): Promise<void>;
    /**
     * For the client.
     * @param {Error} reason
     */
    fail(reason: Error): void;
    /** @returns {AsyncGenerator<ProcessEvent, void, void>} */
    [Symbol.asyncIterator](): AsyncGenerator<ProcessEvent, void, void>;
    #private;
}
export type ProcessEvent = import("./events.js").ProcessEvent;
export type ProcessStartParams = import("./protocol.js").ProcessStartParams;
/**
 * `env` is added to the environment of the server, of which variables that look like secrets are left out; with `cleanEnv` it is the whole
 * environment. With `stdin` the standard input is a pipe; otherwise it is empty. The other members are those of process/start.
 */
export type StartOptions = {
    /**
     * by default the directory of the server
     */
    cwd?: string | undefined;
    env?: Record<string, string> | undefined;
    cleanEnv?: boolean | undefined;
    stdin?: boolean | undefined;
    terminal?: {
        rows: number;
        cols: number;
    } | undefined;
    sandbox?: import("./protocol.js").Sandbox | undefined;
    execPolicy?: import("./protocol.js").ExecPolicy | undefined;
    limits?: import("./protocol.js").Limits | undefined;
    processId?: string | undefined;
};
/**
 * `stdout` has the output of a terminal too. `lost` tells whether the server has dropped output before it could be read.
 */
export type Completed = {
    exitCode: number;
    stdout: Buffer;
    stderr: Buffer;
    sandboxDenied: boolean;
    cause: import("./protocol.js").EndCause | undefined;
    lost: boolean;
};
