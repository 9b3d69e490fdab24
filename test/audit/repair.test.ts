import { expect, it } from 'vitest';
import { repairFindings, type RepairPlan } from '../../src/commands/audit/repair.ts';
import { ServiceError } from '../../src/errors.ts';
import { fixedWaits, createSender } from '../../src/sender/sender.ts';
import { unverified } from '../../src/webhook/scheme.ts';
import { FakeClock } from '../support/clock.ts';

const clock = new FakeClock();

/** A receiver that acknowledges everything, with the ids that were posted to it. */
function planTo(posted: string[]): RepairPlan {
  const url = new URL('http://127.0.0.1:1/hook');
  const answer = { ok: true, status: 200, headers: {}, body: Buffer.alloc(0), durationMs: 1 } as const;
  const post = ({ body }: { readonly body: Uint8Array }) => {
    posted.push(Buffer.from(body).toString());
    return Promise.resolve(answer);
  };
  const poster = { post, close: () => undefined };
  const signer = { scheme: unverified, key: undefined };
  return {
    target: {
      url,
      isLocal: true,
      caFile: undefined,
      proxy: undefined,
      trust: { authorities: [], insecure: false },
    },
    mostLeads: 100,
    sent: new Set(),
    openDelivery: () => ({
      clock,
      createSender: () => createSender({ signer, schedule: fixedWaits([]), poster, clock }),
      async *deliveriesOf(leads) {
        for await (const lead of leads) yield { ...lead, id: `msg_${lead.leadId}`, target: url.href };
      },
      close: () => undefined,
    }),
  };
}

async function* inOnePage<T>(items: readonly T[]): AsyncGenerator<readonly T[]> {
  yield await Promise.resolve(items);
}

it('sends no lead again that was acknowledged before the inbox was out of sight', async () => {
  const ids = ['a', 'b', 'c'];
  const posted: string[] = [];
  const said: string[] = [];
  const plan = planTo(posted);
  const away = new ServiceError('the database does not answer');
  const sides: Parameters<typeof repairFindings>[0] = {
    audit: {
      isProven: true,
      counts: { byClass: { missing: ids.length } as never },
      unreceived: (kind) =>
        inOnePage(
          kind === 'missing' ? ids.map((id) => ({ id, createdAt: undefined, bytes: Buffer.from(id) })) : [],
        ),
    },
    received: {
      name: 'the inbox',
      hasTimes: true,
      leads: {
        // It is there until everything was sent, and again in the next round.
        lookUp: (of) =>
          posted.length === ids.length && plan.sent.size === 0
            ? Promise.reject(away)
            : Promise.resolve(of.map(() => undefined)),
      },
    },
    baseUrl: new URL('http://127.0.0.1:1/'),
  };
  const say = (text: string): unknown => said.push(text);
  const messages = { note: say, say, warn: say } as never;
  const context = { clock, signal: new AbortController().signal, messages, status: undefined };
  const first = await repairFindings(sides, plan, context);
  expect(first).toMatchObject({ failure: { error: away }, repaired: new Set() });
  expect(said).toEqual(['3 of 3 leads acknowledged by http://127.0.0.1:1']);
  expect((await repairFindings(sides, plan, context)).failure).toBeUndefined();
  expect(posted.sort()).toEqual(ids);
});
