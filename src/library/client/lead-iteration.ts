import { UsageError } from '../../errors.ts';
import type { ClientAccount, LeadWalk } from './lead-walk.ts';
import type { Checkpoint } from './lead-checkpoint.ts';
import type { LeadsOptions } from './leads-options.ts';
import type { PulledLead } from './pulled-lead.ts';
import { type LeadFilterOptions, resolveFilterOptions } from './resolve-filter-options.ts';

/** The leads of one reading of the list, which is read while they are taken. It can be iterated once. */
export class LeadIteration implements AsyncIterable<PulledLead> {
  readonly #walk: () => Promise<LeadWalk>;
  readonly #start: Checkpoint | null;
  #walked: LeadWalk | undefined;
  #isTaken = false;

  /** @internal */
  constructor(account: ClientAccount, filter: LeadFilterOptions, options: LeadsOptions) {
    const startedAt = Date.now();
    resolveFilterOptions(filter, startedAt);
    this.#start = options.from ?? null;
    this.#walk = async () => {
      const { LeadWalk } = await import('./lead-walk.ts');
      return new LeadWalk(account, filter, options, startedAt);
    };
  }

  /**
   * Where the iteration is: a value for `JSON.stringify`, to be given as `from`, also after an error, a `break` or a new
   * start of the process. No id comes twice then, and none is left out by this client. A lead counts as handed out once
   * the loop has got it, so take it when the work on that lead is done. Its size, and the time that it takes, grow with
   * the number of leads so far. Null while nothing was read; from the checkpoint of a complete list nothing comes.
   */
  checkpoint(): Checkpoint | null {
    return this.#walked?.checkpoint() ?? this.#start;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<PulledLead, void, undefined> {
    if (this.#isTaken) {
      throw new UsageError('these leads were iterated before', {
        hint: 'call leads() again, with from: checkpoint() to go on where this iteration ended',
      });
    }
    this.#isTaken = true;
    this.#walked = await this.#walk();
    yield* this.#walked.leads();
  }
}
