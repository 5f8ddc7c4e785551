/**
 * Puts the events of a process into the order of their numbers. It drops what was published before, and holds what comes early: after a
 * reconnect the server sends what happens then, while the client still reads what it has missed.
 */
export class EventOrder {
    published: number;
    /** @param {ProcessEvent} event */
    take(event: ProcessEvent): void;
    /**
     * Takes in an answer of process/read without maxBytes. Then every number before its nextSeq has an event.
     *
     * The server drops its oldest output first. So behind the oldest chunk at most one number is missing, that of the exit; if none is, the
     * exit was among what was dropped, and counts as the last of it.
     * @param {import("./protocol.js").ProcessReadResult} read
     */
    settle(read: import("./protocol.js").ProcessReadResult): void;
    /**
     * Publishes the events whose turn it is.
     * @returns {Generator<ProcessEvent>}
     */
    ready(): Generator<ProcessEvent>;
    #private;
}
export type Stream = import("./protocol.js").Stream;
export type EndCause = import("./protocol.js").EndCause;
export type Output = {
    type: "output";
    seq: number;
    stream: Stream;
    data: Uint8Array;
};
/**
 * The command has exited; output may follow. `exitCode` is 128 + N after signal N, and `cause` says why the server has ended the command.
 */
export type Exited = {
    type: "exited";
    seq: number;
    exitCode: number;
    sandboxDenied: boolean;
    cause: EndCause | undefined;
};
/**
 * The server has dropped the events with these numbers before they could be read.
 */
export type Lost = {
    type: "lost";
    seq: number;
    toSeq: number;
};
/**
 * The last event: the command has exited, and every stream has ended.
 */
export type Closed = {
    type: "closed";
    seq: number;
};
export type ProcessEvent = Output | Exited | Lost | Closed;
