import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { rejection, type Rejection } from '../../../src/webhook/delivery-answer.ts';
import { openInbox } from '../../../src/inbox/open-inbox.ts';
import { FakeClock } from '../../support/clock.ts';
import { freshHome, leads } from '../../support/run.ts';
import { deliveryOf } from '../../inbox/support.ts';

const clock = new FakeClock();
const minute = 60_000;

interface Document {
  readonly total: number;
  readonly by: Record<string, Record<string, number>>;
  readonly series: readonly { readonly count: number }[];
  readonly inbox: Record<string, unknown> & { readonly longestGapMs: number | null };
  readonly expect?: readonly { readonly holds: boolean; readonly seen: number | null }[];
}

const iso = (ms: number): string => new Date(ms).toISOString();

/** Minutes before now at which each delivery came; a lead was created two seconds per letter before it first came. */
async function filled(): Promise<string> {
  const home = freshHome();
  const inbox = await openInbox({ location: join(home, 'data', 'inbox.db'), clock });
  const at = (minutes: number): number => clock.now() - minutes * minute;
  const take = (id: string, minutes: number, category = 'solar', source: 'push' | 'backfill' = 'push') => {
    const createdAt = iso(at(minutes) - 2000 * id.length);
    const body = ` {"event":"lead","data":{ "id":"${id}", "category":"${category}", "createdAt":"${createdAt}" }}`;
    const place = { start: body.indexOf('{ "id"'), end: body.length - 1 };
    return inbox.take([
      { leadId: id, source, place, delivery: deliveryOf(body, { receivedAt: at(minutes) }) },
    ]);
  };
  const reject = (reason: Rejection['reason'], minutes: number, body: string) =>
    inbox.reject([
      {
        delivery: deliveryOf(body, { receivedAt: at(minutes) }),
        rejection: rejection(reason, 'no'),
      },
    ]);
  await take('a', 200);
  await take('bb', 110, 'legal');
  await reject('wrong_credential', 100, 'no JSON');
  await take('pulled', 95, 'solar', 'backfill');
  await take('a', 70);
  await take('a', 60);
  await reject('wrong_credential', 40, '{"id":"z","category":"legal"}');
  await reject('stale_timestamp', 20, '{"id":"z","category":"solar"}');
  await take('cccc', 10);
  await inbox.close();
  return home;
}

const stats = async (home: string, ...flags: string[]) => {
  const run = await leads(['stats', '--inbox', ...flags], { home, clock });
  return { ...run, document: () => JSON.parse(run.stdout) as Document };
};

describe('leads stats --inbox', () => {
  it('counts deliveries, delays, attempts and the longest gap, by the time of receipt', async () => {
    const run = await stats(await filled(), '--json');
    expect(run).toMatchObject({ exitCode: 0, stderr: '' });
    expect(run.document()).toMatchObject({
      total: 4,
      by: { category: { solar: 3, legal: 1 }, status: { '(none)': 4 } },
      inbox: {
        received: 8,
        accepted: 3,
        duplicate: 2,
        rejected: 3,
        byReason: { wrong_credential: 2, stale_timestamp: 1 },
        backfilled: 1,
        delayMs: { p50: 4000, p90: 8000, p95: 8000, p99: 8000 },
        attemptsPerLead: 5 / 3,
        longestGapMs: 90 * minute,
      },
    });
  });

  it('counts a silence whole that began before the window, and none before the first receipt of all', async () => {
    const home = await filled();
    const gapOf = async (...flags: string[]): Promise<number | null> =>
      (await stats(home, '--json', ...flags)).document().inbox.longestGapMs;
    expect(await gapOf('--since', '58m')).toBe(50 * minute);
    expect(await gapOf('--since', '1d')).toBe(90 * minute);
    expect(await gapOf('--since', '65m', '--until', '30m')).toBe(30 * minute);
    expect(await gapOf('--since', '5m')).toBe(10 * minute);
    expect(await gapOf('--since', '50m', '--until', '15m')).toBe(45 * minute);
  });

  it('says so where nothing came to be measured', async () => {
    const table = await stats(await filled(), '--since', '5m');
    expect(table.stdout).toMatch(/^accepted +0/m);
    expect(table.stdout).toMatch(/^delay +none was measured$/m);
    expect(table.stdout).not.toMatch(/NaN|Infinity|undefined/);
  });

  it('applies filters to deliveries too, where their body holds a lead', async () => {
    const { inbox, total } = (await stats(await filled(), '--json', '--category', 'legal')).document();
    expect(total).toBe(1);
    expect(inbox).toMatchObject({
      received: 2,
      accepted: 1,
      duplicate: 0,
      rejected: 1,
      longestGapMs: 110 * minute,
    });
  });

  it('is an alarm: exit 7 with what does not hold, and what is', async () => {
    const home = await filled();
    const run = await stats(home, '-q', '--expect', 'gap<30m,duplicate<5%,p95<10s', '--json');
    expect(run.exitCode).toBe(7);
    expect(run.stderr).toBe(
      'warning: gap<30m does not hold: it is 1h 30m\nwarning: duplicate<5% does not hold: it is 25%\n',
    );
    expect(run.document().expect?.map(({ holds, seen }) => [holds, seen])).toEqual([
      [false, 90 * minute],
      [false, 0.25],
      [true, 8000],
    ]);
    expect((await stats(home, '--since', '1h', '--expect', 'gap<=50m,rejected<=2')).exitCode).toBe(0);
    const pulled = await stats(home, '-q', '--expect', 'backfilled<=1,backfilled<5%');
    expect([pulled.exitCode, pulled.stderr]).toEqual([
      7,
      'warning: backfilled<5% does not hold: it is 25%\n',
    ]);
  });

  it('of a file that is named and not there is an error: nobody knows', async () => {
    const argv = ['stats', '--inbox', '/nowhere/inbox.db', '--expect', 'duplicate<5%', '-q'];
    const { exitCode, stderr } = await leads(argv, { home: freshHome(), clock });
    expect([exitCode, stderr]).toEqual([
      3,
      expect.stringContaining('there is no inbox at /nowhere/inbox.db'),
    ]);
  });

  it('of an inbox that is not there, or empty, is a gap without an end', async () => {
    const home = freshHome();
    const absent = await stats(home, '--expect', 'gap<30m');
    expect(absent.exitCode).toBe(7);
    expect(absent.stderr).toMatch(
      /nothing was received yet.*\nwarning: gap<30m does not hold: nothing was received to measure it by\n$/,
    );
    await (await openInbox({ location: join(home, 'data', 'inbox.db'), clock })).close();
    const empty = await stats(home, '--since', '1h', '--expect', 'gap<30m', '--json');
    expect(empty.exitCode).toBe(7);
    expect(empty.document()).toMatchObject({
      total: 0,
      inbox: { received: 0, attemptsPerLead: null, delayMs: { p50: null }, longestGapMs: 60 * minute },
    });
    const short = await stats(home, '--since', '20m', '--expect', 'gap<30m,duplicate<5%,p95<1s', '-q');
    expect(short.exitCode).toBe(7);
    expect(short.stderr).toBe('warning: gap<30m does not hold: nothing was received to measure it by\n');
  });

  it('counts what is not kept any more as well', async () => {
    const home = freshHome();
    const inbox = await openInbox({ location: join(home, 'data', 'inbox.db'), clock });
    const delivery = deliveryOf('{"id":"a","createdAt":"soon"}', { receivedAt: clock.now() - 1000 });
    for (let i = 0; i < 150; i += 1) await inbox.take([{ leadId: 'a', delivery }]);
    const rejected = { delivery, rejection: rejection('wrong_credential', 'no') };
    await inbox.reject(Array.from({ length: 1200 }, () => rejected));
    await inbox.close();
    const { stderr, document } = await stats(home, '--json');
    expect(stderr).not.toContain('are kept');
    expect(document().inbox).toMatchObject({ received: 1350, rejected: 1200, duplicate: 149, accepted: 1 });
    const rejectedIn = (flag: string): Promise<{ exitCode: number }> =>
      stats(home, '-q', '--since', '1h', '--until', flag, '--expect', 'rejected<1');
    expect((await rejectedIn('1ms')).exitCode).toBe(7);
    expect((await rejectedIn('30m')).exitCode).toBe(0);
    // A filter cannot judge deliveries of which only the number is left.
    const narrowed = await stats(home, '-q', '--where', 'id=a', '--expect', 'duplicate>120');
    expect([narrowed.exitCode, narrowed.stderr]).toEqual([
      7,
      expect.stringContaining(
        'warning: whether duplicate>120 holds is not known: it is 100 without the deliveries',
      ),
    ]);
    expect(stderr).toContain('note: 1 received lead has no createdAt that can be read, and so no delay');
  });
});

it('says how many leads are not in the total, since their deliveries were pruned', async () => {
  const home = await filled();
  expect((await stats(home)).stderr).not.toContain('was removed');
  expect((await leads(['inbox', 'prune', '--before', '30m'], { home, clock })).exitCode).toBe(0);
  const { exitCode, stderr } = await stats(home);
  expect([exitCode, stderr]).toEqual([
    0,
    expect.stringContaining('note: 2 leads whose delivery was removed: not in the total'),
  ]);
});

it('does not say that nothing came where every delivery was pruned', async () => {
  const home = await filled();
  expect((await leads(['inbox', 'prune', '--before', '0s'], { home, clock })).exitCode).toBe(0);
  const { exitCode, stderr, document } = await stats(home, '--since', '2h', '--expect', 'gap<3h', '--json');
  expect(exitCode).toBe(7);
  expect(document()).toMatchObject({ inbox: { longestGapMs: null } });
  expect(stderr).toContain(
    'warning: whether gap<3h holds is not known: it needs the deliveries that are not stored any more\n',
  );
});
