import type { Context } from '../../context.ts';
import { utf8 } from '../../json/bytes.ts';
import type { Messages } from '../../output/messages.ts';
import type { StdoutWriter } from '../../output/stdout.ts';
import { paletteFor, escapeJson } from '../../output/terminal/terminal.ts';
import type { BackfillRound } from '../../receiver/backfill.ts';
import type { RedactDelivery } from '../../inbox/store-options.ts';
import { deliveryRedactor } from '../../receiver/credentials.ts';
import type { AnsweredDelivery, ForwardAttempt } from '../../receiver/receiver-events.ts';
import type { Target } from '../../receiver/targets/target.ts';
import { formatDuration } from '../../time/time-text.ts';
import type { Verifier } from '../../webhook/scheme.ts';
import type { ListenOptions } from './command.ts';
import { eventsPrinter, type Listening, redactedMembers, type Tally } from './print-events.ts';
import { prettyPrinter } from './print-pretty.ts';

interface OutputOptions {
  readonly format: ListenOptions['format'];
  readonly stdout: StdoutWriter;
  readonly verifier: Verifier;
  readonly targets: readonly Pick<Target, 'name'>[];
}

/**
 * Prints the events of a run: each to stdout, as `--format` says; the requests of `--verbose` and the final counts to stderr. The
 * duration of the run counts from this call. The promises resolve at once, unless the reader of stdout is slower than the events,
 * which then wait for it.
 */
export async function openDeliveryOutput(
  options: OutputOptions,
  context: Pick<Context, 'stdout' | 'env' | 'globals' | 'clock' | 'messages'>,
) {
  const { clock, globals, messages } = context;
  const { stdout } = options;
  const redactor = deliveryRedactor(options.verifier);
  const printer = await choosePrinter(options, redactor, context);
  const tally: Tally = { accepted: 0, duplicate: 0, rejected: 0, other: 0, reasons: {} };
  const printRequest = globals.verbose ? requestPrinter(messages, redactor) : undefined;
  const startedAt = clock.now();
  return {
    delivery(event: AnsweredDelivery): Promise<void> | void {
      addToTally(event, tally);
      printRequest?.(event);
      return stdout.write(printer.delivery(event));
    },
    forward: (attempt: ForwardAttempt): Promise<void> | void =>
      stdout.write(printer.forward?.(attempt) ?? ''),
    listening: (listening: Listening) => stdout.write(printer.listening?.(listening) ?? ''),
    backfill: (round: BackfillRound): Promise<void> | void => stdout.write(printer.backfill?.(round) ?? ''),
    /** Resolves when everything was written, or the reader of stdout is gone. */
    async summary(): Promise<void> {
      const durationMs = clock.now() - startedAt;
      await stdout.write(printer.summary?.(tally, durationMs) ?? '');
      await stdout.drained();
      messages.say(summaryLine(tally, durationMs));
    },
  };
}

export type DeliveryOutput = Awaited<ReturnType<typeof openDeliveryOutput>>;

function addToTally({ verdict, reason }: AnsweredDelivery, tally: Tally): void {
  tally[verdict] += 1;
  if (verdict !== 'rejected' || reason === undefined) return;
  tally.reasons[reason] = (tally.reasons[reason] ?? 0) + 1;
}

const shownBodyBytes = 4096;

function requestPrinter(
  messages: Pick<Messages, 'verbose'>,
  redactor: RedactDelivery,
): (event: AnsweredDelivery) => void {
  return ({ delivery, position }) => {
    // A request with several leads is printed with the first of them.
    if (position !== undefined && position.number > 1) return;
    const { method, body } = delivery;
    messages.verbose(`${method} ${redactor.path(delivery)}`);
    for (const [name, value] of redactor.headers(delivery)) messages.verbose(`  ${name}: ${value}`);
    const text = Buffer.from(body.subarray(0, shownBodyBytes)).toString('utf8');
    messages.verbose(`  ${text}${body.length > shownBodyBytes ? ` … (${body.length} bytes)` : ''}`);
  };
}

function summaryLine(tally: Tally, durationMs: number): string {
  const { accepted, duplicate, rejected, reasons } = tally;
  const parts = [`${accepted} accepted`];
  if (duplicate > 0) parts.push(`${duplicate} duplicate`);
  if (tally.other > 0) parts.push(`${tally.other} other`);
  if (rejected > 0) {
    const counts = Object.entries(reasons).map(([reason, times]) => `${times} ${reason}`);
    parts.push(`${rejected} rejected (${counts.join(', ')})`);
  }
  return `${parts.join(', ')} in ${formatDuration(durationMs)}`;
}

/** Returns the text of an event for stdout; a form that prints nothing for an event lacks the member. */
interface Printer {
  listening?(listening: Listening): string;
  delivery(delivery: AnsweredDelivery): string;
  forward?(attempt: ForwardAttempt): string;
  backfill?(round: BackfillRound): string;
  summary?(tally: Tally, durationMs: number): string;
}

async function choosePrinter(
  { format, targets }: OutputOptions,
  redactor: RedactDelivery,
  context: Pick<Context, 'stdout' | 'env' | 'globals'>,
): Promise<Printer> {
  const isTerminal = context.stdout.isTTY === true;
  switch (format) {
    case 'events':
      return eventsPrinter(isTerminal);
    case 'redacted':
      return eventsPrinter(true, redactedMembers);
    case 'leads':
      return leadsPrinter(isTerminal);
    case 'pretty':
      return prettyPrinter(await paletteFor(context.stdout, context), targets, redactor);
  }
}

function leadsPrinter(isTerminal: boolean): Printer {
  return {
    delivery({ verdict, lead }) {
      if (verdict !== 'accepted' || lead === undefined) return '';
      const text = utf8(lead);
      return `${isTerminal ? escapeJson(text) : text}\n`;
    },
  };
}
