/** Something that changes, and on which any number of functions wait. */
export class Signal {
    /** @returns {Promise<void>} */
    next(): Promise<void>;
    notify(): void;
    #private;
}
