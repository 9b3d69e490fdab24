import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { InterruptedError } from '../../../src/errors.ts';
import { arrivalOf, openReceiver } from '../../support/both-sides.ts';
import { FakeClock } from '../../support/clock.ts';
import { freshHome, startLeads, type LiveRun } from '../../support/run.ts';
import { type Scripted, scripted, sendJson } from '../../support/service.ts';
import { startStoringReceiver, type StoringReceiver } from '../../support/storing-receiver.ts';
import { until } from '../../support/until.ts';

const now = Date.UTC(2026, 5, 1, 12);
const minute = 60_000;
const leadOf = (id: string): object => ({ id, createdAt: new Date(now - 60 * minute).toISOString() });

let home: string;
let service: Scripted;
let receiver: StoringReceiver;
let listed: object[];
let isAway: boolean;
let clock: FakeClock;
let run: LiveRun | undefined;

beforeEach(async () => {
  home = freshHome();
  listed = [leadOf('a')];
  isAway = false;
  clock = new FakeClock(now);
  run = undefined;
  service = await scripted((_, response) => {
    response.sendDate = false;
    if (isAway) response.writeHead(503).end();
    else sendJson(response, { data: listed, nextCursor: null });
  });
  await store('a');
  receiver = await startStoringReceiver({ store });
});
afterEach(async () => {
  run?.abort(new InterruptedError('SIGINT'));
  await run?.done;
  await service.close();
  await receiver.close();
});

async function store(id: string): Promise<void> {
  const inbox = await openReceiver(home, now, []);
  await inbox.take([arrivalOf(id, Buffer.from(JSON.stringify(leadOf(id))), now - 59 * minute)]);
  await inbox.close();
}

function watch(words: readonly string[] = []): LiveRun {
  run = startLeads(['audit', '--watch', '10m', '--retries', '0', ...words], {
    home,
    env: { LEADS_API_KEY: 'k', LEADS_BASE_URL: service.url, LEADS_WEBHOOK_TOKEN: 't' },
    clock,
  });
  return run;
}

const lines = ({ stdout }: LiveRun): string[] => stdout.text().trim().split('\n').filter(Boolean);
const rounds = (count: number, of: LiveRun): Promise<void> =>
  until(() => lines(of).length >= count, `round ${count}: ${of.stdout.text()} ${of.stderr.text()}`);

/** Moves on to the next round, once the run waits for it. */
async function nextRound(): Promise<void> {
  const waits = clock.sleeps.filter((ms) => ms === 10 * minute).length;
  await until(() => clock.sleeps.filter((ms) => ms === 10 * minute).length > passed, `a wait after ${waits}`);
  passed += 1;
  clock.advance(10 * minute);
}
let passed = 0;
beforeEach(() => (passed = 0));

const interrupt = async (live: LiveRun): Promise<number> => {
  live.abort(new InterruptedError('SIGINT'));
  return (await live.done).exitCode;
};

describe('leads audit --watch', () => {
  it('prints a line each round, and ends with 0 at Ctrl-C', async () => {
    const live = watch();
    await rounds(1, live);
    expect(lines(live)).toEqual(['2026-06-01T12:00:00Z  no finding; 1 lead is on both sides']);
    listed = [...listed, leadOf('b')];
    await nextRound();
    await rounds(2, live);
    expect(lines(live)[1]).toBe('2026-06-01T12:10:00Z  not in order: 1 missing; 1 lead is on both sides');
    await store('b');
    await nextRound();
    await rounds(3, live);
    expect(lines(live)[2]).toBe('2026-06-01T12:20:00Z  no finding; 2 leads are on both sides');
    expect(await interrupt(live)).toBe(0);
  });

  it('repairs in each round, and guards each', async () => {
    listed = [...listed, leadOf('b')];
    const live = watch(['--send-to', receiver.url, '--max-repair', '1', '--json']);
    await rounds(2, live);
    expect(JSON.parse(lines(live)[1] ?? '')).toMatchObject({ type: 'summary', repaired: 1 });
    listed = [...listed, leadOf('c'), leadOf('d')];
    await nextRound();
    await rounds(5, live);
    expect(JSON.parse(lines(live)[4] ?? '')).toMatchObject({ repaired: 0, byClass: { missing: 2 } });
    expect(live.stderr.text()).toContain('2 leads are missing or refused, and --max-repair allows 1');
    await store('c');
    await nextRound();
    await rounds(7, live);
    expect(JSON.parse(lines(live)[6] ?? '')).toMatchObject({ repaired: 1 });
    expect(receiver.requests.map(({ id }) => id)).toEqual(['b', 'd']);
    expect(await interrupt(live)).toBe(0);
  });

  it('outlives a service that is away, and a receiver that is', async () => {
    const live = watch(['--send-to', 'http://127.0.0.1:1/']);
    await rounds(1, live);
    isAway = true;
    await nextRound();
    await until(() => live.stderr.text().includes('trying again every'));
    isAway = false;
    listed = [...listed, leadOf('b')];
    await nextRound();
    // The deliveries wait for their retries.
    await until(() => {
      clock.advance(1000);
      return lines(live).length >= 2;
    });
    expect(live.stderr.text()).toMatch(/^warning: http:\/\/127\.0\.0\.1:1 was not reached/m);
    expect(await interrupt(live)).toBe(0);
  });

  it.each([
    ['does not show in the inbox', []],
    ['does not show in the file', ['--received', 'app.ndjson']],
  ])('sends no lead again whose acknowledged delivery %s', async (_, words) => {
    await receiver.close();
    receiver = await startStoringReceiver({ store: () => Promise.resolve() });
    writeFileSync(join(home, 'app.ndjson'), `${JSON.stringify(leadOf('a'))}\n`);
    listed = [...listed, leadOf('b')];
    const where = words.map((word) => (word.endsWith('ndjson') ? join(home, word) : word));
    const live = watch(['--send-to', receiver.url, ...where]);
    await rounds(1, live);
    listed = [...listed, leadOf('c')];
    await nextRound();
    await rounds(2, live);
    await nextRound();
    await rounds(3, live);
    expect(receiver.requests.map(({ id }) => id)).toEqual(['b', 'c']);
    expect(lines(live)[2]).toMatch(/not in order: 2 missing;/);
    expect(live.stderr.text()).toMatch(
      /^note: leads that were acknowledged in an earlier round and are still not in .* not sent again$/m,
    );
    expect(await interrupt(live)).toBe(0);
  });

  it('ends with 0 also where the service is away, and with an error where it cannot begin', async () => {
    isAway = true;
    const live = watch();
    await until(() => live.stderr.text().includes('trying again every'));
    expect(await interrupt(live)).toBe(0);
    const none = freshHome();
    const other = startLeads(['audit', '--watch', '10m', '--inbox', join(none, 'x.db')], {
      home: none,
      env: { LEADS_API_KEY: 'k', LEADS_BASE_URL: service.url },
      clock,
    });
    expect((await other.done).exitCode).toBe(3);
  });
});
