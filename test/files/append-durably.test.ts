import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { appendDurably, digestFile, digestWith } from '../../src/files/append-durably.ts';
import { freshHome } from '../support/run.ts';

const base = 'one\ntwo\n';
const increment = 'three\nfour\n';
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Appends to a file that holds the base and `tail` by now. */
async function appended(tail: string): Promise<{ text: string; result: unknown }> {
  const [path, source] = [join(freshHome(), 'file'), join(freshHome(), 'source')];
  writeFileSync(path, base + tail);
  writeFileSync(source, increment);
  const handle = await open(source, 'r');
  try {
    const expected = await digestWith(await digestFile(path, base.length), handle);
    const result = (await appendDurably(path, base.length, handle)) ? expected : undefined;
    return { text: readFileSync(path, 'utf8'), result };
  } finally {
    await handle.close();
  }
}

describe('a durable append', () => {
  it.each([
    ['for the first time', ''],
    ['after a crash in the middle', 'three\nfo'],
    ['after a crash at the end', increment],
    ['after a crash of the machine that left zeros', 'thr\0\0\0\0\0'],
  ])('gives the same file and digest %s', async (_, tail) => {
    const whole = base + increment;
    expect(await appended(tail)).toEqual({
      text: whole,
      result: { bytes: whole.length, sha256: sha256(whole) },
    });
  });

  it.each(['mine', `${increment}more`, 'three\nfive'])(
    'writes nothing over what is not its own: %j',
    async (tail) => {
      expect(await appended(tail)).toEqual({ text: base + tail, result: undefined });
    },
  );
});
