import { expect, it, onTestFinished } from 'vitest';
import { repairFindings, type RepairPlan } from '../../src/commands/audit/repair.ts';
import { ServiceError } from '../../src/errors.ts';
import { unverified } from '../../src/webhook/scheme.ts';
import { FakeClock } from '../support/clock.ts';
import { startStoringReceiver } from '../support/storing-receiver.ts';

const clock = new FakeClock();

async function* inOnePage<T>(items: readonly T[]): AsyncGenerator<readonly T[]> {
  yield await Promise.resolve(items);
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
    sent: new Set(),
  };
  let isAway = true;
  const away = new ServiceError('the database does not answer');
  const sides: Parameters<typeof repairFindings>[0] = {
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
    received: {
      name: 'the inbox',
      hasTimes: true,
      leads: {
        lookUp: (of) =>
          posted.length === ids.length && isAway
            ? Promise.reject(away)
            : Promise.resolve(of.map(() => undefined)),
      },
    },
    baseUrl: new URL('http://127.0.0.1:1/'),
  };
  const say = (text: string): unknown => said.push(text);
  const messages = { note: say, say, warn: say } as never;
  const context = {
    clock,
    signal: new AbortController().signal,
    messages,
    status: undefined,
    random: Math.random,
  };
  const first = await repairFindings(sides, plan, context);
  expect(first).toMatchObject({ failure: away, repaired: new Set() });
  expect(said).toEqual([`3 of 3 leads acknowledged by ${new URL(receiver.url).origin}`]);
  isAway = false;
  expect((await repairFindings(sides, plan, context)).failure).toBeUndefined();
  expect(posted.sort()).toEqual(ids);
});
