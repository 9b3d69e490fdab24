import type { Context } from '../../context.ts';
import { describe, noteText } from '../../describe.ts';
import { messageOf, ServiceError } from '../../errors.ts';
import { utf8 } from '../../json/bytes.ts';
import type { Messages } from '../../output/messages.ts';
import type { StdoutWriter } from '../../output/stdout.ts';
import { type Palette, paletteFor, escapeJson, sanitize } from '../../output/terminal/terminal.ts';
import type { BackfillRound, RoundEnd } from '../../receiver/backfill.ts';
import type { RedactDelivery } from '../../inbox/store-options.ts';
import { deliveryRedactor } from '../../receiver/credentials.ts';
import type { AnsweredDelivery, ForwardAttempt } from '../../receiver/receiver-events.ts';
import type { Target } from '../../receiver/targets/target.ts';
import { formatDuration, formatSeconds } from '../../time/time-text.ts';
import type { Verifier } from '../../webhook/scheme.ts';
import type { ListenOptions } from './command.ts';

interface OutputOptions {
  readonly format: ListenOptions['format'];
  readonly stdout: StdoutWriter;
  readonly verifier: Verifier;
  readonly targets: readonly Pick<Target, 'name'>[];
}

/**
 * Prints what happens in a run: data to stdout in the form of `--format`, requests and the final counts to stderr. The duration
 * of the run counts from this call.
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
  const sayRound = roundSayer(messages);
  const printRequest = globals.verbose ? requestPrinter(messages, redactor) : undefined;
  const started = clock.now();
  return {
    /** A promise while the reader of stdout is slower than the deliveries, which wait for it. */
    delivery(event: AnsweredDelivery): Promise<void> | void {
      const { verdict, reason } = event;
      tally[verdict] += 1;
      if (verdict === 'rejected' && reason !== undefined)
        tally.reasons[reason] = (tally.reasons[reason] ?? 0) + 1;
      printRequest?.(event);
      return stdout.write(printer.delivery(event));
    },
    forward: (attempt: ForwardAttempt): Promise<void> | void =>
      stdout.write(printer.forward?.(attempt) ?? ''),
    listening: (listening: Listening) => stdout.write(printer.listening?.(listening) ?? ''),
    backfill: async (round: BackfillRound): Promise<void> => {
      if (sayRound(round)) await stdout.write(printer.backfill?.(round) ?? '');
    },
    /** Resolves when everything was written, or the reader of stdout is gone. */
    async summary(): Promise<void> {
      const durationMs = clock.now() - started;
      await stdout.write(printer.summary?.(tally, durationMs) ?? '');
      await stdout.drained();
      messages.say(summaryLine(tally, durationMs));
    },
  };
}

const shownBodyBytes = 4096;

function requestPrinter(
  messages: Pick<Messages, 'verbose'>,
  redactor: RedactDelivery,
): (event: AnsweredDelivery) => void {
  return ({ delivery, position }) => {
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

export interface Listening {
  readonly url: string;
  readonly path: string | undefined;
  readonly scheme: string;
  /** The inbox's file, `:memory:`, or the URL of its database without password. */
  readonly inbox: string;
  readonly caPath: string | undefined;
  readonly admin?: string | undefined;
}

interface Tally extends Record<AnsweredDelivery['verdict'], number> {
  readonly reasons: Record<string, number>;
}

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

/** Formats each time once: many deliveries share a millisecond, and its text is the most expensive part of a line. */
function isoTimes(): (ms: number) => string {
  let last = Number.NaN;
  let text = '';
  return (ms) => {
    if (ms !== last) text = new Date(ms).toISOString();
    last = ms;
    return text;
  };
}

/** The members of what concerns a lead that may stand in a log: of what a sender wrote nothing but the id. */
const redactedMembers =
  'type receivedAt at verdict reason leadId target attempt state ok status durationMs'.split(' ');

/**
 * Prints one JSON object a line; of deliveries and forwards only these members. `lead` is the lead's own text, which is inserted as
 * it is, and never parsed.
 */
function eventsPrinter(isTerminal: boolean, members?: string[]): Printer {
  const iso = isoTimes();
  const line = (json: string): string => `${isTerminal ? escapeJson(json) : json}\n`;
  return {
    listening: ({ url, path = null, scheme, inbox, caPath = null, admin }) =>
      line(JSON.stringify({ type: 'listening', url, path, scheme, inbox, ca: caPath, admin })),
    delivery(event) {
      const { verdict, reason = null, detail, status, durationMs, leadId = null, attempt = null } = event;
      const { receivedAt, remote } = event.delivery;
      const { position, source, differs, warnings, explanation, firstAt, lead } = event;
      const record = {
        type: 'delivery',
        receivedAt: iso(receivedAt),
        verdict,
        reason,
        detail,
        status,
        durationMs,
        leadId,
        leadNumber: position?.number,
        leadCount: position?.of,
        remote,
        attempt,
        firstAt: firstAt === undefined ? undefined : iso(firstAt),
        source,
        differs,
        warnings: warnings === undefined || warnings.length === 0 ? undefined : warnings,
        explanation,
      };
      const json = JSON.stringify(record, members);
      if (members !== undefined) return line(json);
      return line(`${json.slice(0, -1)},"lead":${lead === undefined ? 'null' : utf8(lead)}}`);
    },
    forward({ at: endedAt, leadId, target, attempt, state, retryInMs, result }) {
      const { ok, answer, status = null, durationMs, body } = result;
      const dueAt = retryInMs === undefined ? null : new Date(endedAt + retryInMs).toISOString();
      const record = {
        type: 'forward',
        at: iso(endedAt),
        leadId,
        target,
        attempt,
        state,
        ok,
        answer,
        status,
        durationMs,
        dueAt,
        body,
      };
      return line(JSON.stringify(record, members));
    },
    backfill({ number, startedAt, durationMs, end, fetched, known: duplicates, notStored }) {
      const error = end.kind !== 'complete' ? endText(end) : notStored > 0 ? `${notStored} not stored` : null;
      const counts = { fetched, known: duplicates, notStored };
      const ended = { durationMs, ...counts, complete: error === null, error };
      return line(JSON.stringify({ type: 'backfill', round: number, startedAt: iso(startedAt), ...ended }));
    },
    summary: (tally, durationMs) => line(JSON.stringify({ type: 'summary', ...tally, durationMs })),
  };
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

/**
 * Prints a line for each delivery: time, verdict, lead, reason, duration. Remarks follow on lines of their own, and so do the
 * attempts to forward the lead, each with the id where another line came in between.
 */
function prettyPrinter(
  colours: Palette,
  targets: OutputOptions['targets'],
  redactor: RedactDelivery,
): Printer {
  const shownWarnings = new Set<string>();
  const kinds = targets.map(({ name }) => name.split(' ', 1)[0]);
  let last: string | undefined;
  const colourOf = {
    accepted: colours.green,
    duplicate: colours.cyan,
    rejected: colours.red,
    other: colours.dim,
  };
  return {
    delivery(event) {
      const { delivery, verdict, durationMs } = event;
      last = event.leadId;
      const when = colours.dim(`${new Date(delivery.receivedAt).toISOString().slice(11, 19)}Z`);
      const took = colours.dim(formatDuration(durationMs));
      const first = `${when}  ${colourOf[verdict](verdict.padEnd(9))}  ${subject(event)}  ${took}`;
      const remarkLines = remarks(event, redactor.path(delivery), shownWarnings).map(
        (text) => `           ${sanitize(text)}`,
      );
      return `${[first, ...remarkLines].join('\n')}\n`;
    },
    forward({ at: endedAt, leadId, target, attempt, state, retryInMs, result }) {
      const { to, answer, durationMs, body = '' } = result;
      const name = kinds.indexOf(to) === kinds.lastIndexOf(to) ? to : target;
      const next =
        state === 'dead'
          ? ', dead'
          : retryInMs === undefined
            ? ''
            : `, again at ${new Date(endedAt + retryInMs).toISOString().slice(11, 19)}Z`;
      const times = attempt > 1 ? `attempt ${attempt}: ` : '';
      const text = `${name}: ${times}${answer} (${formatDuration(durationMs)})${next} ${body}`.trimEnd();
      const isBelow = last === leadId;
      last = leadId;
      return `           ${sanitize(isBelow ? text : `${shortened(leadId)}  ${text}`)}\n`;
    },
  };
}

function subject(event: AnsweredDelivery): string {
  const { leadId, verdict, status, reason, lead, position } = event;
  const parts = leadId === undefined ? [] : [sanitize(shortened(leadId))];
  if (lead !== undefined) parts.push(...nameAndCategory(lead));
  if (position !== undefined) parts.push(`${position.number} of ${position.of}`);
  if (reason !== undefined) parts.push(verdict === 'rejected' ? `${status} ${reason}` : reason);
  if (event.source === 'backfill') parts.push('fetched from the service');
  return parts.join('  ');
}

function nameAndCategory(bytes: Uint8Array): string[] {
  const lead = JSON.parse(utf8(bytes)) as {
    contact?: { name?: unknown } | null;
    category?: unknown;
  };
  const texts = [lead.contact?.name, lead.category];
  return texts.filter((text) => typeof text === 'string').map((text) => sanitize(shortened(text)));
}

/** Shows every deviation from the specification once, since a service repeats it in every lead. */
function remarks(event: AnsweredDelivery, path: string, shownWarnings: Set<string>): string[] {
  const { detail, attempt = 1, firstAt, differs, warnings = [], explanation = [] } = event;
  const lines: string[] = [];
  if (detail !== undefined) {
    // A request that was no HTTP has no method and no path.
    const { method, remote } = event.delivery;
    const request = method === '' ? '' : `${method} ${shortened(path)} `;
    lines.push(`${detail} (${request}from ${remote})`);
  }
  if (attempt > 1 && firstAt !== undefined) {
    lines.push(`delivery ${attempt} of this id, first received ${new Date(firstAt).toISOString()}`);
  }
  if (differs !== undefined) {
    lines.push(
      differs[0] === '*'
        ? 'the payload differs from the first one, and was not compared in detail'
        : `the payload differs from the first one in ${differs.join(', ')}`,
    );
  }
  const fresh = warnings.filter((warning) => !shownWarnings.has(warning));
  for (const warning of fresh) shownWarnings.add(warning);
  if (fresh.length > 0) lines.push(`not as specified: ${fresh.join(', ')}`);
  lines.push(...explanation);
  return lines;
}

const longest = 80;

const shortened = (text: string): string => (text.length > longest ? `${text.slice(0, longest)}…` : text);

function endText(end: Exclude<RoundEnd, { kind: 'complete' }>): string {
  if (end.kind === 'interrupted') return 'interrupted';
  return end.kind === 'unproven' ? `leads may be missing: ${end.reason.message}` : messageOf(end.error);
}
