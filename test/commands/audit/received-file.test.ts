import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openReceivedFile } from '../../../src/commands/audit/received-file.ts';
import type { Context } from '../../../src/context.ts';
import { FakeClock } from '../../support/clock.ts';
import { freshHome } from '../../support/run.ts';

it('what was created after the reading began is not expected in a file that is replaced meanwhile', async () => {
  const file = join(freshHome(), 'received.ndjson');
  writeFileSync(file, '{"id":"a"}\n');
  utimesSync(file, 1000, 1000);
  const context: Partial<Context> = {
    signal: new AbortController().signal,
    clock: new FakeClock(5_000_000),
    messages: { note: () => undefined } as Partial<Context['messages']> as Context['messages'],
    settings: () =>
      Promise.resolve({ dialect: {}, webhookId: 'id' } as Awaited<ReturnType<Context['settings']>>),
    // Called when the reading begins.
    status: { showProgress: () => utimesSync(file, 4000, 4000) } as Partial<
      NonNullable<Context['status']>
    > as Context['status'],
  };
  const received = await openReceivedFile(file, 'auto', context as Context);
  try {
    expect(received.writtenAt).toBe(1_000_000);
  } finally {
    await received.close();
  }
});
