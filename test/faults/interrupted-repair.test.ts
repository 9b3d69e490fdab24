import { afterEach, beforeEach, expect, it } from 'vitest';
import { join } from 'node:path';
import { drawsFrom } from '../../src/sandbox/data/seeded-random.ts';
import { openInboxReader } from '../../src/inbox/open-inbox.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.ts';
import { systemClock } from '../../src/time/clock.ts';
import { startProgram, type RunningProgram } from '../support/listen-process.ts';
import { arrivalOf, openReceiver } from '../support/both-sides.ts';
import { full } from '../support/faults.ts';
import { freshHome } from '../support/run.ts';
import { type Handling, startStoringReceiver, type StoringReceiver } from '../support/storing-receiver.ts';
import { until } from '../support/until.ts';

const count = 60;
const ids = Array.from({ length: count }, (_, n) => `lead_${n}`);
const now = Date.now();
const records = ids.map((id, n) =>
  Buffer.from(JSON.stringify({ id, createdAt: new Date(now - (n + 2) * 3_600_000).toISOString() })),
);

let home: string;
let box: Sandbox;
let receiver: StoringReceiver;
let handle: (nth: number) => Handling;

/** The inbox has the oldest lead. The receiver stores in it, in another process than the audit. */
beforeEach(async () => {
  home = freshHome();
  const inbox = await openReceiver(home, now, []);
  await inbox.take([arrivalOf(ids.at(-1) ?? '', records.at(-1) ?? Buffer.of(), now)]);
  await inbox.close();
  box = await startSandbox({ seed: 1, records }, { clock: systemClock });
  receiver = await startStoringReceiver({
    handle: (nth) => handle(nth),
    async store(id, body) {
      const open = await openReceiver(home, now, []);
      await open.take([arrivalOf(id, body, Date.now())]);
      await open.close();
    },
  });
});
afterEach(async () => {
  await box.close();
  await receiver.close();
});

const audit = (words: readonly string[]): RunningProgram =>
  startProgram(['audit', '--json', '--late-after', '30d', ...words], home, {
    LEADS_API_KEY: 'sandbox-key',
    LEADS_BASE_URL: box.url,
    LEADS_WEBHOOK_TOKEN: 't',
  });

/** By id, how many deliveries of it were taken in as the first one. */
async function acceptedIds(): Promise<string[]> {
  const inbox = await openInboxReader({ location: join(home, 'data', 'inbox.db'), clock: systemClock });
  const accepted: string[] = [];
  for await (const { leadId } of inbox.list({ verdicts: ['accepted'] })) accepted.push(leadId ?? '');
  await inbox.close();
  return accepted;
}

it('Ctrl-C while leads are sent says what was acknowledged, and claims nothing', async () => {
  handle = (nth) => (nth < 7 ? 'store' : 'never answer');
  const run = audit(['--send-to', receiver.url]);
  // Four are in flight then.
  await until(() => receiver.requests.length === 11, `requests: ${run.stderr()}`);
  run.child.kill('SIGINT');
  const { exitCode } = await run.done;
  expect({ exitCode, stdout: run.stdout() }).toEqual({ exitCode: 130, stdout: '' });
  expect(run.stderr()).toMatch(
    /^warning: interrupted: 7 of 59 leads acknowledged by http:\S+ before that; what was in flight may have arrived as well$/m,
  );
  expect(receiver.requests).toHaveLength(11);
  handle = () => 'store';
  const again = audit(['--send-to', receiver.url]);
  expect(await again.done, again.stderr()).toEqual({ exitCode: 0 });
  expect((await acceptedIds()).sort()).toEqual([...ids].sort());
});

const mostKills = full ? 3 : 1;

it.each([
  ['--send-to', 1],
  ['--send-to and --take-in', 2],
])('killed by -9 again and again, %s ends with each lead stored once (%i)', async (words, seed) => {
  const draw = drawsFrom(seed);
  const failures: readonly Handling[] = ['store and reset', 500, 'reset'];
  for (let kills = 0; ; kills += 1) {
    const start = receiver.requests.length;
    const killAt = start + 5 + Math.floor(draw() * 20);
    const repairing = audit(['--send-to', receiver.url, ...(words.includes('take-in') ? ['--take-in'] : [])]);
    handle = (nth) => {
      if (kills < mostKills && nth === killAt) {
        repairing.child.kill('SIGKILL');
        return 'store and reset';
      }
      return draw() < (full ? 0.9 : 0.97) ? 'store' : (failures[nth % failures.length] ?? 500);
    };
    const { exitCode } = await repairing.done;
    if (kills < mostKills) {
      expect(exitCode).toBe(null);
      continue;
    }
    expect(exitCode, repairing.stderr()).toBe(0);
    break;
  }
  expect((await acceptedIds()).sort()).toEqual([...ids].sort());
  const sent = receiver.requests.length;
  const last = audit(['--send-to', receiver.url]);
  expect(await last.done, last.stderr()).toEqual({ exitCode: 0 });
  expect(receiver.requests).toHaveLength(sent);
});
