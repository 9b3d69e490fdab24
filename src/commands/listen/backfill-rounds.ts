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

/** Resolves when the run stops, or after the only round: with its error if the key of the service could not be had. */
type RunRounds = (receiver: Receiver, output: DeliveryOutput) => Promise<ConfigError | undefined>;

/**
 * `--backfill`: returns the function that runs and reports the rounds, or undefined without the flag. Throws a `ConfigError` for
 * settings that cannot work.
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
    let keyError: ConfigError | undefined;
    const report = roundReporter(messages);
    await backfill({
      ...{ service, inbox, receiver, clock, signal, note, windowMs, everyMs },
      async onRound(round) {
        const { end } = round;
        const isOnlyRound = everyMs === undefined;
        if (isOnlyRound && end.kind === 'failed' && end.error instanceof ConfigError) keyError = end.error;
        report(round);
        if (isPrinted(round)) await output.backfill(round);
      },
    });
    return keyError;
  };
}

/**
 * Opens the service in the first round that can, and not before the receiver: the command of the profile that gives the key may
 * fail for a while, and deliveries need no key.
 */
function openedOnce(context: Context, signal: AbortSignal): () => Promise<Service> {
  const untilStopped = Object.create(context, { signal: { value: signal } }) as Context;
  let service: Service | undefined;
  return async () => (service ??= await openService(untilStopped));
}

/** Whether a round changed the inbox, or tried to, or was the first that read the whole list. */
function hasNews({ number, end, fetched, notStored }: BackfillRound): boolean {
  const isWholeList = end.kind === 'complete' || end.kind === 'unproven';
  return fetched + notStored > 0 || (number === 1 && isWholeList);
}

const isPrinted = (round: BackfillRound): boolean =>
  hasNews(round) || round.end.kind === 'failed' || round.end.kind === 'unproven';

/**
 * Reports the rounds on stderr: a round without news is silent, and each cause of a failure or a doubt is named once. `outage` has
 * the cause of the last round's failure, and when the first of the failed rounds in a row began, in ms.
 */
function roundReporter(messages: Pick<Messages, 'say' | 'warn'>): (round: BackfillRound) => void {
  const unprovenCauses = new Set<string>();
  let outage: { readonly cause: string; readonly since: number } | undefined;
  const reportFailure = (error: unknown, { startedAt, everyMs }: BackfillRound): void => {
    const { message, hint } = describe(error);
    // The service fails in many ways during one outage, which is one cause.
    const cause = error instanceof ServiceError ? 'outage' : withoutNumbers(message);
    const next = everyMs === undefined ? '' : `; trying again every ${formatSeconds(everyMs)}`;
    if (outage?.cause !== cause)
      messages.warn(noteText({ message: `the backfill ended early: ${message}${next}`, hint }));
    outage = { cause, since: outage?.since ?? startedAt };
  };
  const reportRecovery = ({ startedAt, durationMs }: BackfillRound): void => {
    if (outage === undefined) return;
    messages.say(`the backfill works again, after ${formatDuration(startedAt + durationMs - outage.since)}`);
    outage = undefined;
  };
  const reportDoubt = (message: string): void => {
    const cause = withoutNumbers(message);
    if (!unprovenCauses.has(cause)) messages.warn(`the backfill may lack leads: ${message}`);
    unprovenCauses.add(cause);
  };
  const endings = { complete: '', unproven: '', failed: ', ended early', interrupted: ', interrupted' };
  return (round) => {
    const { end } = round;
    if (end.kind === 'failed') reportFailure(end.error, round);
    else if (end.kind !== 'interrupted') reportRecovery(round);
    if (end.kind === 'unproven') reportDoubt(end.reason.message);
    if (hasNews(round)) messages.say(`backfill: ${counted(round)}${endings[end.kind]}`);
  };
}

function counted({ fetched, known: duplicates, notStored }: BackfillRound): string {
  const lost = notStored > 0 ? `, ${notStored} not stored` : '';
  return `${fetched} fetched, ${duplicates} already known${lost}`;
}

/** Numbers differ from round to round where the cause is the same. */
const withoutNumbers = (message: string): string => message.replace(/\d+/g, '#');
