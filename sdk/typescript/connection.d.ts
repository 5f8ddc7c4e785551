/**
 * @typedef {object} Owner
 * @property {(method: string, params: any) => void} onNotification
 * @property {(method: string, params: any) => Promise<any> | undefined} onQuestion undefined for a method that the client does not have
 * @property {(connection: Connection) => void} onEnd
 */
export class Connection {
    /**
     * `number` tells the connections of a session apart; each has a higher one than those before it.
     * @param {import("./transport.js").Dial} dial
     * @param {number} number
     * @param {Owner} owner
     */
    static open(dial: import("./transport.js").Dial, number: number, owner: Owner): Promise<Connection>;
    /**
     * @param {number} number
     * @param {Owner} owner
     * @private
     */
    private constructor();
    ended: boolean;
    number: number;
    /**
     * @param {string} method
     * @param {any} params
     * @returns {Promise<any>}
     */
    request(method: string, params: any): Promise<any>;
    /** @param {string} method */
    notify(method: string): void;
    close(): void;
    #private;
}
export type Owner = {
    onNotification: (method: string, params: any) => void;
    /**
     * undefined for a method that the client does not have
     */
    onQuestion: (method: string, params: any) => Promise<any> | undefined;
    onEnd: (connection: Connection) => void;
};
