import { expect, it, onTestFinished } from 'vitest';
import type { ComparedSides } from '../../src/audit/repair.ts';
import { repairFindings, type RepairPlan } from '../../src/commands/audit/repair.ts';
import { ServiceError } from '../../src/errors.ts';
import type { ReceivedLeads } from '../../src/inbox/query-types.ts';
import { unverified } from '../../src/webhook/scheme.ts';
import { FakeClock } from '../support/clock.ts';
import { startStoringReceiver } from '../support/storing-receiver.ts';

const clock = new FakeClock();

async function* inOnePage<T>(items: readonly T[]): AsyncGenerator<readonly T[]> {
  yield await Promise.resolve(items);
}

/** Both sides of an audit that has found these leads missing. */
const sidesOf = (ids: readonly string[], lookUp: ReceivedLeads['lookUp']): ComparedSides => ({
  audit: {
    isProven: true,
    counts: { byClass: { missing: ids.length } as never },
    unreceived: (kind) =>
      inOnePage(
        kind === 'missing'
          ? ids.map((id) => ({ id, createdAt: undefined, bytes: Buffer.from(JSON.stringify({ id })) }))
          : [],
      ),
  },
  received: { name: 'the inbox', hasTimes: true, leads: { lookUp } },
  baseUrl: new URL('http://127.0.0.1:1/'),
});

/** What is said goes into the array. */
function contextOf(said: string[]): Parameters<typeof repairFindings>[2] {
  const say = (text: string): unknown => said.push(text);
  return {
    clock,
    signal: new AbortController().signal,
    messages: { note: say, say, warn: say } as never,
    status: undefined,
    random: Math.random,
  };
}

it('sends no lead again that was acknowledged before the inbox was out of sight', async () => {
  const ids = ['a', 'b', 'c'];
  const posted: string[] = [];
  const said: string[] = [];
  const receiver = await startStoringReceiver({ store: (id) => Promise.resolve(posted.push(id)) });
  onTestFinished(() => receiver.close());
  const plan: RepairPlan = {
    delivery: {
      url: new URL(receiver.url),
      isLocal: true,
      caFile: undefined,
      proxy: undefined,
      trust: { authorities: [], insecure: false },
      timeoutMs: 5000,
      signer: { scheme: unverified, key: undefined },
    },
    mostLeads: 100,
    acknowledgedEver: new Set(),
  };
  let isAway = true;
  const away = new ServiceError('the database does not answer');
  const sides = sidesOf(ids, (of) =>
    posted.length === ids.length && isAway ? Promise.reject(away) : Promise.resolve(of.map(() => undefined)),
  );
  const context = contextOf(said);
  const first = await repairFindings(sides, plan, context);
  expect(first).toMatchObject({ failure: away, repaired: new Set() });
  expect(said).toEqual([`3 of 3 leads acknowledged by ${new URL(receiver.url).origin}`]);
  isAway = false;
  expect((await repairFindings(sides, plan, context)).failure).toBeUndefined();
  expect(posted.sort()).toEqual(ids);
});

it('counts no lead that came by itself as stored, where the inbox fails then', async () => {
  const said: string[] = [];
  const away = new ServiceError('the database does not answer');
  let isAway = false;
  const sides = sidesOf(['a', 'b', 'c'], (ids) => {
    if (isAway) return Promise.reject(away);
    isAway = ids.length > 0;
    const received = { seq: 1, receivedAt: clock.now(), digest: undefined, isWaiting: false };
    return Promise.resolve(ids.map((id) => (id === 'c' ? undefined : received)));
  });
  const plan = { delivery: undefined, mostLeads: 100, acknowledgedEver: new Set<string>() };
  expect(await repairFindings(sides, plan, contextOf(said))).toEqual({
    failure: away,
    repaired: new Set(['a', 'b']),
  });
  expect(said).toEqual(['0 of 1 leads seen stored in the inbox']);
});
