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
  const found = events[chooseEntry(heads, 'the output of listen', options)];
  if (found === undefined) return undefined;
  const leadCount = Number(found.event['leadCount'] ?? 1);
  const lead = leadCount > 1 ? undefined : leadBytes(found.line, found.event['lead']);
  return {
    form: 'a line of the events of listen',
    method: 'POST',
    url: undefined,
    path: '/',
    rawHeaders: [],
    body: lead,
    at: timeIn(String(found.event['receivedAt'])),
    notes: [
      bodyNote(
        leadCount > 1
          ? `the delivery held ${leadCount} leads, and an event holds one of them: give the body with --body FILE, or read it from the inbox with 'leads verify --id'`
          : lead === undefined
            ? 'an event of a rejected delivery holds no body: give it with --body FILE'
            : "an event holds the lead without its white space, not the body as it came: 'leads verify --id' reads that from the inbox",
      ),
      {
        about: 'headers',
        found: "an event holds no headers: give those of the credential with --header 'Name: value'",
      },
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
