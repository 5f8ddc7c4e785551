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
export function dialUrl(url: string, { token, WebSocket }: {
    token?: string;
    WebSocket?: WebSocketClass;
}): Dial;
/**
 * Starts a program that is the server, on its standard streams, such as `holdfast exec-server --listen stdio`. When it ends, its sessions
 * end too, so that it is dialled once.
 * @param {string[]} words
 * @returns {Dial}
 */
export function dialCommand(words: string[]): Dial;
export type Transport = {
    send: (message: string) => void;
    close: () => void;
};
export type Handlers = {
    onMessage: (message: string) => void;
    /**
     * called once
     */
    onEnd: () => void;
};
export type Dial = (handlers: Handlers) => Promise<Transport>;
/**
 * What a class needs to be used as a WebSocket: that of the platform, or of a package such as ws.
 */
export type WebSocketClass = new (url: string, options?: any) => any;
