import { isObject, jsonIn } from '../json/exact.ts';
import { bodyNote, type Capture, type CaptureOptions, chooseEntry, timeIn } from './capture.ts';

/** Reads a delivery among the lines of `leads listen --json`; undefined for text without one. */
export function readEventLines(text: string, options: CaptureOptions): Capture | undefined {
  const events = text.split(/\r?\n/).flatMap((line) => {
    const event = line.includes('"delivery"') ? jsonIn(line) : undefined;
    if (!isObject(event) || event['type'] !== 'delivery' || !('verdict' in event)) return [];
    const fields: Readonly<Record<string, unknown>> = event;
    // An event holds no URL: a message that lists several events names them by this text in its place.
    const url = `${String(fields['verdict'])} ${String(fields['leadId'] ?? fields['reason'])}`;
    return [{ line, fields, method: 'POST', url, headers: [] }];
  });
  if (events.length === 0) return undefined;
  const [{ line, fields }] = chooseEntry(events, 'the output of listen', options);
  const leadCount = Number(fields['leadCount'] ?? 1);
  const lead = leadCount > 1 ? undefined : leadTextIn(line, fields['lead']);
  return {
    form: 'a line of the events of listen',
    method: 'POST',
    url: undefined,
    path: '/',
    rawHeaders: [],
    body: lead,
    capturedAt: timeIn(String(fields['receivedAt'])),
    notes: [
      bodyNote(bodyMessage(leadCount, lead)),
      {
        about: 'headers',
        message: "an event holds no headers: give those of the credential with --header 'Name: value'",
      },
    ],
  };
}

function bodyMessage(leadCount: number, lead: Buffer | undefined): string {
  if (leadCount > 1)
    return `the delivery held ${leadCount} leads, and an event holds one of them: give the body with --body FILE, or read it from the inbox with 'leads verify --id'`;
  if (lead === undefined) return 'this event holds no lead: give the body with --body FILE';
  return "an event holds the lead without its white space, not the body as it came: 'leads verify --id' reads that from the inbox";
}

/** Cuts the text of the lead out of the line: parsed and written again, its numbers and escapes could change. */
function leadTextIn(line: string, lead: unknown): Buffer | undefined {
  if (typeof lead !== 'object' || lead === null) return undefined;
  const leadText = JSON.stringify(lead);
  // `leads listen` writes "lead" as the last member, so an earlier match that fails is inside the value of another member.
  for (const { index } of line.matchAll(/"lead"\s*:/g)) {
    const start = line.indexOf(':', index) + 1;
    const text = line.slice(start, line.lastIndexOf('}')).trim();
    if (JSON.stringify(jsonIn(text)) === leadText) return Buffer.from(text);
  }
  return Buffer.from(leadText);
}
