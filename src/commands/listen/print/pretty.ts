import { formatDuration } from '../../../time/duration.ts';
import type { Palette } from '../../../output/terminal/colour.ts';
import { sanitize } from '../../../output/sanitize.ts';
import type { Printer, DeliveryReport } from '../../../receiver/events.ts';
import { utf8 } from '../../../json/bytes.ts';

/** A line for each delivery: when, what became of it, which lead, why, how long it took. */
export function prettyPrinter(colours: Palette): Printer {
  const told = new Set<string>();
  const paint = {
    accepted: colours.green,
    duplicate: colours.cyan,
    pending: colours.yellow,
    rejected: colours.red,
  };
  return {
    listening: () => '',
    delivery(report) {
      const { verdict, durationMs } = report;
      const when = colours.dim(`${new Date(report.receivedAt).toISOString().slice(11, 19)}Z`);
      const took = colours.dim(formatDuration(durationMs));
      const first = `${when}  ${paint[verdict](verdict.padEnd(9))}  ${subject(report)}  ${took}`;
      const rest = remarks(report, told).map((text) => `           ${sanitize(text)}`);
      return `${[first, ...rest].join('\n')}\n`;
    },
    summary: () => '',
  };
}

function subject(report: DeliveryReport): string {
  const { leadId, verdict, status, reason, lead } = report;
  const parts = leadId === undefined ? [] : [sanitize(shortened(leadId))];
  if (lead !== undefined) parts.push(...about(lead));
  if (verdict === 'pending') parts.push(`answered ${status}`);
  if (verdict === 'rejected') parts.push(`${status} ${reason ?? ''}`);
  if (report.source === 'backfill') parts.push('fetched from the service');
  return parts.join('  ');
}

/** Name and category, as far as they are what the specification says. */
function about(bytes: Uint8Array): string[] {
  const lead = JSON.parse(utf8(bytes)) as {
    contact?: { name?: unknown } | null;
    category?: unknown;
  };
  const texts = [lead.contact?.name, lead.category];
  return texts.filter((text) => typeof text === 'string').map((text) => sanitize(shortened(text)));
}

/** `told`: deviations from the specification are said once each, since a service repeats them in every lead. */
function remarks(report: DeliveryReport, told: Set<string>): string[] {
  const { verdict, detail, attempt, firstAt, differs, warnings = [], handed = [], explanation = [] } = report;
  const lines: string[] = [];
  if (verdict === 'rejected')
    lines.push(`${detail ?? ''} (${report.method} ${shortened(report.path)} from ${report.remote})`);
  if (verdict !== 'rejected' && (attempt ?? 1) > 1 && firstAt !== undefined) {
    lines.push(`delivery ${attempt ?? 1} of this id, which first came ${new Date(firstAt).toISOString()}`);
  }
  if (differs !== undefined) {
    lines.push(
      differs[0] === '*' ? 'the payload is not the first one' : `not as it first came: ${differs.join(', ')}`,
    );
  }
  const news = warnings.filter((warning) => !told.has(warning));
  for (const warning of news) told.add(warning);
  if (news.length > 0) lines.push(`not as specified: ${news.join(', ')}`);
  for (const { to, answer, durationMs, body } of handed) {
    lines.push(`${to}: ${answer} (${formatDuration(durationMs)})${body === undefined ? '' : ` ${body}`}`);
  }
  lines.push(...explanation);
  return lines;
}

const longest = 80;

const shortened = (text: string): string => (text.length > longest ? `${text.slice(0, longest)}…` : text);
