import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Inbox, StoredDelivery } from '../../../src/inbox/inbox.ts';
import { repairOutputFile } from '../../../src/receiver/targets/append.ts';
import { freshHome } from '../../support/run.ts';

it('knows the leads of a file by the field that is their id, and those from before it was set', async () => {
  const path = join(freshHome(), 'leads.ndjson');
  const written = ['{"uuid":"a","id":"other"}', '{"id":"b"}'];
  const bodies = [...written, '{"uuid":"c","n":1}'];
  writeFileSync(path, [...written, '{"uuid":"c"'].join('\n'));
  const done: string[] = [];
  const inbox: Pick<Inbox, 'waiting' | 'record' | 'list'> = {
    waiting: () => each(['a', 'b', 'c'].map((leadId, seq) => ({ leadId, seq }))),
    record: (records) => {
      done.push(...records.filter(({ outcome }) => outcome === 'done').map(({ leadId }) => leadId));
      return Promise.resolve();
    },
    list({ seq = 0 }) {
      const leadId = ['a', 'b', 'c'][seq];
      return each([
        { seq, leadId, body: Buffer.from(bodies[seq] ?? ''), headers: [] } as object as StoredDelivery,
      ]);
    },
  };
  await repairOutputFile(path, inbox, { name: 'uuid' });
  expect(done).toEqual(['a', 'b']);
  expect(readFileSync(path, 'utf8')).toBe(`${written.join('\n')}\n`);
});

async function* each<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* await Promise.resolve(values);
}
