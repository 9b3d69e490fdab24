import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../support/clock.ts';
import { leads } from '../../support/run.ts';
import { until } from '../../support/until.ts';
import { type Listener, listenInEachTest } from './support.ts';

const start = listenInEachTest();

const inboxOf = (listener: Listener): string => /inbox (\S+)/.exec(listener.stderr.text())?.[1] ?? '';

describe('the inbox that a run for tests makes for itself', () => {
  it('is a fresh one in the temporary directory, whose path is printed, and stays', async () => {
    for (const flags of [['--count', '1'], ['--for', '1m'], ['--no-verify']]) {
      const listener = await start(flags);
      const inbox = inboxOf(listener);
      expect(inbox.startsWith(join(tmpdir(), 'leads-inbox-'))).toBe(true);
      await listener.post({ id: 'a' });
      await (flags[0] === '--count' ? listener.done : listener.stop());
      expect(existsSync(inbox)).toBe(true);
    }
  });
});

describe('listen --retain', () => {
  it('drops deliveries that are older, at once and while it runs, and knows their ids', async () => {
    const clock = new FakeClock(Date.now());
    const first = await start([], { clock });
    await first.post({ id: 'old' });
    await first.stop();
    clock.advance(3_600_000);
    const { home } = first;
    const shown = async (): Promise<string> =>
      (await leads(['inbox', 'export'], { home, clock: new FakeClock(clock.now()) })).stdout;
    const listener = await start(['--retain', '30m'], { clock, home });
    let text = await shown();
    await until(() => {
      void shown().then((now) => (text = now));
      return text === '';
    }, 'the old delivery to be dropped');
    expect((await listener.post({ id: 'old' })).body).toMatchObject({ status: 'duplicate' });
    await listener.post({ id: 'new' });
    expect(await shown()).toBe('{"id":"new"}\n');
  });
});
