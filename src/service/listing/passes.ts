/** Why the list is read: once; again with every border checked; its front, for what moved there. */
export type Pass = 'first' | 'again' | 'front';

/** A front that never comes to rest is one where leads arrive: those are a later walk's. */
const mostFronts = 6;
const mostPasses = 4;

/** The passes of one walk over the list, and the new leads that each brought. */
export class Passes {
  current: Pass = 'first';
  #count = 1;
  #fronts = 0;
  /** New leads of the last reading of the front, of all of them in this pass, and of this pass with them. */
  #frontNews = 0;
  #allFrontNews = 0;
  #news = 0;
  #gapsBefore = 0;

  begin(pass: Exclude<Pass, 'first'>, gaps: number): void {
    this.current = pass;
    this.#frontNews = 0;
    if (pass === 'front') {
      this.#fronts += 1;
      return;
    }
    this.#count += 1;
    this.#fronts = 0;
    this.#allFrontNews = 0;
    this.#news = 0;
    this.#gapsBefore = gaps;
  }

  noteNews(leads: number): void {
    this.#news += leads;
    if (this.current !== 'front') return;
    this.#frontNews += leads;
    this.#allFrontNews += leads;
  }

  get isFirst(): boolean {
    return this.#count === 1;
  }

  /** A lead may have moved over a part of the front that was read: a front with new leads is read again. */
  get isFrontRead(): boolean {
    return this.current === 'front' && (this.#frontNews === 0 || this.#fronts >= mostFronts);
  }

  /**
   * Records went from what was read, and leads stand at the front that were not met: a lead may have moved more than
   * once, past every page that was read. Only a pass in which nothing moved settles it.
   */
  isRestless(gaps: number): boolean {
    const hasGaps = gaps > this.#gapsBefore;
    return this.isFirst ? hasGaps && this.#allFrontNews > 0 : hasGaps || this.#news > 0;
  }

  get isOver(): boolean {
    return this.#count >= mostPasses;
  }
}
