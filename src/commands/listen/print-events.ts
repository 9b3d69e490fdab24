import { escapeJson } from '../../output/scrub.ts';
import type { Printer } from './report.ts';

const iso = (ms: number | undefined): string | null => (ms === undefined ? null : new Date(ms).toISOString());

/** One JSON object a line. `lead` is the lead's own text, spliced in: never parsed and written again. */
export function eventsPrinter(isTerminal: boolean): Printer {
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
        firstAt: iso(report.firstAt) ?? undefined,
        source,
        differs,
        warnings: warnings === undefined || warnings.length === 0 ? undefined : warnings,
        handed: handed === undefined || handed.length === 0 ? undefined : handed,
        explanation,
      });
      const lead = report.lead === undefined ? 'null' : Buffer.from(report.lead).toString('utf8');
      return line(`${record.slice(0, -1)},"lead":${lead}}`);
    },
    summary: (tally, durationMs) => line(JSON.stringify({ type: 'summary', ...tally, durationMs })),
  };
}
