import { mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listen, listenInEachTest } from './support.ts';

const start = listenInEachTest();

const scratch = (): string => mkdtempSync(join(tmpdir(), 'leads-test-'));

describe('--output', () => {
  it('shows the first failure again where the file could not be cut back after it', async () => {
    const file = join(scratch(), 'full');
    symlinkSync('/dev/full', file);
    const listener = await start(['--output', file]);
    for (const id of ['a', 'b']) expect((await listener.post({ id })).status).toBe(502);
    await listener.stop();
    const failures = listener.stdout.text().match(/output: .*/g) ?? [];
    expect(failures).toHaveLength(2);
    for (const failure of failures) expect(failure).toContain(`${file}: no space left on the device`);
  });

  it('appends each accepted lead once over several runs, and cuts off a part of a last line', async () => {
    const file = join(scratch(), 'deep', 'leads.ndjson');
    const first = await start(['--output', file]);
    await Promise.all(['a', 'b', 'a'].map((id) => first.post(`{ "id": "${id}" }`)));
    await first.stop();
    const before = readFileSync(file, 'utf8');
    expect(before.split('\n').sort()).toEqual(['', '{"id":"a"}', '{"id":"b"}']);
    writeFileSync(file, `${before}{"id":"tor`);
    const second = await start(['--output', file], { home: first.home });
    await Promise.all(['a', 'c'].map((id) => second.post({ id })));
    expect(readFileSync(file, 'utf8')).toBe(`${before}{"id":"c"}\n`);
  });

  it('is an error while another receiver writes to the file', async () => {
    const file = join(scratch(), 'leads.ndjson');
    await start(['--output', file]);
    await expect(listen(['--output', file])).rejects.toThrow('in use');
  });
});
