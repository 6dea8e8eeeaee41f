// paced.js - questions that change while they are answered: one is under way, and the newest waits.

/**
 * Each answer is shown, so that what is dragged moves at the pace of the server, and none is asked for in vain.
 * @param {(error: unknown) => void} fail
 */
export function paced(fail) {
    const left = new AbortController();
    /** @type {((signal: AbortSignal) => Promise<void>) | null} */
    let next = null;
    let running = false;

    async function run() {
        running = true;
        for (let question = next; question !== null; question = next) {
            next = null;
            try {
                await question(left.signal);
            } catch (error) {
                if (!left.signal.aborted) fail(error);
            }
        }
        running = false;
    }

    return {
        /** @param {(signal: AbortSignal) => Promise<void>} question */
        ask: (question) => {
            next = question;
            if (!running) void run();
        },
        stop: () => {
            next = null;
            left.abort();
        },
    };
}
