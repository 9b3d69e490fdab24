import { randomBytes } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { gzipSink } from '../../../src/output/records/gzip.ts';

const mebibyte = 1024 * 1024;

function collect() {
  const chunks: Buffer[] = [];
  const sink = gzipSink({
    write: (bytes) => {
      chunks.push(Buffer.from(bytes));
      return Promise.resolve();
    },
    end: () => Promise.resolve(),
  });
  return { sink, bytes: () => Buffer.concat(chunks) };
}

describe('gzip', () => {
  it('gives one file of several members', async () => {
    const { sink, bytes } = collect();
    const content = randomBytes(9 * mebibyte);
    await sink.write(content);
    await sink.end();
    expect(gunzipSync(bytes()).equals(content)).toBe(true);
  });

  it('is a gzip file also when nothing was written', async () => {
    const { sink, bytes } = collect();
    await sink.end();
    expect(gunzipSync(bytes())).toHaveLength(0);
  });

  it('can be cut and gone on with behind a whole member: the same bytes', async () => {
    const pages = Array.from({ length: 7 }, () => randomBytes(mebibyte / 2));
    const whole = collect();
    const marks: { bytes: Buffer; next: number }[] = [];
    for (const [i, page] of pages.entries()) {
      await whole.sink.write(page);
      if (await whole.sink.endMember()) marks.push({ bytes: whole.bytes(), next: i + 1 });
    }
    await whole.sink.end();
    expect(marks.map(({ next }) => next)).toEqual([2, 4, 6]);
    for (const mark of marks) {
      const rest = collect();
      for (const page of pages.slice(mark.next)) {
        await rest.sink.write(page);
        await rest.sink.endMember();
      }
      await rest.sink.end();
      expect(Buffer.concat([mark.bytes, rest.bytes()]).equals(whole.bytes())).toBe(true);
    }
  });
});
