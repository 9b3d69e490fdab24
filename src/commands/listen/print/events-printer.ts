import { utf8 } from '../../../json/bytes.ts';
import { escapeJson } from '../../../output/sanitize.ts';
import { endText } from './backfill-messages.ts';
import type { Printer } from './printer.ts';

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
export function eventsPrinter(isTerminal: boolean): Printer {
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
