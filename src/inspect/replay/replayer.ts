import type { Inbox } from '../../inbox/inbox.ts';
import { retryRequest } from '../../receiver/retry-request.ts';
import { storedDelivery } from '../../receiver/stored-request.ts';
import type { Target } from '../../receiver/targets/target.ts';
import type { Clock } from '../../time/clock.ts';
import { inboxFailed, notInInbox, RequestProblem } from '../request-problem.ts';
import { whyNotReplayable } from '../queries/describe-delivery.ts';
import type { WireReplay, WireReplayed, WireTarget } from '../wire.ts';
import type { ReplayTarget } from './replay-target.ts';

type ReplayInbox = Pick<Inbox, 'list' | 'claimLeads' | 'record'>;

interface ReplayerOptions {
  readonly targets: readonly ReplayTarget[];
  readonly useInbox: <T>(target: Target, use: (inbox: ReplayInbox) => Promise<T>) => Promise<T>;
  readonly clock: Clock;
}

/** Sends one delivery after the other, since a person waits for each. */
export class Replayer {
  readonly targets: readonly WireTarget[];
  readonly #options: ReplayerOptions;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: ReplayerOptions) {
    this.#options = options;
    this.targets = options.targets.map(({ wire }) => wire);
  }

  /** Rejects with a `RequestProblem` where nothing was sent. A refusal by the target is a result. */
  async replay({ seq, target: name }: WireReplay): Promise<WireReplayed> {
    const replayTarget = this.#options.targets.find(({ wire }) => wire.name === name);
    if (replayTarget === undefined) {
      const problem = 'The target is none of those that were named when leads was started.';
      const hint = '--replay-to names one more';
      throw new RequestProblem({ status: 403, code: 'forbidden', problem, hint });
    }
    const turn = this.#last.then(() => this.#send(seq, replayTarget));
    this.#last = turn.catch(() => undefined);
    try {
      return await turn;
    } catch (error) {
      if (error instanceof RequestProblem) throw error;
      const failed = inboxFailed(error);
      throw new RequestProblem({ ...failed, problem: `The replay failed: ${failed.problem}` });
    }
  }

  async close(): Promise<void> {
    await this.#last;
    for (const { target } of this.#options.targets) await target.close?.();
  }

  #send(seq: number, { target }: ReplayTarget): Promise<WireReplayed> {
    const { clock, useInbox } = this.#options;
    return useInbox(target, async (inbox) => {
      const stored = await storedDelivery(inbox, seq);
      if (stored === undefined) throw new RequestProblem(notInInbox(seq));
      const problem = whyNotReplayable(stored);
      if (problem !== undefined) throw new RequestProblem({ status: 409, code: 'not-replayable', problem });
      const { leadId = '' } = stored;
      const options = { target, inbox, clock, isMove: false };
      const [retried] = await retryRequest([{ ...stored, leadId }], options);
      if (retried === undefined) throw new Error('a target gave no result');
      const { ok, answer, durationMs } = retried;
      return { ok, answer, durationMs };
    });
  }
}
