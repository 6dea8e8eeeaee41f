// latest.js - questions of which only the latest counts, and what shows their answers and their failures.
import { h } from './dom.js';

export class Latest {
    /** A patient one lets the question that is under way be answered, and asks the newest then: so what is dragged
     * moves at the pace of the server. @param {(error: unknown) => void} fail is called with null when all is well
     * @param {{patient?: boolean}} [how] */
    constructor(fail, { patient = false } = {}) {
        /** @private */ this.fail = fail;
        /** @private */ this.patient = patient;
        this.running = false;
        /** Nothing is asked any more. @type {(() => void) | null} */ this.ended = null;
        /** @private @type {(() => Promise<void>) | null} */ this.waiting = null;
        /** @private */ this.asked = new AbortController();
        /** @private */ this.key = '';
    }

    /** Ask, and let go of the question before. The same key again is not asked. @template T @param {unknown} key
     * @param {(signal: AbortSignal) => Promise<T>} question @param {(found: T) => void} show */
    async ask(key, question, show) {
        const text = JSON.stringify(key);
        if (text === this.key) return;
        this.key = text;
        if (this.patient && this.running) this.waiting = () => this.#run(text, question, show);
        else await this.#run(text, question, show);
    }

    /** @template T
     * @param {string} key @param {(signal: AbortSignal) => Promise<T>} question @param {(found: T) => void} show */
    async #run(key, question, show) {
        this.asked.abort();
        this.asked = new AbortController();
        const { signal } = this.asked;
        this.running = true;
        try {
            const found = await question(signal);
            if (signal.aborted) return;
            this.fail(null);
            show(found);
        } catch (error) {
            if (signal.aborted) return;
            if (this.key === key) this.key = '';
            this.fail(error);
        }
        this.running = false;
        const next = this.waiting;
        this.waiting = null;
        await next?.();
        if (!this.running) this.ended?.();
    }

    stop() {
        this.asked.abort();
        this.key = '';
        this.waiting = null;
        this.running = false;
    }
}

/** A place for the words of an error. @param {string} [id] */
export function complaint(id) {
    const element = h('p.error', { id, role: 'alert', hidden: true });
    return {
        element,
        /** @param {unknown} error null: all is well */
        show: (error) => {
            element.hidden = error === null;
            for (
                let at = element.closest('details');
                at && error !== null;
                at = at.parentElement?.closest('details') ?? null
            )
                at.open = true;
            element.textContent = error === null ? '' : String(/** @type {Error} */ (error).message);
        },
    };
}
