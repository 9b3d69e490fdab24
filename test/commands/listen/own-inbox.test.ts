import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../support/clock.ts';
import { leads } from '../../support/run.ts';
import { until } from '../../support/until.ts';
import { type Listener, listenInEachTest } from './support.ts';

const start = listenInEachTest();

const inboxOf = (listener: Listener): string => /inbox (\S+)/.exec(listener.stderr.text())?.[1] ?? '';

describe('the inbox that a run for tests makes for itself', () => {
  it('is in the data directory, and removed when --count is reached', async () => {
    const listener = await start(['--count', '1']);
    const inbox = inboxOf(listener);
    expect(inbox.startsWith(join(listener.home, 'data', 'temporary'))).toBe(true);
    expect(existsSync(inbox)).toBe(true);
    await listener.post({ id: 'a' });
    expect((await listener.done).exitCode).toBe(0);
    expect(existsSync(dirname(inbox))).toBe(false);
  });

  it('stays with --keep, and when the run ends otherwise', async () => {
    const kept = await start(['--count', '1', '--keep']);
    await kept.post({ id: 'a' });
    await kept.done;
    expect(existsSync(inboxOf(kept))).toBe(true);
    const stopped = await start(['--count', '2']);
    await stopped.stop();
    expect(existsSync(inboxOf(stopped))).toBe(true);
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
