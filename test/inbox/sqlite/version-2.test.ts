import { copyFileSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { openInboxReader } from '../../../src/inbox/open-inbox.ts';
import { clock, open, takeOne } from '../stores.ts';
import { all, arrivalOf, deliveryOf, freshFile } from '../support.ts';

/**
 * Made by the version before, which knew no place of a lead in its body: `spaced` behind a byte order mark, `accepted` and
 * a repeat that differs, 103 times `repeated`, a rejected delivery, and one lead each that a forward has and has not had.
 */
const fixture = fileURLToPath(new URL('inbox-of-version-2.db', import.meta.url));
const forward = 'forward http://127.0.0.1:45678/hook';

function copied(): string {
  const path = freshFile('inbox.db');
  copyFileSync(fixture, path);
  return path;
}

it('keeps every delivery, each body being its lead', async () => {
  const path = copied();
  const reader = await openInboxReader({ location: path, clock });
  const before = await all(reader.list({}));
  const leadsBefore = await all(reader.leads({}));
  await reader.close();
  expect(readFileSync(path).equals(readFileSync(fixture))).toBe(true);
  expect(before).toHaveLength(107);
  expect(new Set(before.map(({ place }) => place))).toEqual(new Set([undefined]));
  const inbox = await open(path);
  expect(await all(inbox.list({}))).toEqual(before);
  expect(await all(inbox.leads({}))).toEqual(leadsBefore);
  expect(await inbox.droppedRepeats('repeated')).toEqual({ differing: 0, same: 2 });
});

it('knows its leads again, wherever in a body they are now', async () => {
  const inbox = await open(copied(), { targets: [forward], leaseMs: 1000 });
  const inEnvelope = (json: string, leadId: string) =>
    takeOne(inbox, {
      leadId,
      delivery: deliveryOf(`{"data":${json}}`),
      place: { start: 8, end: 8 + json.length },
    });
  expect(await inEnvelope('{"id":"forwarded"}', 'forwarded')).toMatchObject({
    kind: 'duplicate',
    attempt: 2,
    differs: undefined,
  });
  expect(await inEnvelope('{"id":"outstanding","n":1}', 'outstanding')).toMatchObject({
    kind: 'pending',
    targets: [{ name: forward, tries: 0 }],
    differs: ['n'],
  });
  expect(await takeOne(inbox, arrivalOf({ id: 'accepted' }))).toMatchObject({ differs: undefined });
});
