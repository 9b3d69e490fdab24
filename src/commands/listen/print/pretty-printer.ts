import { utf8 } from '../../../json/bytes.ts';
import type { Palette } from '../../../output/terminal/colour.ts';
import { sanitize } from '../../../output/sanitize.ts';
import type { AnsweredDelivery } from '../../../receiver/answered-delivery.ts';
import { formatDuration } from '../../../time/duration.ts';
import type { Printer } from './printer.ts';

/** A line for each delivery: time, verdict, lead, reason, duration; what else is to say follows on lines of its own. */
export function prettyPrinter(colours: Palette): Printer {
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
