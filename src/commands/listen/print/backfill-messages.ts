import { messageOf, ServiceError } from '../../../errors.ts';
import type { Messages } from '../../../output/messages.ts';
import type { BackfillRound, RoundEnd } from '../../../receiver/backfill/round.ts';
import { formatDuration, formatSeconds } from '../../../time/duration.ts';

/** What a person is told of the rounds of `--backfill`: not of one that changed nothing, and of each cause once. */
export class BackfillMessages {
  readonly #messages: Pick<Messages, 'say' | 'warn'>;
  readonly #unproven = new Set<string>();
  #failing: { readonly cause: string; readonly since: number } | undefined;

  constructor(messages: Pick<Messages, 'say' | 'warn'>) {
    this.#messages = messages;
  }

  /** Whether the round is worth a line: the first one, one that brought something, or one that failed. */
  say(round: BackfillRound): boolean {
    const { number, end, startedAt, durationMs, fetched, handedOn, notStored } = round;
    const found = fetched + handedOn + notStored > 0;
    if (end.kind === 'failed') {
      const isSaid = this.#fails(end.error, round, found ? ` (${counted(round)})` : '');
      if (isSaid && found) this.#messages.say(`backfill: ${counted(round)}, ended early`);
      return true;
    }
    if (end.kind !== 'interrupted' && this.#failing !== undefined) {
      const awayMs = startedAt + durationMs - this.#failing.since;
      this.#messages.say(`the backfill works again, after ${formatDuration(awayMs)}`);
      this.#failing = undefined;
    }
    if (end.kind === 'unproven') this.#isUnproven(end.why);
    const isInterrupted = end.kind === 'interrupted';
    const isNews = found || (number === 1 && !isInterrupted);
    if (isNews) this.#messages.say(`backfill: ${counted(round)}${isInterrupted ? ', interrupted' : ''}`);
    return isNews || end.kind === 'unproven';
  }

  /** Whether this failure was said before, in an unbroken row of rounds that failed. */
  #fails(error: unknown, { startedAt, everyMs }: BackfillRound, counts: string): boolean {
    const cause = causeOf(error);
    const isSaid = this.#failing?.cause === cause;
    this.#failing = { cause, since: this.#failing?.since ?? startedAt };
    const next = everyMs === undefined ? '' : `; trying again every ${formatSeconds(everyMs)}`;
    if (!isSaid) this.#messages.warn(`the backfill ended early${counts}: ${messageOf(error)}${next}`);
    return isSaid;
  }

  #isUnproven(why: string): void {
    const cause = withoutNumbers(why);
    if (this.#unproven.has(cause)) return;
    this.#unproven.add(cause);
    this.#messages.warn(`the backfill may lack leads: ${why}`);
  }
}

/** Why a round did not read everything, in a few words. */
export function endText(end: Exclude<RoundEnd, { kind: 'complete' }>): string {
  if (end.kind === 'interrupted') return 'interrupted';
  return end.kind === 'unproven' ? `leads may be missing: ${end.why}` : messageOf(end.error);
}

function counted({ fetched, known, handedOn, pending, notStored }: BackfillRound): string {
  const parts = [`${fetched} fetched`, `${known} already known`];
  if (handedOn > 0) parts.push(`${handedOn} of them handed on at last`);
  if (pending > 0) parts.push(`${pending} pending`);
  if (notStored > 0) parts.push(`${notStored} not stored`);
  return parts.join(', ');
}

/** An outage is one cause, whichever way it shows. */
const causeOf = (error: unknown): string =>
  error instanceof ServiceError ? 'outage' : withoutNumbers(messageOf(error));

const withoutNumbers = (text: string): string => text.replace(/\d+/g, '#');
