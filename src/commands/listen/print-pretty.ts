import type { RedactDelivery } from '../../inbox/store-options.ts';
import { utf8 } from '../../json/bytes.ts';
import { type Palette, sanitize } from '../../output/terminal/terminal.ts';
import type { AnsweredDelivery, ForwardAttempt } from '../../receiver/receiver-events.ts';
import type { Target } from '../../receiver/targets/target.ts';
import { formatDuration } from '../../time/time-text.ts';

/** Lines below a delivery begin under its verdict, behind `HH:MM:SSZ` and two spaces. */
const indent = ' '.repeat(11);

const timeOfDay = (ms: number): string => `${new Date(ms).toISOString().slice(11, 19)}Z`;

/**
 * Prints a line for each delivery: time, verdict, lead, reason, duration. Remarks follow on lines of their own, and so do the
 * attempts to forward the lead, each with the id of the lead if the line above is not about that.
 */
export function prettyPrinter(
  colours: Palette,
  targets: readonly Pick<Target, 'name'>[],
  redactor: RedactDelivery,
) {
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
