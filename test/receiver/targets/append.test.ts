import { readFileSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import type { Inbox, StoredDelivery } from '../../../src/inbox/inbox.ts';
import { lostLines, openAppendTarget } from '../../../src/receiver/targets/append.ts';
import { repairOutputFile } from '../../../src/receiver/targets/repair-output.ts';
import type { CheckedDelivery } from '../../../src/webhook/check-delivery.ts';
import { FakeClock } from '../../support/clock.ts';
import { freshHome } from '../../support/run.ts';

it.each<readonly [string, string, string]>([
  ['nothing is cut', 'a\nb\nc\n', ''],
  ['somebody else writes behind them', 'a\nb\nc\nelse\n', ''],
  ['somebody else writes before and behind them', 'a\nX\nb\nc\nY\n', ''],
  ['the file is cut at a line before they are written', 'b\nc\n', ''],
  ['they stand behind a part of another line', '{"xb\nc\n', 'b\n'],
  ['their last line is cut', 'a\nb\nc', 'c\n'],
  ['their last line is gone', 'a\nb\n', 'c\n'],
  ['their first line is cut', 'a\nb', 'b\nc\n'],
  ['all of them are gone', 'a\n', 'b\nc\n'],
  ['the file is empty', '', 'b\nc\n'],
  ['others stand in their place', 'a\nx\ny\n', 'b\nc\n'],
])('where %s, names the lines to write again', async (_, now, lost) => {
  const handle = await open(join(freshHome(), 'out'), 'w+');
  await handle.write(now);
  const { size } = await handle.stat();
  const found = await lostLines(handle, Buffer.from('b\nc\n'), { start: 2, size });
  await handle.close();
  expect(Buffer.from(found).toString()).toBe(lost);
});

it('reports the failed write, also where the file cannot be looked at after it', async () => {
  const path = join(freshHome(), 'out');
  const { signal } = new AbortController();
  const options = { pid: process.pid, clock: new FakeClock(), signal, note: () => undefined };
  const target = await openAppendTarget(path, options);
  const handle = await open(path);
  const prototype = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  vi.spyOn(prototype, 'write').mockImplementationOnce(() => {
    vi.spyOn(prototype, 'stat').mockRejectedValueOnce(new Error('stat failed'));
    return Promise.reject(new Error('write failed'));
  });
  const result = await target.deliver(
    { leads: [{ lead: { bytes: Buffer.from('{}') } }] } as object as CheckedDelivery,
    1,
  );
  await target.close?.();
  expect(result).toMatchObject({ ok: false, answer: expect.stringContaining('write failed') as string });
});

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
