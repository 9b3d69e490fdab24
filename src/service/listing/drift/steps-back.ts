import type { Border } from './border-check.ts';

/** After so many steps back without a new lead, a list that never stops moving is read on: it stays unproven. */
const mostWithoutNew = 50;
const most = 1000;

/** How often a walk has stepped back over pages that it had read, and how far the next step goes. */
export class StepsBack {
  count = 0;
  /** Of these, because records went away in front. */
  gaps = 0;
  #withoutNew = 0;
  #distance = 0;

  get isExhausted(): boolean {
    return this.#withoutNew >= mostWithoutNew || this.count >= most;
  }

  /** One step more. Returns how far it goes: twice as far each time, until a page joins what was read before. */
  add(border: Border): number {
    this.count += 1;
    // Where leads only arrive, the steps end without this limit.
    if (!this.isExhausted && border === 'gap') this.#withoutNew += 1;
    if (border === 'gap') this.gaps += 1;
    this.#distance = this.#distance === 0 ? 1 : this.#distance * 2;
    return this.#distance;
  }

  /** A page joins what was read before. */
  reset(): void {
    this.#distance = 0;
  }

  /** A page brought a new lead. */
  noteNew(): void {
    if (!this.isExhausted) this.#withoutNew = 0;
  }
}
