import { isObject, jsonIn } from '../json/exact.ts';
import { bodyNote, type Capture, type CaptureOptions, chooseEntry, timeIn } from './capture.ts';

/** One delivery among the lines of `leads listen --json`; undefined for text without any. */
export function readEventLines(text: string, options: CaptureOptions): Capture | undefined {
  const events = text.split(/\r?\n/).flatMap((line) => {
    const event = line.includes('"delivery"') ? jsonIn(line) : undefined;
    if (!isObject(event) || event['type'] !== 'delivery' || !('verdict' in event)) return [];
    const fields: Readonly<Record<string, unknown>> = event;
    return [{ line, event: fields }];
  });
  if (events.length === 0) return undefined;
  const heads = events.map(({ event }) => ({
    method: 'POST',
    url: `${String(event['verdict'])} ${String(event['leadId'] ?? event['reason'])}`,
    headerNames: [],
  }));
  const found = events[chooseEntry(heads, 'listen-output', options)];
  if (found === undefined) return undefined;
  const leadCount = Number(found.event['leadCount'] ?? 1);
  const lead = leadCount > 1 ? undefined : leadBytes(found.line, found.event['lead']);
  return {
    form: { kind: 'read-listen-event' },
    method: 'POST',
    url: undefined,
    path: '/',
    rawHeaders: [],
    body: lead,
    at: timeIn(String(found.event['receivedAt'])),
    notes: [
      bodyNote(
        leadCount > 1
          ? { kind: 'event-of-several-leads', leads: leadCount }
          : { kind: lead === undefined ? 'event-without-body' : 'event-without-white-space' },
      ),
      { about: 'headers', found: { kind: 'event-without-headers' } },
    ],
  };
}

/** The lead's own text in the line: read and written again, its numbers and escapes would be others. */
function leadBytes(line: string, lead: unknown): Buffer | undefined {
  if (typeof lead !== 'object' || lead === null) return undefined;
  const wanted = JSON.stringify(lead);
  for (const { index } of line.matchAll(/"lead"\s*:/g)) {
    const start = line.indexOf(':', index) + 1;
    const text = line.slice(start, line.lastIndexOf('}')).trim();
    if (JSON.stringify(jsonIn(text)) === wanted) return Buffer.from(text);
  }
  return Buffer.from(wanted);
}
