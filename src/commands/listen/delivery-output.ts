import type { Context } from '../../context.ts';
import { ServiceError } from '../../errors.ts';
import { sentenceOf } from '../../messages/catalogue.ts';
import type { Messages } from '../../output/messages.ts';
import type { StdoutWriter } from '../../output/stdout.ts';
import type { BackfillRound } from '../../receiver/backfill.ts';
import { deliveryRedactor } from '../../receiver/inbox-requirements.ts';
import type { AnsweredDelivery, Subscribable } from '../../receiver/receiver-events.ts';
import { formatDuration, formatSeconds } from '../../time/duration.ts';
import type { Verifier } from '../../webhook/scheme.ts';
import type { ListenOptions } from './options.ts';
import { choosePrinter, type Listening, type Tally } from './printers.ts';

/** What a run prints: data to stdout in the form of `--format`, the count of deliveries and requests to stderr. */
interface DeliveryOutput {
  /** Deliveries wait while the reader of stdout is behind. */
  subscribeTo(events: Subscribable<AnsweredDelivery>): void;
  listening(listening: Listening): Promise<void> | void;
  /** A round of `--backfill` that found something or failed. */
  readonly backfill: (round: BackfillRound) => Promise<void>;
  /** Resolves when everything has left, or the reader was given up. */
  summary(): Promise<void>;
}

/** The run's duration counts from now. */
export async function openDeliveryOutput(
  format: ListenOptions['format'],
  stdout: StdoutWriter,
  verifier: Verifier,
  context: Pick<Context, 'stdout' | 'env' | 'globals' | 'clock' | 'messages'>,
): Promise<DeliveryOutput> {
  const { clock, globals, messages } = context;
  const printer = await choosePrinter(format, context);
  const tally: Tally = { accepted: 0, duplicate: 0, pending: 0, rejected: 0, reasons: {} };
  const sayRound = roundSayer(messages);
  const started = clock.now();
  return {
    subscribeTo(events) {
      events.subscribe(({ verdict, reason }) => {
        tally[verdict] += 1;
        if (reason !== undefined) tally.reasons[reason] = (tally.reasons[reason] ?? 0) + 1;
      });
      if (globals.verbose) events.subscribe(requestPrinter(messages, verifier));
      events.subscribe((event) => stdout.write(printer.delivery(event)));
    },
    listening: (listening) => stdout.write(printer.listening(listening)),
    async backfill(round) {
      if (sayRound(round)) await stdout.write(printer.backfill(round));
    },
    async summary() {
      const durationMs = clock.now() - started;
      await stdout.write(printer.summary(tally, durationMs));
      await stdout.drained();
      messages.say(summaryLine(tally, durationMs));
    },
  };
}

/** Of a request's body, in bytes. */
const shownBody = 4096;

/** `--verbose`: each request on stderr, its headers and the start of its body, without credentials. */
function requestPrinter(
  messages: Pick<Messages, 'verbose'>,
  verifier: Verifier,
): (event: AnsweredDelivery) => void {
  const redactor = deliveryRedactor(verifier);
  return ({ delivery, method, path, position }) => {
    if (position !== undefined && position.number > 1) return;
    const { body } = delivery;
    messages.verbose(`${method} ${path}`);
    for (const [name, value] of redactor.headers(delivery)) messages.verbose(`  ${name}: ${value}`);
    const text = Buffer.from(body.subarray(0, shownBody)).toString('utf8');
    messages.verbose(`  ${text}${body.length > shownBody ? ` … (${body.length} bytes)` : ''}`);
  };
}

/** `3 accepted, 1 duplicate, 2 rejected (2 wrong_credential) in 12.0s` */
function summaryLine(tally: Tally, durationMs: number): string {
  const { accepted, duplicate, pending, rejected, reasons } = tally;
  const parts = [`${accepted} accepted`];
  if (duplicate > 0) parts.push(`${duplicate} duplicate`);
  if (pending > 0) parts.push(`${pending} pending`);
  if (rejected > 0) {
    const counts = Object.entries(reasons).map(([reason, times]) => `${times} ${reason}`);
    parts.push(`${rejected} rejected (${counts.join(', ')})`);
  }
  return `${parts.join(', ')} in ${formatDuration(durationMs)}`;
}

/**
 * Says what a person is told of the rounds of `--backfill`: not of one that changed nothing, and of each cause once. Gives
 * whether the round is worth a line on stdout: the first one, one that brought something, or one that failed.
 */
function roundSayer(messages: Pick<Messages, 'say' | 'warn'>): (round: BackfillRound) => boolean {
  const unproven = new Set<string>();
  /** The unbroken row of rounds that failed, the last one included. */
  let failing: { readonly cause: string; readonly since: number } | undefined;
  return (round) => {
    const { number, end, startedAt, durationMs, everyMs, fetched, handedOn, notStored } = round;
    const found = fetched + handedOn + notStored > 0;
    if (end.kind === 'failed') {
      const cause = causeOf(end.error);
      const isSaid = failing?.cause === cause;
      failing = { cause, since: failing?.since ?? startedAt };
      const next = everyMs === undefined ? '' : `; trying again every ${formatSeconds(everyMs)}`;
      const counts = found ? ` (${counted(round)})` : '';
      if (!isSaid) messages.warn(`the backfill ended early${counts}: ${sentenceOf(end.error)}${next}`);
      else if (found) messages.say(`backfill: ${counted(round)}, ended early`);
      return true;
    }
    const isInterrupted = end.kind === 'interrupted';
    if (!isInterrupted && failing !== undefined) {
      const awayMs = startedAt + durationMs - failing.since;
      messages.say(`the backfill works again, after ${formatDuration(awayMs)}`);
      failing = undefined;
    }
    if (end.kind === 'unproven' && !unproven.has(withoutNumbers(end.why))) {
      unproven.add(withoutNumbers(end.why));
      messages.warn(`the backfill may lack leads: ${end.why}`);
    }
    const isNews = found || (number === 1 && !isInterrupted);
    if (isNews) messages.say(`backfill: ${counted(round)}${isInterrupted ? ', interrupted' : ''}`);
    return isNews || end.kind === 'unproven';
  };
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
  error instanceof ServiceError ? 'outage' : withoutNumbers(sentenceOf(error));

const withoutNumbers = (text: string): string => text.replace(/\d+/g, '#');
