import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { LeadDatabase, openReceivedFile } from '../../../src/commands/audit/received-file.ts';
import type { Context } from '../../../src/context.ts';
import { FakeClock } from '../../support/clock.ts';
import { freshHome } from '../../support/run.ts';

/** Opens `received.ndjson` with this content; `onBegin` is called when the reading begins. */
async function opened(
  content: string,
  { webhookId = 'id', onBegin = (_file: string): void => undefined } = {},
) {
  const file = join(freshHome(), 'received.ndjson');
  writeFileSync(file, content);
  utimesSync(file, 1000, 1000);
  const context = {
    signal: new AbortController().signal,
    clock: new FakeClock(5_000_000),
    messages: { note: () => undefined },
    settings: () => Promise.resolve({ dialect: {}, webhookId }),
    status: { showProgress: () => onBegin(file) },
  };
  const received = await openReceivedFile(file, 'auto', context as unknown as Context);
  onTestFinished(() => received.close());
  return received;
}

it('what was created after the reading began is not expected in a file that is replaced meanwhile', async () => {
  const { writtenAt } = await opened('{"id":"a"}\n', { onBegin: (file) => utimesSync(file, 4000, 4000) });
  expect(writtenAt).toBe(1_000_000);
});

const lead = '{"id":"L-1","category":"solar","contact":{"name":"Ada"},"createdAt":"2026-11-20T10:00:00Z"}';

it.each<[what: string, record: string, ids: readonly string[], webhookId?: string]>([
  ['a lead', lead, ['L-1']],
  ['an array', `[${lead},\n{"id":"L-2"}]`, ['L-1', 'L-2']],
  ['a page', `{"meta":{"n":2},"data":[${lead},{"id":"L-2"}]}`, ['L-1', 'L-2']],
  ['an event with an id and a creation time', `{"id":"e1","createdAt":"x","payload":${lead}}`, ['L-1']],
  ['an event with a category', `{"id":"e1","category":"crm","data":{"object":${lead}}}`, ['L-1']],
  ['an event with two leads', `{"id":"e1","createdAt":"x","leads":[${lead},{"id":"L-2"}]}`, ['L-1', 'L-2']],
  [
    'an event whose lead has the id inside an object',
    '{"id":"e1","createdAt":"x","data":{"category":"x","contact":{"id":"L-1"}}}',
    ['L-1'],
    'contact.id',
  ],
  ['an own record with objects that have ids', '{"id":"L-1","createdAt":"x","items":[{"id":"i1"}]}', ['L-1']],
  [
    'an own record with a lead as well',
    `{"id":"L-1","category":"x","createdAt":"x","before":${lead}}`,
    ['L-1'],
  ],
])('reads %s', async (_, record, ids, webhookId = 'id') => {
  const received = await opened(`${record}\n`, { webhookId });
  const all = ['L-1', 'L-2', 'e1', 'i1'];
  const known = await received.leads.lookUp(all);
  expect(all.filter((_id, index) => known[index] !== undefined)).toEqual(ids);
});

it('names no directory that SQLite may not have chosen where the leads cannot be kept', async () => {
  const database = await LeadDatabase.open();
  await database.close();
  expect(() => database.add([{ id: 'a', body: Buffer.from('{}') }])).toThrow(
    expect.objectContaining({
      message: expect.stringMatching(/^cannot keep the leads in a temporary file: /) as string,
      hint: expect.stringContaining('SQLITE_TMPDIR') as string,
    }),
  );
});
