import type { RawLead } from '../../lead/raw-lead.ts';
import type { CheckedDelivery, CheckedLead } from '../../webhook/check-delivery.ts';
import type { TargetProblem } from '../problems.ts';

/** What came of the delivery of one lead to one target. Printed as it is in the `events` format. */
export interface TargetResult {
  /** The kind of target. */
  readonly to: 'forward' | 'exec' | 'output' | 'call';
  readonly ok: boolean;
  /** The target's answer in a few words: a status, an exit code, or why it failed. */
  readonly answer: string;
  readonly durationMs: number;
  /** Of an HTTP answer; undefined where none came. */
  readonly status?: number | undefined;
  /** What failed is the target, whichever lead it is handed. */
  readonly isDown?: true | undefined;
  /** A signal of others ended it, as where a service manager stops all processes of a service. Not printed. */
  readonly isInterrupted?: true | undefined;
  /** So long an HTTP answer asks to wait. */
  readonly retryAfterMs?: number | undefined;
  /** Text of the answer's body, on demand. */
  readonly body?: string | undefined;
}

/** A lead on its way to a target. */
export interface AttemptedLead extends CheckedLead {
  /** Which try of this target it is, from 1. */
  readonly attempt: number;
}

/** Something that gets every new lead before its delivery is acknowledged. */
export interface Target {
  /** Its name in the inbox, by which a later run knows what was done: `forward https://app.test/hook`. */
  readonly name: string;
  /** How long a lead that it does not take is tried again, in milliseconds. */
  readonly giveUpMs?: number | undefined;
  /** Whether a lead is for this target; undefined: each one is. */
  readonly takes?: ((lead: RawLead) => boolean) | undefined;
  /** A failure counts as done, since the delivery is acknowledged all the same. Default false. */
  readonly bestEffort?: boolean | undefined;
  /** It gets all of a delivery, whichever leads of it are for it. */
  readonly isWhole?: true | undefined;
  /** Leads that it takes at the same time; undefined: as many as come. */
  readonly concurrency?: number | undefined;
  /**
   * Delivers those leads of one delivery that it has not had: one result for each, in order, known as soon as that lead's
   * is. Never rejects for a failure of the target: that is a result. `onBegun` is given what cuts it short, where that can be.
   */
  deliver(
    delivery: CheckedDelivery,
    leads: readonly AttemptedLead[],
    onBegun?: (abandon: () => void) => void,
  ): readonly Promise<TargetResult>[];
  /** The next lead goes to a file that is opened anew. */
  reopen?(): void;
  close?(): Promise<void>;
}

interface LimitedTargetOptions extends Pick<Target, 'bestEffort'> {
  readonly to: TargetResult['to'];
  /** Distinguishes it from others of the same kind. */
  readonly name: string;
  /** Leads that are worked on at the same time. */
  readonly concurrency: number;
  /** So long a lead waits at most until its work starts, and the work takes as long at most; in milliseconds. */
  readonly timeoutMs: number;
  /** Ends the waiting. */
  readonly signal?: AbortSignal | undefined;
  /** The sentence of a failure, for results. */
  readonly sentenceOf: (found: TargetProblem) => string;
  /** Of a clock that goes on evenly. */
  readonly now: () => number;
  /** Hands one lead of a delivery over. Never rejects for a failure of the target. */
  readonly run: (
    lead: AttemptedLead,
    from: CheckedDelivery,
  ) => Promise<Pick<TargetResult, 'ok' | 'answer' | 'isInterrupted'>>;
}

/** A target that gets each lead by itself, and few of them at the same time. */
export function limitedTarget(options: LimitedTargetOptions): Target {
  const { to, name, concurrency, timeoutMs, bestEffort, signal, sentenceOf, now, run } = options;
  const limit = new ConcurrencyLimit(concurrency);
  const deliver = async (lead: AttemptedLead, from: CheckedDelivery): Promise<TargetResult> => {
    const queued = now();
    if (!(await limit.acquire(timeoutMs, signal))) {
      const answer = sentenceOf({ kind: 'target-busy' });
      return { to, ok: false, answer, durationMs: Math.round(now() - queued) };
    }
    const started = now();
    try {
      const result = await run(lead, from);
      return { to, ...result, durationMs: Math.round(now() - started) };
    } finally {
      limit.release();
    }
  };
  return {
    name: `${to} ${name}`,
    bestEffort,
    concurrency,
    deliver: (from, leads) => leads.map((lead) => deliver(lead, from)),
  };
}

/** At most so many pieces of work at the same time; more of them wait in a queue, for a limited time. */
export class ConcurrencyLimit {
  readonly #queue: (() => void)[] = [];
  #free: number;

  constructor(most: number) {
    this.#free = most;
  }

  /** False when no place was free in time, or `signal` aborted first. Each success needs a `release`. */
  async acquire(timeoutMs: number, signal?: AbortSignal): Promise<boolean> {
    if (this.#free === 0) return this.#wait(timeoutMs, signal);
    this.#free -= 1;
    return true;
  }

  /** The place goes straight to the next in the queue, so that a newcomer cannot take it in between. */
  release(): void {
    const next = this.#queue.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }

  #wait(timeoutMs: number, signal?: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const onTurn = (): void => leave(true);
      const onEnd = (): void => leave(false);
      const leave = (inTime: boolean): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onEnd);
        const position = this.#queue.indexOf(onTurn);
        if (position >= 0) this.#queue.splice(position, 1);
        resolve(inTime);
      };
      const timer = setTimeout(onEnd, timeoutMs);
      signal?.addEventListener('abort', onEnd);
      this.#queue.push(onTurn);
    });
  }
}
