import { open } from 'node:fs/promises';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { appendDurably } from '../../src/files/partial.ts';
import { freshHome } from '../support/run.ts';

const base = 'one\ntwo\n';
const increment = 'three\nfour\n';

/** Appends to a file that holds this by now. */
async function appendedTo(content: string): Promise<{ text: string; isAppended: boolean }> {
  const [path, source] = [join(freshHome(), 'file'), join(freshHome(), 'source')];
  writeFileSync(path, content);
  writeFileSync(source, increment);
  const handle = await open(source, 'r');
  try {
    const isAppended = await appendDurably(path, base.length, handle);
    return { text: readFileSync(path, 'utf8'), isAppended };
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
  ])('gives the same file %s', async (_, tail) => {
    expect(await appendedTo(base + tail)).toEqual({ text: base + increment, isAppended: true });
  });

  it.each(['one\n', `${base}mine`, `${base}${increment}more`, `${base}three\nfive`])(
    'writes nothing over what is not its own: %j',
    async (content) => {
      expect(await appendedTo(content)).toEqual({ text: content, isAppended: false });
    },
  );
});
