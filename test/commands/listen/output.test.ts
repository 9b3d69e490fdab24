import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OutputError } from '../../../src/errors.ts';
import { openInbox } from '../../../src/inbox/open-inbox.ts';
import { plainId } from '../../../src/lead/read-leads.ts';
import { repairOutputFile } from '../../../src/receiver/targets/repair-output.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { arrivalOf, deliveryOf } from '../../inbox/support.ts';
import { freshHome, leads } from '../../support/run.ts';
import { until } from '../../support/until.ts';
import { listen, listenInEachTest, token } from './support.ts';

const start = listenInEachTest();

function pipeAt(path: string): string {
  execFileSync('mkfifo', [path]);
  return path;
}

describe('--output', () => {
  it('shows each failure, and the next run cuts off a part of the lead that waits', async () => {
    const file = join(freshHome(), 'leads.ndjson');
    const listener = await start(['--output', file]);
    unlinkSync(file);
    mkdirSync(file);
    for (const id of ['a', 'b']) expect((await listener.post({ id })).status).toBe(200);
    const failures = (): readonly string[] => listener.stdout.text().match(/output: .*/g) ?? [];
    await until(() => failures().length === 2);
    for (const failure of failures()) expect(failure).toContain(`${file}: it is a directory`);
    await listener.stop();
    rmdirSync(file);
    writeFileSync(file, '{"id":"old"}\n{"id":"b');
    const next = await start(['--output', file], { home: listener.home });
    const lines = (): string[] => readFileSync(file, 'utf8').split('\n').sort();
    await next.passUntil(() => lines().length === 4);
    expect(lines()).toEqual(['', '{"id":"a"}', '{"id":"b"}', '{"id":"old"}']);
  });

  it.each([
    ['a device', '/dev/null'],
    ['a descriptor', '/dev/stdout'],
    ['a pipe', undefined],
  ])('is an error for %s, also behind a link', async (_, device) => {
    const place = device ?? pipeAt(join(freshHome(), 'pipe'));
    const link = join(freshHome(), 'link');
    symlinkSync(place, link);
    for (const path of [place, link]) {
      const { exitCode, stderr } = await leads(['listen', '--port', '0', '--token', token, '--output', path]);
      expect([exitCode, stderr]).toEqual([
        8,
        expect.stringContaining(`cannot write ${path}: it is not a regular file`),
      ]);
    }
  });

  it('fails while a pipe has the place of the file, and goes on behind it', async () => {
    const file = join(freshHome(), 'leads.ndjson');
    const listener = await start(['--output', file]);
    unlinkSync(file);
    pipeAt(file);
    for (const id of ['a', 'b']) expect((await listener.post({ id })).status).toBe(200);
    const failures = (): number => listener.stdout.text().match(/it is not a regular file/g)?.length ?? 0;
    await until(() => failures() === 2);
    unlinkSync(file);
    await listener.passUntil(() => existsSync(file) && readFileSync(file, 'utf8').split('\n').length === 3);
    expect(readFileSync(file, 'utf8').split('\n').sort()).toEqual(['', '{"id":"a"}', '{"id":"b"}']);
  });

  it('is an output error where what a killed process left cannot be made good', async () => {
    const inbox = {
      waiting: async function* () {
        yield await Promise.resolve({ leadId: 'a', seq: 1 });
      },
      record: () => Promise.resolve(),
      list: async function* () {},
    };
    await expect(repairOutputFile(freshHome(), inbox, plainId)).rejects.toThrow(OutputError);
  });

  it('appends each accepted lead once over several runs', async () => {
    const file = join(freshHome(), 'deep', 'leads.ndjson');
    const first = await start(['--output', file]);
    await Promise.all(['a', 'b', 'a'].map((id) => first.post(`{ "id": "${id}" }`)));
    await first.stop();
    const before = readFileSync(file, 'utf8');
    expect(before.split('\n').sort()).toEqual(['', '{"id":"a"}', '{"id":"b"}']);
    const second = await start(['--output', file], { home: first.home });
    await Promise.all(['a', 'c'].map((id) => second.post({ id })));
    await second.stop();
    expect(readFileSync(file, 'utf8')).toBe(`${before}{"id":"c"}\n`);
  });

  it('cuts off a part of a lead as it came first, which is what it is written as', async () => {
    const file = join(freshHome(), 'leads.ndjson');
    const target = `output ${file}`;
    const inbox = await openInbox({ location: ':memory:', clock: systemClock, targets: [target] });
    const listed = arrivalOf({ id: 'a' }, { delivery: deliveryOf('{"id":"a","listed":1}') });
    await inbox.take([{ ...listed, source: 'backfill' }]);
    await inbox.take([arrivalOf({ id: 'a' }, { delivery: deliveryOf('{"id":"a","pushed":1}') })]);
    for (const [part, isCut] of [
      ['{"id":"a","l', true],
      ['{"id":"a","p', false],
    ] as const) {
      writeFileSync(file, `{"id":"b"}\n${part}`);
      expect(await repairOutputFile(file, inbox, plainId)).toBe(isCut);
      expect(readFileSync(file, 'utf8')).toBe(`{"id":"b"}\n${isCut ? '' : part}`);
    }
    await inbox.close();
  });

  it('writes to the file that has the path, whoever removed, renamed or replaced the one before', async () => {
    const directory = join(freshHome(), 'spool');
    const file = join(directory, 'leads.ndjson');
    const listener = await start(['--output', file]);
    let delivered = 0;
    const deliver = async (id: string): Promise<void> => {
      expect((await listener.post({ id })).status).toBe(200);
      delivered += 1;
      await until(() => listener.stdout.text().match(/output: written/g)?.length === delivered);
    };
    const text = (path = file): string => readFileSync(path, 'utf8');
    await deliver('a');
    unlinkSync(file);
    await deliver('b');
    expect(text()).toBe('{"id":"b"}\n');
    unlinkSync(file);
    writeFileSync(file, '');
    await deliver('c');
    expect(text()).toBe('{"id":"c"}\n');
    renameSync(file, `${file}.1`);
    listener.hangUp();
    await deliver('d');
    expect([text(`${file}.1`), text()]).toEqual(['{"id":"c"}\n', '{"id":"d"}\n']);
    renameSync(directory, `${directory}.old`);
    await deliver('e');
    expect(text()).toBe('{"id":"e"}\n');
    await expect(listen(['--output', file])).rejects.toThrow('in use');
    await listener.stop();
    expect(readdirSync(directory)).toEqual(['leads.ndjson']);
  });

  it('leaves no hole in a file that is copied and truncated, and says that it was cut', async () => {
    const file = join(freshHome(), 'leads.ndjson');
    const listener = await start(['--output', file]);
    await listener.post({ id: 'a' });
    await until(() => listener.stdout.text().includes('output: written'));
    truncateSync(file);
    await listener.post({ id: 'b' });
    await until(() => listener.stdout.text().match(/output: written/g)?.length === 2);
    expect(readFileSync(file, 'utf8')).toBe('{"id":"b"}\n');
    expect(listener.stderr.text()).toContain('was cut from 11 to 0 bytes');
  });
});
