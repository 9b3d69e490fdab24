import { utf8 } from '../../../json/bytes.ts';
import { escapeJson } from '../../../output/sanitize.ts';
import type { Printer } from '../../../receiver/events.ts';

/** Deliveries come many to a millisecond, and its text is the dearest part of their lines: it is made once. */
function isoTimes(): (ms: number) => string {
  let last = Number.NaN;
  let text = '';
  return (ms) => {
    if (ms !== last) text = new Date(ms).toISOString();
    last = ms;
    return text;
  };
}

/** One JSON object a line. `lead` is the lead's own text, spliced in: never parsed and written again. */
export function eventsPrinter(isTerminal: boolean): Printer {
  const iso = isoTimes();
  const line = (json: string): string => `${isTerminal ? escapeJson(json) : json}\n`;
  return {
    listening: ({ url, path, scheme, inbox, caPath }) =>
      line(JSON.stringify({ type: 'listening', url, path: path ?? null, scheme, inbox, ca: caPath ?? null })),
    delivery(report) {
      const { verdict, reason, detail, status, durationMs, leadId, remote, attempt } = report;
      const { source, differs, warnings, handed, explanation } = report;
      const record = JSON.stringify({
        type: 'delivery',
        receivedAt: iso(report.receivedAt),
        verdict,
        reason: reason ?? null,
        detail,
        status,
        durationMs,
        leadId: leadId ?? null,
        remote,
        attempt: attempt ?? null,
        firstAt: report.firstAt === undefined ? undefined : iso(report.firstAt),
        source,
        differs,
        warnings: warnings === undefined || warnings.length === 0 ? undefined : warnings,
        handed: handed === undefined || handed.length === 0 ? undefined : handed,
        explanation,
      });
      const lead = report.lead === undefined ? 'null' : utf8(report.lead);
      return line(`${record.slice(0, -1)},"lead":${lead}}`);
    },
    summary: (tally, durationMs) => line(JSON.stringify({ type: 'summary', ...tally, durationMs })),
  };
}
