import { rejectForeignHeaders } from '../../config/extra-headers.ts';
import type { Context } from '../../context.ts';
import { ConfigError, describe, noteText, ServiceError } from '../../errors.ts';
import type { Messages } from '../../output/messages.ts';
import { backfill, type BackfillRound } from '../../receiver/backfill.ts';
import type { Receiver } from '../../receiver/receiver.ts';
import { openService, type Service } from '../../service/client/service.ts';
import { formatDuration, formatSeconds } from '../../time/time-text.ts';
import type { DeliveryOutput } from './print.ts';
import type { ListenSession } from './session.ts';

type RunRounds = (receiver: Receiver, output: DeliveryOutput) => Promise<ConfigError | undefined>;

/**
 * `--backfill`: gives the function that runs and reports the rounds, or undefined without the flag. That resolves when the run
 * stops, or after the only round: with its error where no key could be had. Throws a `ConfigError` for settings that cannot work.
 */
export function backfillRounds(session: ListenSession): RunRounds | undefined {
  const { flags, settings, context, inbox, note, stop } = session;
  const { backfill: windowMs, backfillEvery: everyMs } = flags;
  if (windowMs === undefined) return undefined;
  const { clock, messages } = context;
  const { signal } = stop;
  rejectForeignHeaders(settings, settings.account().baseUrl);
  const service = openedOnce(context, signal);
  return async (receiver, output) => {
    let noKey: ConfigError | undefined;
    const isNews = roundSayer(messages);
    await backfill({
      ...{ service, inbox, receiver, clock, signal, note, windowMs, everyMs },
      async onRound(round) {
        const { end } = round;
        if (everyMs === undefined && end.kind === 'failed' && end.error instanceof ConfigError)
          noKey = end.error;
        if (isNews(round)) await output.backfill(round);
      },
    });
    return noKey;
  };
}

/** The command that gives the key runs in a round: deliveries need none, and what the command asks may be away. */
function openedOnce(context: Context, signal: AbortSignal): () => Promise<Service> {
  const untilStopped = Object.create(context, { signal: { value: signal } }) as Context;
  let service: Service | undefined;
  return async () => (service ??= await openService(untilStopped));
}

/**
 * Reports the rounds of `--backfill` on stderr: a round that changed nothing is silent, and each cause is named once. Returns
 * whether the round is worth a line on stdout: the first one, one that brought something, or one that failed.
 */
function roundSayer(messages: Pick<Messages, 'say' | 'warn'>): (round: BackfillRound) => boolean {
  const unproven = new Set<string>();
  let failing: { readonly cause: string; readonly since: number } | undefined;
  return (round) => {
    const { number, end, startedAt, durationMs, everyMs, fetched, notStored } = round;
    const isInterrupted = end.kind === 'interrupted';
    const isIncomplete = end.kind === 'failed' || end.kind === 'unproven';
    if (end.kind === 'failed') {
      const { message, hint } = describe(end.error);
      // An outage is one cause, in whichever form it shows.
      const cause = end.error instanceof ServiceError ? 'outage' : withoutNumbers(message);
      const next = everyMs === undefined ? '' : `; trying again every ${formatSeconds(everyMs)}`;
      if (failing?.cause !== cause)
        messages.warn(noteText({ message: `the backfill ended early: ${message}${next}`, hint }));
      failing = { cause, since: failing?.since ?? startedAt };
    } else if (failing !== undefined && !isInterrupted) {
      const awayMs = startedAt + durationMs - failing.since;
      messages.say(`the backfill works again, after ${formatDuration(awayMs)}`);
      failing = undefined;
    }
    if (end.kind === 'unproven') {
      const { message } = end.reason;
      const cause = withoutNumbers(message);
      if (!unproven.has(cause)) messages.warn(`the backfill may lack leads: ${message}`);
      unproven.add(cause);
    }
    const isFirst = number === 1 && (end.kind === 'complete' || end.kind === 'unproven');
    const isNews = fetched + notStored > 0 || isFirst;
    const how = isInterrupted ? ', interrupted' : end.kind === 'failed' ? ', ended early' : '';
    if (isNews) messages.say(`backfill: ${counted(round)}${how}`);
    return isNews || isIncomplete;
  };
}

function counted({ fetched, known: duplicates, notStored }: BackfillRound): string {
  const lost = notStored > 0 ? `, ${notStored} not stored` : '';
  return `${fetched} fetched, ${duplicates} already known${lost}`;
}

/** Numbers differ from round to round where the cause is the same. */
const withoutNumbers = (message: string): string => message.replace(/\d+/g, '#');
