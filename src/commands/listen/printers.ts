import type { Context } from '../../context.ts';
import { sentenceOf } from '../../messages/catalogue.ts';
import type { VerdictKind } from '../../inbox/decide-verdict.ts';
import { utf8 } from '../../json/bytes.ts';
import { escapeJson, sanitize } from '../../output/sanitize.ts';
import { type Palette, paletteFor } from '../../output/terminal/colour.ts';
import type { BackfillRound, RoundEnd } from '../../receiver/backfill.ts';
import type { AnsweredDelivery } from '../../receiver/receiver-events.ts';
import { formatDuration } from '../../time/duration.ts';
import type { RejectReason } from '../../webhook/rejection.ts';
import type { ListenOptions } from './options.ts';

/** The address of a receiver that is ready, and how it works. */
export interface Listening {
  readonly url: string;
  readonly path: string | undefined;
  readonly scheme: string;
  /** The inbox's file, `:memory:`, or the URL of its database without password. */
  readonly inbox: string;
  readonly caPath: string | undefined;
  /** URL of `--admin`. */
  readonly admin?: string | undefined;
}

/** One form of stdout: the text for each thing that happens, empty for nothing. */
export interface Printer {
  listening(listening: Listening): string;
  delivery(delivery: AnsweredDelivery): string;
  /** A round of `--backfill`, after the deliveries that it made. */
  backfill(round: BackfillRound): string;
  summary(tally: Tally, durationMs: number): string;
}

/** The printer for `--format`. */
export async function choosePrinter(
  format: ListenOptions['format'],
  context: Pick<Context, 'stdout' | 'env' | 'globals'>,
): Promise<Printer> {
  const isTerminal = context.stdout.isTTY === true;
  switch (format) {
    case 'events':
      return eventsPrinter(isTerminal);
    case 'leads':
      return leadsPrinter(isTerminal);
    case 'pretty':
      return prettyPrinter(await paletteFor(context.stdout, context));
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

/** One JSON object a line. `lead` is the lead's own text, inserted as it is: never parsed and written again. */
function eventsPrinter(isTerminal: boolean): Printer {
  const iso = isoTimes();
  const line = (json: string): string => `${isTerminal ? escapeJson(json) : json}\n`;
  return {
    listening: ({ url, path = null, scheme, inbox, caPath = null, admin }) =>
      line(JSON.stringify({ type: 'listening', url, path, scheme, inbox, ca: caPath, admin })),
    delivery(event) {
      const { verdict, reason, detail, status, durationMs, leadId, remote, attempt } = event;
      const { position, source, differs, warnings, targetResults, explanation } = event;
      const record = JSON.stringify({
        type: 'delivery',
        receivedAt: iso(event.receivedAt),
        verdict,
        reason: reason ?? null,
        detail,
        status,
        durationMs,
        leadId: leadId ?? null,
        leadNumber: position?.number,
        leadCount: position?.of,
        remote,
        attempt: attempt ?? null,
        firstAt: event.firstAt === undefined ? undefined : iso(event.firstAt),
        source,
        differs,
        warnings: warnings === undefined || warnings.length === 0 ? undefined : warnings,
        handed: targetResults === undefined || targetResults.length === 0 ? undefined : targetResults,
        explanation,
      });
      const lead = event.lead === undefined ? 'null' : utf8(event.lead);
      return line(`${record.slice(0, -1)},"lead":${lead}}`);
    },
    backfill({ number, startedAt, durationMs, end, fetched, known, handedOn, pending, notStored }) {
      const counts = { fetched, known, handedOn, pending, notStored };
      const error = end.kind !== 'complete' ? endText(end) : notStored > 0 ? `${notStored} not stored` : null;
      const ended = { durationMs, ...counts, complete: error === null, error };
      return line(JSON.stringify({ type: 'backfill', round: number, startedAt: iso(startedAt), ...ended }));
    },
    summary: (tally, durationMs) => line(JSON.stringify({ type: 'summary', ...tally, durationMs })),
  };
}

/** Each newly accepted lead on a line, in the webhook's own bytes, compact. */
function leadsPrinter(isTerminal: boolean): Printer {
  return {
    listening: () => '',
    delivery({ verdict, lead }) {
      if (verdict !== 'accepted' || lead === undefined) return '';
      const text = utf8(lead);
      return `${isTerminal ? escapeJson(text) : text}\n`;
    },
    backfill: () => '',
    summary: () => '',
  };
}

/** A line for each delivery: time, verdict, lead, reason, duration; what else is to say follows on lines of its own. */
function prettyPrinter(colours: Palette): Printer {
  const shownWarnings = new Set<string>();
  const colourOf = {
    accepted: colours.green,
    duplicate: colours.cyan,
    pending: colours.yellow,
    rejected: colours.red,
  };
  return {
    listening: () => '',
    delivery(event) {
      const { verdict, durationMs } = event;
      const when = colours.dim(`${new Date(event.receivedAt).toISOString().slice(11, 19)}Z`);
      const took = colours.dim(formatDuration(durationMs));
      const first = `${when}  ${colourOf[verdict](verdict.padEnd(9))}  ${subject(event)}  ${took}`;
      const rest = remarks(event, shownWarnings).map((text) => `           ${sanitize(text)}`);
      return `${[first, ...rest].join('\n')}\n`;
    },
    backfill: () => '',
    summary: () => '',
  };
}

function subject(event: AnsweredDelivery): string {
  const { leadId, verdict, status, reason, lead, position } = event;
  const parts = leadId === undefined ? [] : [sanitize(shortened(leadId))];
  if (lead !== undefined) parts.push(...nameAndCategory(lead));
  if (position !== undefined) parts.push(`${position.number} of ${position.of}`);
  if (verdict === 'pending') parts.push(`answered ${status}`);
  if (verdict === 'rejected') parts.push(`${status} ${reason ?? ''}`);
  if (event.source === 'backfill') parts.push('fetched from the service');
  return parts.join('  ');
}

/** As far as they are text, as the specification says. */
function nameAndCategory(bytes: Uint8Array): string[] {
  const lead = JSON.parse(utf8(bytes)) as {
    contact?: { name?: unknown } | null;
    category?: unknown;
  };
  const texts = [lead.contact?.name, lead.category];
  return texts.filter((text) => typeof text === 'string').map((text) => sanitize(shortened(text)));
}

/** Each deviation from the specification is shown once, since a service repeats it in every lead. */
function remarks(event: AnsweredDelivery, shownWarnings: Set<string>): string[] {
  const {
    verdict,
    detail,
    attempt,
    firstAt,
    differs,
    warnings = [],
    targetResults = [],
    explanation = [],
  } = event;
  const lines: string[] = [];
  if (verdict === 'rejected') {
    // What was no HTTP has neither.
    const request = event.method === '' ? '' : `${event.method} ${shortened(event.path)} `;
    lines.push(`${detail ?? ''} (${request}from ${event.remote})`);
  }
  if (verdict !== 'rejected' && (attempt ?? 1) > 1 && firstAt !== undefined) {
    lines.push(`delivery ${attempt ?? 1} of this id, first received ${new Date(firstAt).toISOString()}`);
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
  for (const { to, answer, durationMs, body } of targetResults) {
    lines.push(`${to}: ${answer} (${formatDuration(durationMs)})${body === undefined ? '' : ` ${body}`}`);
  }
  lines.push(...explanation);
  return lines;
}

const longest = 80;

const shortened = (text: string): string => (text.length > longest ? `${text.slice(0, longest)}…` : text);

/** Deliveries by verdict, and rejected ones by reason. */
export type Tally = Record<VerdictKind, number> & { readonly reasons: Partial<Record<RejectReason, number>> };

/** Why a round did not read everything, in a few words. */
function endText(end: Exclude<RoundEnd, { kind: 'complete' }>): string {
  if (end.kind === 'interrupted') return 'interrupted';
  return end.kind === 'unproven' ? `leads may be missing: ${end.why}` : sentenceOf(end.error);
}
