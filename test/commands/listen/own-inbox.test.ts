import { cpSync, existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openInbox } from '../../../src/inbox/open-inbox.ts';
import { deliveryOf } from '../../inbox/support.ts';
import { FakeClock } from '../../support/clock.ts';
import { leads } from '../../support/run.ts';
import { until } from '../../support/until.ts';
import { type Listener, listenInEachTest } from './support.ts';

const start = listenInEachTest();

const inboxOf = (listener: Listener): string => /inbox (\S+)/.exec(listener.stderr.text())?.[1] ?? '';

describe('the inbox that a run for tests makes for itself', () => {
  it('is a fresh one in the data directory, whose path is printed, and stays', async () => {
    for (const flags of [['--count', '1'], ['--for', '1m'], ['--no-verify']]) {
      const listener = await start(flags);
      const inbox = inboxOf(listener);
      expect(inbox.startsWith(join(listener.home, 'data', 'temporary'))).toBe(true);
      await listener.post({ id: 'a' });
      await (flags[0] === '--count' ? listener.done : listener.stop());
      expect(existsSync(inbox)).toBe(true);
    }
  });

  it('loses its lock to a receiver that is told to use it, so that no run removes it', async () => {
    const first = await start(['--no-verify']);
    const second = await start(['--inbox', inboxOf(first)], { home: first.home });
    expect((await second.post({ id: 'a' })).status).toBe(200);
    await first.stop();
    await second.stop();
    expect(existsSync(`${inboxOf(first)}.lock`)).toBe(false);
    expect(existsSync(inboxOf(first))).toBe(true);
  });

  it('is removed by a later run when its own ended more than a week ago', async () => {
    const now = new FakeClock(Date.now());
    const { home } = await start([]);
    const parent = join(home, 'data', 'temporary');
    const ages = new Map<string, number>();
    const age = (): void => {
      for (const [directory, then] of ages) {
        if (!existsSync(directory)) continue;
        for (const file of readdirSync(directory)) utimesSync(join(directory, file), then, then);
      }
    };
    const left = async (
      name: string,
      { ageDays = 8, holder = 'dead', lead = 'none' } = {},
    ): Promise<string> => {
      const location = join(parent, name, 'inbox.db');
      const written = join(home, 'written', name);
      mkdirSync(written, { recursive: true });
      const targets = lead === 'pending' ? ['exec x'] : [];
      const inbox = await openInbox({ location: join(written, 'inbox.db'), clock: now, targets });
      await inbox.take([{ leadId: 'a', delivery: deliveryOf('{"id":"a"}') }]);
      await inbox.close();
      // The database library lets go of its files when memory is collected, and writes to them then: copies stay as old as
      // they are made.
      cpSync(written, dirname(location), { recursive: true });
      const self = { pid: process.ppid, host: hostname(), started: 1 };
      if (holder !== 'none') {
        writeFileSync(
          `${location}.lock`,
          JSON.stringify(holder === 'alive' ? self : { ...self, pid: 2 ** 22 + 1 }),
        );
      }
      ages.set(dirname(location), now.now() / 1000 - ageDays * 86_400);
      return location;
    };
    const abandoned = await left('inbox-abandoned');
    const others = [
      await left('inbox-young', { ageDays: 6 }),
      await left('inbox-in-use', { holder: 'alive' }),
      await left('inbox-kept', { holder: 'none' }),
      await left('inbox-pending', { lead: 'pending' }),
      await left('something-else'),
    ];
    age();
    const listener = await start(['--count', '1'], { home, clock: now });
    expect(existsSync(dirname(abandoned))).toBe(false);
    expect(others.filter((location) => !existsSync(location))).toEqual([]);
    await listener.stop();
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
