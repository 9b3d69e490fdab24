import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openInboxReader } from '../../../src/inbox/open-inbox.ts';
import type { Inbox, StoredDelivery } from '../../../src/inbox/inbox.ts';
import { drawsFrom } from '../../../src/sandbox/data/seeded-random.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start-sandbox.ts';
import { rejection } from '../../../src/webhook/delivery-answer.ts';
import { arrivalOf, openReceiver } from '../../support/both-sides.ts';
import { FakeClock } from '../../support/clock.ts';
import { freshHome, leads, type Run, type RunOptions } from '../../support/run.ts';
import { scripted, sendJson } from '../../support/service.ts';
import { type Handling, startStoringReceiver, type StoringReceiver } from '../../support/storing-receiver.ts';
import { serving } from '../export/support.ts';

const now = Date.UTC(2026, 5, 1, 12);
const hour = 3_600_000;
const count = 30;

const recordOf = (n: number): Buffer =>
  Buffer.from(
    JSON.stringify({
      id: `lead_${n}`,
      category: 'solar',
      createdAt: new Date(now - (n + 1) * hour).toISOString(),
      score: n / 7,
      name: 'Ünal 🌞',
      status: 'new',
    }),
  );

let home: string;
let box: Sandbox;
let receiver: StoringReceiver;
let handle: (nth: number) => Handling | Promise<Handling>;
/** Whether the receiver stores in the inbox that is compared. */
let storesInInbox: boolean;
/** What the receiver hands each lead to. */
let targets: readonly string[];
let others: { id: string; body: Buffer }[];
/** The receiver's inbox, by its targets: opened at the first lead, as a receiver has it open beside the audit. */
const opened = new Map<string, Promise<Inbox>>();

/** The inbox has every third lead, and one was rejected. */
beforeEach(async () => {
  home = freshHome();
  handle = () => 'store';
  storesInInbox = true;
  targets = [];
  others = [];
  await serve(count, { maxLimit: 10 });
  await take(stored.map((n) => [`lead_${n}`, recordOf(n), now - (n + 1) * hour]));
  const inbox = await openReceiver(home, now, []);
  await inbox.reject([
    {
      delivery: arrivalOf('lead_1', recordOf(1), now - hour).delivery,
      rejection: rejection('wrong_credential', 'not the token'),
    },
  ]);
  await inbox.close();
  receiver = await startStoringReceiver({
    store: (id, body) =>
      storesInInbox ? take([[id, body, now]], targets) : Promise.resolve(others.push({ id, body })),
    handle: (nth) => handle(nth),
  });
});
afterEach(async () => {
  await box.close();
  await receiver.close();
  for (const inbox of opened.values()) await (await inbox).close();
  opened.clear();
});

async function take(
  leadsOf: readonly (readonly [string, Buffer, number])[],
  targets: readonly string[] = [],
) {
  const name = targets.join(' ');
  const opening = opened.get(name) ?? openReceiver(home, now, targets);
  opened.set(name, opening);
  const inbox = await opening;
  await inbox.take(leadsOf.map(([id, body, at]) => arrivalOf(id, body, at)));
}

const numbers = Array.from({ length: count }, (_, n) => n);
const lost = numbers.filter((n) => n % 3 !== 0);
const stored = numbers.filter((n) => n % 3 === 0);

/** The service lists as many leads from now on. */
async function serve(leadCount: number, more: Parameters<typeof startSandbox>[0]): Promise<void> {
  await (box as Sandbox | undefined)?.close();
  const records = Array.from({ length: leadCount }, (_, n) => recordOf(n));
  box = await startSandbox({ seed: 1, records, ...more }, { clock: new FakeClock(now) });
}

const options = (more: RunOptions = {}): RunOptions => ({
  home,
  env: { LEADS_API_KEY: 'sandbox-key', LEADS_BASE_URL: box.url, LEADS_WEBHOOK_TOKEN: 'shared' },
  clock: new FakeClock(now, { hasty: true }),
  ...more,
});
const late = ['--late-after', '30d'];
const audit = (words: readonly string[], more: RunOptions = {}): Promise<Run> =>
  leads(['audit', ...late, ...words], options(more));

const summaryOf = ({ stdout }: Run): Record<string, unknown> =>
  JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Record<string, unknown>;

async function storedDeliveries(): Promise<StoredDelivery[]> {
  const inbox = await openInboxReader({
    location: join(home, 'data', 'inbox.db'),
    clock: new FakeClock(now),
  });
  const found: StoredDelivery[] = [];
  for await (const one of inbox.list({ verdicts: ['accepted', 'duplicate'] })) found.push(one);
  await inbox.close();
  return found;
}

describe('leads audit --take-in', () => {
  it("stores refused and missing leads as backfilled, in the service's own bytes, once", async () => {
    const first = await audit(['--take-in', '--json']);
    expect(first.exitCode, first.stderr).toBe(0);
    expect(summaryOf(first)).toMatchObject({ repaired: 20, byClass: { missing: 19, refused: 1 } });
    expect(first.stderr).toMatch(/^20 of 20 leads stored in the inbox .*inbox\.db$/m);
    const deliveries = await storedDeliveries();
    expect(deliveries).toHaveLength(count);
    const fetched = deliveries.filter(({ source }) => source === 'backfill');
    expect(fetched.map(({ leadId }) => leadId).sort()).toEqual(lost.map((n) => `lead_${n}`).sort());
    for (const { leadId, body } of fetched) {
      expect(JSON.parse(Buffer.from(body).toString('utf8'))).toMatchObject({ id: leadId, name: 'Ünal 🌞' });
      expect(Buffer.from(body).toString('utf8')).toContain(`"score":${Number(leadId?.slice(5)) / 7},`);
    }
    const second = await audit(['--take-in', '--json']);
    expect([second.exitCode, second.stderr, summaryOf(second)['repaired']]).toEqual([0, '', 0]);
    expect(await storedDeliveries()).toHaveLength(count);
  });

  it('under --quiet says on stderr what was lost and repaired, and nothing the next time', async () => {
    const first = await audit(['--take-in', '--quiet']);
    expect([first.exitCode, first.stdout]).toEqual([0, '']);
    expect(first.stderr).toMatch(/^missing +19 /m);
    expect(first.stderr).toMatch(/^repaired +20 +of the refused and missing ones$/m);
    expect(first.stderr).toMatch(/^missing +lead_2 .* repaired$/m);
    expect(first.stderr).toMatch(/^nothing is left to repair: 1 refused, 19 missing, 20 repaired; /m);
    expect(await audit(['--take-in', '--quiet'])).toMatchObject({ exitCode: 0, stdout: '', stderr: '' });
  });

  it('leaves other findings, which are exit 7', async () => {
    await take([['not listed', Buffer.from('{"id":"not listed"}'), now - 2 * hour]]);
    const run = await audit(['--take-in']);
    expect(run.exitCode).toBe(7);
    expect(run.stdout).toMatch(/^repaired +20 +of the refused and missing ones$/m);
    expect(run.stdout).toMatch(/^refused +lead_1 .*wrong_credential; repaired$/m);
    expect(run.stdout).toMatch(/^extra +1 /m);
  });
});

describe('leads audit --send-to', () => {
  const send = (words: readonly string[] = [], more?: RunOptions): Promise<Run> =>
    audit(['--send-to', receiver.url, '--json', ...words], more);

  it.each([1, 2, 3])(
    'ends with each lead stored once, at a receiver that fails half the time (%i)',
    async (seed) => {
      const draw = drawsFrom(seed);
      const faults: readonly Handling[] = ['reset', 500, 'store and reset', 'store and 500', 429];
      const firstTwo: Handling[] = ['store and reset', 500];
      handle = () =>
        firstTwo.pop() ?? (draw() < 0.5 ? 'store' : (faults[Math.floor(draw() * faults.length)] ?? 500));
      const first = await send();
      expect(first.exitCode, first.stderr).toBe(0);
      expect(summaryOf(first)['repaired']).toBe(lost.length);
      const accepted = (await storedDeliveries()).filter(({ verdict }) => verdict === 'accepted');
      expect(accepted).toHaveLength(count);
      expect(new Set(accepted.map(({ leadId }) => leadId)).size).toBe(count);
      expect(new Set(receiver.requests.map(({ token }) => token))).toEqual(new Set(['shared']));
      for (const { id, body } of receiver.requests) expect(body).toEqual(recordOf(Number(id.slice(5))));
      const sent = receiver.requests.length;
      const second = await send();
      expect([second.exitCode, second.stderr]).toEqual([0, '']);
      expect(receiver.requests).toHaveLength(sent);
    },
  );

  it('sends nothing where there is more to repair than --max-repair allows', async () => {
    for (const words of [['--send-to', receiver.url], ['--take-in']]) {
      const run = await audit([...words, '--max-repair', '19', '--json', '--quiet']);
      expect([run.exitCode, summaryOf(run)['repaired']]).toEqual([7, 0]);
      expect(run.stderr).toBe(
        'warning: nothing was repaired: 20 leads are missing or refused, and --max-repair allows 19; ' +
          'raise it once it is clear that they were really lost\n',
      );
    }
    expect(receiver.requests).toEqual([]);
    expect(await storedDeliveries()).toHaveLength(10);
    expect((await send(['--max-repair', '20'])).exitCode).toBe(0);
  });

  it('sends nothing where the service fails on the way', async () => {
    await serve(count, { maxLimit: 10, faults: { truncate: { chance: 0.9 } } });
    const run = await send(['--take-in', '--retries', '1']);
    expect([5, 6]).toContain(run.exitCode);
    expect(run.stdout).toBe('');
    expect(receiver.requests).toEqual([]);
    expect(await storedDeliveries()).toHaveLength(10);
  });

  it.each<[string, readonly string[], number]>([
    ['is not proven', [], 6],
    ['is not proven, and accepted', ['--accept-incomplete'], 7],
  ])('sends nothing after a walk that %s', async (_, words, exitCode) => {
    const service = await scripted((request, response) => {
      const { searchParams } = new URL(request.url ?? '', 'http://localhost');
      const all = Array.from({ length: 10 }, (_, n) => JSON.parse(recordOf(n).toString('utf8')) as object);
      sendJson(response, { data: all.slice(0, Number(searchParams.get('limit') ?? 10)) });
    });
    const env = { LEADS_API_KEY: 'k', LEADS_BASE_URL: service.url, LEADS_WEBHOOK_TOKEN: 't' };
    const run = await send(['--take-in', ...words], { env });
    await service.close();
    expect(run.exitCode, run.stderr).toBe(exitCode);
    if (exitCode === 7) {
      expect(run.stderr).toContain(
        'nothing was repaired: the service does not show that its list is complete',
      );
      expect(summaryOf(run)['repaired']).toBe(0);
    }
    expect(receiver.requests).toEqual([]);
    expect(await storedDeliveries()).toHaveLength(10);
  });

  it('says which leads were not acknowledged, and leaves alone a receiver that refuses them all', async () => {
    handle = (nth) => (nth % 2 === 0 ? 'store' : 400);
    const half = await send();
    expect([half.exitCode, summaryOf(half)['repaired']]).toEqual([7, 10]);
    expect(half.stderr).toMatch(/^10 of 20 leads acknowledged by http/m);
    expect(half.stderr).toMatch(/^warning: 10 leads were not acknowledged: it answered 400$/m);
    handle = () => 401;
    const refused = await send();
    expect(refused.exitCode).toBe(7);
    expect(refused.stderr).toContain('it answered 401: check that both sides use the same scheme and secret');
    expect(receiver.requests).toHaveLength(30);
  });

  it('leaves a receiver alone that refuses the first leads, however many there are', async () => {
    await serve(166, { maxLimit: 100 });
    handle = () => 404;
    const run = await send();
    expect([run.exitCode, summaryOf(run)['repaired']]).toEqual([7, 0]);
    expect(run.stderr).toMatch(
      /^warning: 156 leads were not acknowledged: it answered 404: .*; after 2\d of them the others were not tried$/m,
    );
    expect(receiver.requests.length).toBeLessThan(30);
  });

  it('counts what the inbox shows as repaired, where the receiver answered none of it', async () => {
    handle = () => 'store and reset';
    const run = await send();
    expect(run.stderr).toMatch(/^0 of 20 leads acknowledged/m);
    expect(run.stderr).not.toContain('was not reached');
    expect(run.stderr).toMatch(/^warning: 20 leads were not acknowledged: /m);
    expect([run.exitCode, summaryOf(run)['repaired']]).toEqual([0, 20]);
  });

  it.each([410, 429])('leaves a receiver alone that answers %i and means it', async (status) => {
    await serve(166, { maxLimit: 100 });
    await receiver.close();
    let requests = 0;
    const scriptedReceiver = await serving((_request, response) => {
      requests += 1;
      if (requests === 1) response.writeHead(200).end();
      else response.writeHead(status, { 'retry-after': '3600' }).end();
    });
    const run = await audit(['--send-to', scriptedReceiver.url, '--json']);
    receiver = await startStoringReceiver({ store: () => Promise.resolve() });
    expect(run.exitCode).toBe(7);
    expect(run.stderr).toMatch(/^1 of 156 leads acknowledged/m);
    expect(run.stderr).toMatch(/; after 2\d of them the others were not tried$/m);
    expect(requests).toBeLessThan(30);
  });

  it('leaves a receiver alone that has acknowledged something and then never answers', async () => {
    storesInInbox = false;
    handle = (nth) => (nth === 0 ? 'store' : 'never answer');
    const run = await send(['--timeout', '120ms']);
    expect([run.exitCode, others.length]).toEqual([7, 1]);
    expect(run.stderr).toMatch(
      /^warning: 19 leads were not acknowledged: .*; after \d+ of them the others were not tried$/m,
    );
    expect(receiver.requests.length).toBeLessThan(130);
  });

  it('ends with 5 where nothing was reached, after the findings', async () => {
    await receiver.close();
    const run = await send();
    receiver = await startStoringReceiver({ store: () => Promise.resolve() });
    expect(run.exitCode).toBe(5);
    expect(run.stderr).toMatch(
      /"code":"service_unavailable","message":"http:\/\/127\.0\.0\.1:\d+ was not reached/,
    );
    expect(summaryOf(run)).toMatchObject({ repaired: 0, byClass: { missing: 19 } });
  });

  it('claims no repair of what the receiver acknowledged and the inbox does not have', async () => {
    storesInInbox = false;
    const run = await send();
    expect([run.exitCode, summaryOf(run)['repaired'], others.length]).toEqual([7, 0, 20]);
    expect(run.stderr).toMatch(
      /^warning: 20 acknowledged leads are not in the inbox .*: with --take-in what/m,
    );
  });

  it('stores with --take-in what the receiver acknowledged, and nothing else', async () => {
    storesInInbox = false;
    handle = (nth) => (nth % 2 === 0 ? 'store' : 422);
    const run = await send(['--take-in']);
    expect([run.exitCode, summaryOf(run)['repaired']]).toEqual([7, 10]);
    const fetched = (await storedDeliveries()).filter(({ source }) => source === 'backfill');
    expect(fetched.map(({ leadId }) => leadId).sort()).toEqual(others.map(({ id }) => id).sort());
    handle = () => 'store';
    expect((await send(['--take-in'])).exitCode).toBe(0);
    expect((await send(['--take-in'])).stderr).toBe('');
    expect(new Set(others.map(({ id }) => id)).size).toBe(20);
    expect(others).toHaveLength(20);
  });

  it('stores nothing twice where the receiver stores in the same inbox', async () => {
    expect((await send(['--take-in'])).exitCode).toBe(0);
    expect(await storedDeliveries()).toHaveLength(count);
  });

  it('does not send a lead that came while others were sent', async () => {
    handle = async (nth): Promise<Handling> => {
      if (nth === 0) await take([['lead_79', Buffer.from('{"id":"lead_79"}'), now]]);
      return 'store';
    };
    await serve(80, { maxLimit: 100 });
    const run = await send();
    expect(run.stderr).toMatch(/^69 of 69 leads acknowledged/m);
    expect(receiver.requests.map(({ id }) => id)).not.toContain('lead_79');
    expect([run.exitCode, summaryOf(run)['repaired']]).toEqual([0, 70]);
  });

  it('counts what an application acknowledged where its own file is the received side', async () => {
    storesInInbox = false;
    const file = join(home, 'app.ndjson');
    writeFileSync(file, stored.map((n) => `${recordOf(n).toString('utf8')}\n`).join(''));
    const run = await send(['--received', file]);
    expect(run.exitCode, run.stderr).toBe(0);
    expect([summaryOf(run)['repaired'], others.length]).toEqual([20, 20]);
    expect(run.stderr).toContain('does not show them: compare with a new export before the next repair');
  });

  it.each<[string, readonly string[], number, string]>([
    ['plain HTTP beyond this machine', ['--send-to', 'http://example.com/'], 2, 'is plain HTTP'],
    ['no scheme', ['--send-to', 'https://localhost:1/'], 3, 'nothing says how deliveries are signed'],
    ['--take-in with --received', ['--take-in', '--received', 'x'], 2, '--take-in and --received'],
    ['--no-verify without --send-to', ['--no-verify'], 2, '--no-verify needs --send-to'],
    [
      'stdin twice',
      ['--send-to', 'https://localhost:1/', '--received', '-', '--token-file', '-'],
      2,
      'stdin can be read only once',
    ],
  ])('rejects before anything is asked: %s', async (_, words, exitCode, message) => {
    const env = { LEADS_API_KEY: 'sandbox-key', LEADS_BASE_URL: 'http://127.0.0.1:1' };
    const run = await audit(words, { env });
    expect(run.stderr).toContain(message);
    expect(run.exitCode).toBe(exitCode);
  });
});
