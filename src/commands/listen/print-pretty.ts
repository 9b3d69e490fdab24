import type { RedactDelivery } from '../../inbox/store-options.ts';
import { utf8 } from '../../json/bytes.ts';
import { type Palette, sanitize } from '../../output/terminal/terminal.ts';
import type { AnsweredDelivery, ForwardAttempt } from '../../receiver/receiver-events.ts';
import type { Target } from '../../receiver/targets/target.ts';
import { formatDuration } from '../../time/time-text.ts';

const indent = ' '.repeat(11);

const timeOfDay = (ms: number): string => `${new Date(ms).toISOString().slice(11, 19)}Z`;

/**
 * Prints a line for each delivery: time, verdict, lead, reason, duration. Remarks follow on lines of their own, and so do the
 * attempts to forward the lead, each with the id where another line came in between.
 */
export function prettyPrinter(
  colours: Palette,
  targets: readonly Pick<Target, 'name'>[],
  redactor: RedactDelivery,
) {
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
    delivery(event: AnsweredDelivery): string {
      const { delivery, verdict, durationMs } = event;
      last = event.leadId;
      const when = colours.dim(timeOfDay(delivery.receivedAt));
      const took = colours.dim(formatDuration(durationMs));
      const first = `${when}  ${colourOf[verdict](verdict.padEnd(9))}  ${subject(event)}  ${took}`;
      const further = remarks(event, redactor.path(delivery), shownWarnings);
      return `${[first, ...further.map((text) => indent + sanitize(text))].join('\n')}\n`;
    },
    forward(attempt: ForwardAttempt): string {
      const { leadId, target } = attempt;
      const { to } = attempt.result;
      const name = kinds.indexOf(to) === kinds.lastIndexOf(to) ? to : target;
      const text = `${name}: ${attemptText(attempt)}`;
      const isBelow = last === leadId;
      last = leadId;
      return `${indent}${sanitize(isBelow ? text : `${shortened(leadId)}  ${text}`)}\n`;
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
