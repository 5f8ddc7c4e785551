/** Something failed; the other classes are special cases. */
export class HoldfastError extends Error {
    get name(): string;
}
/**
 * The server has answered with an error. `code` is one of ErrorCode, and `kind` tells some errors of one code apart: "noSuchProgram" or
 * "cannotExecute".
 */
export class RpcError extends HoldfastError {
    /**
     * @param {number} code
     * @param {string} message
     * @param {string | undefined} kind
     */
    constructor(code: number, message: string, kind: string | undefined);
    code: number;
    kind: string | undefined;
}
/** There is no connection to the server any more. Of a call that was under way nobody knows whether the server has done it. */
export class Disconnected extends HoldfastError {
}
/** The server did not answer in time. */
export class TimedOut extends HoldfastError {
}
/** The command's standard input is closed. */
export class InputClosed extends HoldfastError {
}
