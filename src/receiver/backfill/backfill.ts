import type { Clock } from '../../time/clock.ts';
import type { BackfillRound, RoundOptions } from './round.ts';
import { runRound } from './run-round.ts';

interface BackfillOptions extends Omit<RoundOptions, 'since' | 'outstanding' | 'triedBefore'> {
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  /** How far back a round reaches, in milliseconds. */
  readonly windowMs: number;
  /** From the end of a round to the next one, in milliseconds; undefined: there is only one. */
  readonly everyMs: number | undefined;
  /** Told of every round when it has ended. */
  readonly onRound: (round: BackfillRound) => Promise<void> | void;
}

/**
 * Lists the service's leads of the last `windowMs`, again and again, and has the receiver handle those that the inbox
 * lacks, as if they had been pushed. A round reaches farther back where the ones before it did not take in what they
 * should have, or were too long ago. Resolves when `signal` aborts, or after the only round. A failure ends its round, not
 * the receiver.
 */
export async function backfill(options: BackfillOptions): Promise<void> {
  const { clock, signal, everyMs, windowMs, onRound } = options;
  /** Leads that were created before that were seen by some round, as far as windows reach. */
  let seenUntil = Infinity;
  const outstanding = new Set<string>();
  for (let number = 1; !signal.aborted; number += 1) {
    const startedAt = clock.now();
    // What was tried a moment ago is left to the service's own retries; a new process knows of none.
    const triedBefore = number === 1 || everyMs === undefined ? startedAt : startedAt - everyMs / 2;
    // Earlier times than the first of the calendar cannot be asked for, and no lead is older.
    const since = Math.max(0, Math.min(startedAt - windowMs, seenUntil));
    const ended = await runRound({ ...options, since, outstanding, triedBefore });
    seenUntil = ended.end.kind === 'failed' || ended.notStored > 0 ? since : startedAt;
    await onRound({ ...ended, number, startedAt, everyMs, durationMs: clock.now() - startedAt });
    if (everyMs === undefined) return;
    try {
      await clock.sleep(everyMs, signal);
    } catch {
      return;
    }
  }
}
