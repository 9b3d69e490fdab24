import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { renewFiles } from '../../../src/commands/listen/renewed-files.ts';
import { createMessages } from '../../../src/output/messages.ts';
import { FakeClock } from '../../support/clock.ts';
import { freshHome, memory } from '../../support/run.ts';
import { until } from '../../support/until.ts';

it('uses only files of one moment, however often they are swapped while it reads them', async () => {
  const home = freshHome();
  const rounds = 20;
  let version = 0;
  const swap = (): void => {
    const own = join(home, String((version += 1)));
    mkdirSync(own);
    for (const name of ['cert', 'key']) writeFileSync(join(own, name), String(version));
    symlinkSync(own, join(home, 'next'));
    renameSync(join(home, 'next'), join(home, 'data'));
  };
  swap();

  const used: string[][] = [];
  let looks = 0;
  let hangUp: () => void = () => undefined;
  const end = new AbortController();
  const files = {
    subject: 'the pair was',
    paths: ['cert', 'key'].map((name) => join(home, 'data', name)),
    use: (contents: readonly Buffer[]) => {
      used.push(contents.map(String));
      return undefined;
    },
  };
  const onHangup = (listener: () => void): (() => void) => {
    hangUp = listener;
    return () => undefined;
  };
  const messages = createMessages(memory(undefined), { verbose: false, quiet: true });
  const marker = join(home, 'marker');
  writeFileSync(marker, 'first');
  const markers = { subject: 'the marker was', paths: [marker], use: () => void (looks += 1) };
  const renewing = renewFiles([files, markers], { clock: new FakeClock(), messages, onHangup }, end.signal);
  const over = new AbortController();
  /** Another file is used at each look, since it changes before it. */
  const look = async (): Promise<void> => {
    const before = looks;
    writeFileSync(marker, String(before));
    hangUp();
    await until(() => looks > before, 'a look at the files');
  };
  const swapping = (async () => {
    while (!over.signal.aborted) {
      swap();
      await setImmediate();
    }
  })();
  for (let n = 1; n <= rounds; n += 1) await look();
  over.abort();
  await swapping;
  await look();
  end.abort();
  await renewing;
  expect(used.filter(([cert, key]) => cert !== key)).toEqual([]);
  expect(used.at(-1)).toEqual([String(version), String(version)]);
});
