import { messageOf } from '../../errors.ts';
import type { Inbox, StoredDelivery } from '../../inbox/inbox.ts';
import { targetLabel } from '../../inbox/target-name.ts';
import { retryDelivery } from '../../receiver/retry-delivery.ts';
import { asReceived, storedDelivery } from '../../receiver/stored-deliveries.ts';
import type { Target } from '../../receiver/targets/target.ts';
import type { Clock } from '../../time/clock.ts';
import { badRequest, inboxFailed, notThere, type Problem } from '../problems.ts';
import { whyNotReplayable } from '../queries/describe-delivery.ts';
import type { WireReplay, WireReplayed, WireTarget } from '../wire.ts';
import { editedDelivery } from './edited-delivery.ts';
import type { ReplayTarget } from './replay-target.ts';

/** Replays that wait for the one ahead of them. */
const mostWaiting = 16;

type ReplayInbox = Pick<Inbox, 'list' | 'lease' | 'settle' | 'settleMoved' | 'release'>;

export interface ReplayerOptions {
  readonly targets: readonly ReplayTarget[];
  /** Opens the inbox to write what came of handing a lead to the target. */
  readonly useInbox: <T>(target: Target, use: (inbox: ReplayInbox) => Promise<T>) => Promise<T>;
  /** Whether a receiver of this process hands the lead on now. Default: there is none. */
  readonly isDispatching?: ((leadId: string) => boolean) | undefined;
  readonly clock: Clock;
}

/**
 * Replays one delivery after the other: leases keep receivers apart, and two replays of this process have the same name on
 * theirs.
 */
export class Replayer implements Replays {
  readonly targets: Replays['targets'];
  readonly #options: ReplayerOptions;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(options: ReplayerOptions) {
    this.#options = options;
    this.targets = options.targets.map(({ wire }) => wire);
  }

  urlOf(name: string): string | undefined {
    return this.#named(name)?.url;
  }

  async replay(asked: WireReplay): Promise<WireReplayed | Problem> {
    const to = this.#named(asked.target);
    if (to === undefined) {
      const problem = 'The target is none of those that were named when leads was started.';
      return { status: 403, code: 'forbidden', problem, hint: '--replay-to names one more' };
    }
    if (asked.body !== undefined && !to.wire.isLocal) {
      const problem = 'An edited delivery goes to a target on this machine only.';
      return { status: 403, code: 'forbidden', problem };
    }
    if (this.#waiting >= mostWaiting) {
      return { status: 429, code: 'busy', problem: 'Too many replays wait for each other.' };
    }
    this.#waiting += 1;
    const turn = this.#last.then(() => this.#send(asked, to));
    this.#last = turn.catch(() => undefined);
    try {
      return await turn;
    } catch (error) {
      return { ...inboxFailed(error), problem: `The replay failed: ${messageOf(error)}` };
    } finally {
      this.#waiting -= 1;
    }
  }

  async close(): Promise<void> {
    await this.#last;
    for (const { target } of this.#options.targets) await target.close?.();
  }

  #named(name: string): ReplayTarget | undefined {
    return this.#options.targets.find(({ wire }) => wire.name === name);
  }

  #send({ seq, body }: WireReplay, { target, wire }: ReplayTarget): Promise<WireReplayed | Problem> {
    return this.#options.useInbox(target, async (inbox) => {
      const stored = await storedDelivery(inbox, seq);
      if (stored === undefined) return notThere(`Delivery ${seq}`);
      const why = whyNotReplayable(stored);
      if (why !== undefined) return { status: 409, code: 'not-replayable', problem: why };
      if (body !== undefined) return this.#sendEdited(stored, body, target);
      return this.#sendAgain(stored, target, wire.name, inbox);
    });
  }

  async #sendAgain(
    { seq, leadId = '', attempt, place }: StoredDelivery,
    target: Target,
    name: string,
    inbox: ReplayInbox,
  ): Promise<WireReplayed | Problem> {
    const { clock, isDispatching } = this.#options;
    if (isDispatching?.(leadId) === true) return busy;
    const delivery = { seq, leadId, attempt, place };
    const [retried] = await retryDelivery([delivery], { target, inbox, clock, hasMoved: false });
    if (retried === undefined) return busy;
    const { ok, answer, durationMs, isSettled } = retried;
    return { ok, answer, durationMs, leadId, settled: isSettled ? targetLabel(name) : null };
  }

  /** It is not the lead that is stored: nothing is kept of it. */
  async #sendEdited(stored: StoredDelivery, text: string, target: Target): Promise<WireReplayed | Problem> {
    const edited = editedDelivery(asReceived(stored, [stored]), text);
    if (!edited.ok) return badRequest(edited.problem);
    const leads = edited.checked.leads.map((lead) => ({ ...lead, attempt: 1 }));
    const [result] = await Promise.all(target.deliver(edited.checked, leads));
    if (result === undefined) throw new Error('a target gave no result');
    const { ok, answer, durationMs } = result;
    return { ok, answer, durationMs, leadId: edited.leadId, settled: null };
  }
}

const busy: Problem = {
  status: 409,
  code: 'busy',
  problem: 'A receiver hands this lead on at this moment.',
};

/** Sends stored deliveries once more, to targets that the operator named. */
export interface Replays {
  readonly targets: readonly WireTarget[];
  /** The address of one of them, without credentials; undefined for any other name. */
  urlOf(name: string): string | undefined;
  /** Why it was not sent is a problem; that the target did not take it is a result. */
  replay(asked: WireReplay): Promise<WireReplayed | Problem>;
  close(): Promise<void>;
}
