import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, it } from 'vitest';
import { describeContent } from '../../../src/commands/export/known-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'leads-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** Longer than a chunk that is read at once, so that lines begin in one and end in another. */
const long = 'x'.repeat(300_000);
const lines = Array.from(
  { length: 1500 },
  (_, i) => `{"id":"${i}","note":"{${i % 500 === 0 ? long : 'x'.repeat(i)}"}`,
);

it.each([
  { form: 'NDJSON', content: `${lines.join('\n')}\n`, said: '1,500 leads' },
  { form: 'NDJSON without a last line end', content: lines.join('\n'), said: '1,500 leads' },
  { form: 'an array', content: `[\n${lines.join(',\n')}\n]\n`, said: '1,500 leads' },
  { form: 'compressed NDJSON', content: gzipSync(`${lines.join('\n')}\n`), said: '1,500 leads' },
  {
    form: 'two members of which one is cut off',
    content: Buffer.concat([gzipSync('{"id":"1"}\n'), gzipSync('{"id":"2"}\n').subarray(0, 10)]),
    said: '1 lead',
  },
  { form: 'CSV with a line end inside a field', content: 'id,note\n1,"a\nb"\n2,""""\n', said: '2 leads' },
  { form: 'something else', content: 'hello\n', said: '6 bytes' },
  { form: 'nothing', content: '', said: '0 bytes' },
])('says what a file of $form holds', async ({ content, said }) => {
  const path = join(folder, 'file');
  writeFileSync(path, content);
  expect(await describeContent(path)).toBe(said);
});
