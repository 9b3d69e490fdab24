import { messageOf } from '../../errors.ts';
import { utf8 } from '../../json/bytes.ts';
import { escapeJson } from '../../output/terminal/terminal.ts';
import type { BackfillRound } from '../../receiver/backfill.ts';
import type { AnsweredDelivery, ForwardAttempt } from '../../receiver/receiver-events.ts';

export interface Listening {
  readonly url: string;
  readonly path: string | undefined;
  readonly scheme: string;
  /** The inbox's file, `:memory:`, or the URL of its database without password. */
  readonly inbox: string;
  readonly caPath: string | undefined;
  readonly admin?: string | undefined;
}

export interface Tally extends Record<AnsweredDelivery['verdict'], number> {
  readonly reasons: Record<string, number>;
}

/** `--format redacted` is for logs: nothing that a sender wrote is printed but the id of a lead. */
export const redactedMembers =
  'type receivedAt at verdict reason leadId target attempt state ok status durationMs'.split(' ');

/**
 * Prints one JSON object a line. Deliveries and forwards have only the members `allowed`, if these are named; otherwise a
 * delivery has `lead` as well: the lead's own text, which is inserted as it is and never parsed.
 */
export function eventsPrinter(isEscaped: boolean, allowed?: string[]) {
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
