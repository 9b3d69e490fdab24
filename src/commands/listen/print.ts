import { messageOf } from '../../errors.ts';
import type { RedactDelivery } from '../../inbox/store-options.ts';
import { utf8 } from '../../json/bytes.ts';
import type { Messages } from '../../output/messages.ts';
import type { StdoutWriter } from '../../output/stdout.ts';
import { escapeJson, type Palette, paletteFor, sanitize } from '../../output/terminal/terminal.ts';
import type { BackfillRound } from '../../receiver/backfill.ts';
import { deliveryRedactor } from '../../receiver/credentials.ts';
import type { AnsweredDelivery, ForwardAttempt } from '../../receiver/receiver-events.ts';
import type { Target } from '../../receiver/targets/target.ts';
import { formatDuration } from '../../time/time-text.ts';
import type { ListenSession } from './session.ts';

/**
 * Prints the events of a run: each to stdout, as `--format` says; the requests of `--verbose` and the final counts to stderr. The
 * duration of the run counts from this call. The promises resolve at once, unless the reader of stdout is slower than the events,
 * which then wait for it.
 */
export async function openDeliveryOutput(session: ListenSession, stdout: StdoutWriter) {
  const { clock, globals, messages } = session.context;
  const redactor = deliveryRedactor(session.verifier);
  const printer = await choosePrinter(session, redactor);
  const tally: Tally = { accepted: 0, duplicate: 0, rejected: 0, other: 0, reasons: {} };
  const startedAt = clock.now();
  return {
    delivery(event: AnsweredDelivery): Promise<void> | void {
      addToTally(event, tally);
      if (globals.verbose) printRequest(event, redactor, messages);
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

function printRequest(
  { delivery, position }: AnsweredDelivery,
  redactor: RedactDelivery,
  messages: Pick<Messages, 'verbose'>,
): void {
  // A request with several leads is printed with the first of them.
  if (position !== undefined && position.number > 1) return;
  const { method, body } = delivery;
  messages.verbose(`${method} ${redactor.path(delivery)}`);
  for (const [name, value] of redactor.headers(delivery)) messages.verbose(`  ${name}: ${value}`);
  const text = Buffer.from(body.subarray(0, shownBodyBytes)).toString('utf8');
  messages.verbose(`  ${text}${body.length > shownBodyBytes ? ` … (${body.length} bytes)` : ''}`);
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
  { flags: { format }, targets, context }: ListenSession,
  redactor: RedactDelivery,
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

/** `--format redacted` is for logs: nothing that a sender wrote is printed but the id of a lead. */
const redactedMembers =
  'type receivedAt at verdict reason leadId target attempt state ok status durationMs'.split(' ');

/**
 * Prints one JSON object a line. Deliveries and forwards have only the members `allowed`, if these are named; otherwise a
 * delivery has `lead` as well: the lead's own text, which is inserted as it is and never parsed.
 */
function eventsPrinter(isEscaped: boolean, allowed?: string[]) {
  const iso = isoTimes();
  const line = (json: string): string => `${isEscaped ? escapeJson(json) : json}\n`;
  return {
    listening(listening: Listening): string {
      const { url, path = null, scheme, inbox, caPath = null, admin } = listening;
      return line(JSON.stringify({ type: 'listening', url, path, scheme, inbox, ca: caPath, admin }));
    },
    delivery(event: AnsweredDelivery): string {
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
      const json = JSON.stringify(record, allowed);
      if (allowed !== undefined) return line(json);
      const withoutBrace = json.slice(0, -1);
      return line(`${withoutBrace},"lead":${lead === undefined ? 'null' : utf8(lead)}}`);
    },
    forward({ at: endedAt, leadId, target, attempt, state, retryInMs, result }: ForwardAttempt): string {
      const { ok, answer, status = null, durationMs } = result;
      const dueAt = retryInMs === undefined ? null : new Date(endedAt + retryInMs).toISOString();
      const forward = { type: 'forward', at: iso(endedAt), leadId, target, attempt, state };
      return line(JSON.stringify({ ...forward, ok, answer, status, durationMs, dueAt }, allowed));
    },
    backfill(round: BackfillRound): string {
      const { number, startedAt, durationMs, fetched, known: duplicates, notStored } = round;
      const error = errorOf(round);
      const start = { type: 'backfill', round: number, startedAt: iso(startedAt), durationMs };
      const counts = { fetched, known: duplicates, notStored };
      return line(JSON.stringify({ ...start, ...counts, complete: error === null, error }));
    },
    summary: (tally: Tally, durationMs: number): string =>
      line(JSON.stringify({ type: 'summary', ...tally, durationMs })),
  };
}

/** Formats a time once for all lines that share it: a millisecond has many, and its text is the most expensive part of a line. */
function isoTimes(): (ms: number) => string {
  let lastMs = Number.NaN;
  let text = '';
  return (ms) => {
    if (ms !== lastMs) text = new Date(ms).toISOString();
    lastMs = ms;
    return text;
  };
}

/** The reason why the inbox may lack leads after a round; null: it lacks none. */
function errorOf({ end, notStored }: BackfillRound): string | null {
  if (end.kind === 'interrupted') return 'interrupted';
  if (end.kind === 'failed') return messageOf(end.error);
  if (end.kind === 'unproven') return `leads may be missing: ${end.reason.message}`;
  return notStored > 0 ? `${notStored} not stored` : null;
}

/** Lines below a delivery begin under its verdict, behind `HH:MM:SSZ` and two spaces. */
const indent = ' '.repeat(11);

const timeOfDay = (ms: number): string => `${new Date(ms).toISOString().slice(11, 19)}Z`;

/**
 * Prints a line for each delivery: time, verdict, lead, reason, duration. Remarks follow on lines of their own, and so do the
 * attempts to forward the lead, each with the id of the lead if the line above is not about that.
 */
function prettyPrinter(colours: Palette, targets: readonly Pick<Target, 'name'>[], redactor: RedactDelivery) {
  // A service repeats its deviations from the specification in every lead: each is shown once.
  const shownWarnings = new Set<string>();
  const kinds = targets.map(({ name }) => name.split(' ', 1)[0]);
  const isOnlyOfKind = (kind: string): boolean => kinds.indexOf(kind) === kinds.lastIndexOf(kind);
  let lastLeadId: string | undefined;
  const { green, cyan, red, dim } = colours;
  const colourOf = { accepted: green, duplicate: cyan, rejected: red, other: dim };
  return {
    delivery(event: AnsweredDelivery): string {
      const { delivery, verdict, durationMs } = event;
      lastLeadId = event.leadId;
      const time = dim(timeOfDay(delivery.receivedAt));
      const duration = dim(formatDuration(durationMs));
      const firstLine = `${time}  ${colourOf[verdict](verdict.padEnd(9))}  ${subject(event)}  ${duration}`;
      const warnings = (event.warnings ?? []).filter((warning) => !shownWarnings.has(warning));
      for (const warning of warnings) shownWarnings.add(warning);
      const lines = remarks({ ...event, warnings }, redactor.path(delivery));
      return `${[firstLine, ...lines.map((text) => indent + sanitize(text))].join('\n')}\n`;
    },
    forward(attempt: ForwardAttempt): string {
      const { leadId, target, result } = attempt;
      const name = isOnlyOfKind(result.to) ? result.to : target;
      const text = `${name}: ${attemptText(attempt)}`;
      const isBelowLead = lastLeadId === leadId;
      lastLeadId = leadId;
      return `${indent}${sanitize(isBelowLead ? text : `${shortened(leadId)}  ${text}`)}\n`;
    },
  };
}

function attemptText({ at: endedAt, attempt, state, retryInMs, result }: ForwardAttempt): string {
  const { answer, durationMs } = result;
  const times = attempt > 1 ? `attempt ${attempt}: ` : '';
  const retry = retryInMs === undefined ? '' : `, again at ${timeOfDay(endedAt + retryInMs)}`;
  const next = state === 'dead' ? ', dead' : retry;
  return `${times}${answer} (${formatDuration(durationMs)})${next}`;
}

function subject(event: AnsweredDelivery): string {
  const { leadId, verdict, status, reason, lead, position } = event;
  const parts: string[] = [];
  if (leadId !== undefined) parts.push(sanitize(shortened(leadId)));
  if (lead !== undefined) parts.push(...nameAndCategory(lead));
  if (position !== undefined) parts.push(`${position.number} of ${position.of}`);
  if (reason !== undefined) parts.push(verdict === 'rejected' ? `${status} ${reason}` : reason);
  if (event.source === 'backfill') parts.push('fetched from the service');
  return parts.join('  ');
}

function nameAndCategory(bytes: Uint8Array): string[] {
  const lead = JSON.parse(utf8(bytes)) as { contact?: { name?: unknown } | null; category?: unknown };
  const texts = [lead.contact?.name, lead.category];
  return texts.filter((text) => typeof text === 'string').map((text) => sanitize(shortened(text)));
}

function remarks(event: AnsweredDelivery, path: string): string[] {
  const { detail, attempt: deliveryNumber = 1, firstAt, differs, warnings = [], explanation = [] } = event;
  const lines: string[] = [];
  if (detail !== undefined) {
    // A request that was no HTTP has no method and no path.
    const { method, remote } = event.delivery;
    const request = method === '' ? '' : `${method} ${shortened(path)} `;
    lines.push(`${detail} (${request}from ${remote})`);
  }
  if (deliveryNumber > 1 && firstAt !== undefined) {
    lines.push(`delivery ${deliveryNumber} of this id, first received ${new Date(firstAt).toISOString()}`);
  }
  if (differs !== undefined) {
    const where = differs[0] === '*' ? ', and was not compared in detail' : ` in ${differs.join(', ')}`;
    lines.push(`the payload differs from the first one${where}`);
  }
  if (warnings.length > 0) lines.push(`not as specified: ${warnings.join(', ')}`);
  lines.push(...explanation);
  return lines;
}

const longestText = 80;

const shortened = (text: string): string =>
  text.length > longestText ? `${text.slice(0, longestText)}…` : text;
