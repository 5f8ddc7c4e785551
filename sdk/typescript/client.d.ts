export class Client {
    /**
     * @param {ConnectOptions} options
     * @returns {Promise<Client>}
     */
    static connect(options: ConnectOptions): Promise<Client>;
    /**
     * @param {ConnectOptions} options
     * @private
     */
    private constructor();
    /** @type {string | undefined} */
    sessionId: string | undefined;
    /** @type {import("./protocol.js").EnvironmentInfo} */
    environment: import("./protocol.js").EnvironmentInfo;
    files: Files;
    /** Ends the connection. The server ends the processes of the session when the session has had no connection for a while. */
    close(): void;
    /**
     * Calls any method. A method that only looks is called again after a lost connection; others throw Disconnected.
     * @template {keyof Methods} Name
     * @param {Name} method
     * @param {Methods[Name]["params"]} [params]
     * @param {{ timeoutMs?: number }} [options]
     * @returns {Promise<Methods[Name]["result"]>}
     */
    call<Name extends keyof Methods>(method: Name, params?: Methods[Name]["params"], { timeoutMs }?: {
        timeoutMs?: number;
    }): Promise<Methods[Name]["result"]>;
    /**
     * Runs a command to its end, and returns its output and its exit code.
     * @param {string[]} argv
     * @param {Omit<StartOptions, "stdin"> & { input?: string | Uint8Array }} [options]
     */
    run(argv: string[], { input, ...options }?: Omit<StartOptions, "stdin"> & {
        input?: string | Uint8Array;
    }): Promise<import("./process.js").Completed>;
    /**
     * @param {string[]} argv
     * @param {StartOptions} [options]
     * @returns {Promise<Process>}
     */
    start(argv: string[], options?: StartOptions): Promise<Process>;
    /**
     * Waits for a connection with a higher number than the one that was lost. For processes.
     * @param {number} lost
     */
    connected(lost: number): Promise<Connection>;
    /**
     * For processes.
     * @param {Process} process
     */
    forget(process: Process): void;
    #private;
}
export type Methods = import("./protocol.js").Methods;
export type StartOptions = import("./process.js").StartOptions;
/**
 * A client has one of `url`, `command` and `dial`. `command` is a program that speaks the protocol on its standard streams; its processes
 * end with it. `dial` is a way to the server of your own. `token` is the bearer token, if the server asks for one. `approver` answers the
 * server's questions about supervised programs; without it they are denied.
 */
export type ConnectOptions = {
    /**
     * ws://, wss://, unix:///path or the https:// URL of an executor
     */
    url?: string | undefined;
    command?: string[] | undefined;
    dial?: import("./transport.js").Dial | undefined;
    token?: string | undefined;
    /**
     * instead of that of the platform
     */
    WebSocket?: import("./transport.js").WebSocketClass | undefined;
    name?: string | undefined;
    /**
     * how long the client tries to reach the server again; 25 s
     */
    recoverForMs?: number | undefined;
    /**
     * 30 s
     */
    callTimeoutMs?: number | undefined;
    approver?: ((question: import("./protocol.js").ExecApproveParams) => Promise<import("./protocol.js").ExecApproveResult>) | undefined;
};
import { Files } from "./files.js";
import { Process } from "./process.js";
import { Connection } from "./connection.js";
