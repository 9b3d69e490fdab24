import { afterEach, expect, it } from 'vitest';
import { CannotStoreError } from '../../../src/inbox/errors.ts';
import { TcpProxy } from '../../support/postgres/proxy.ts';
import { open, takeOne, takeStored } from '../stores.ts';
import { all, arrivalOf, doneAt } from '../support.ts';
import { describeWithPostgres, inboxIn } from './database.ts';

const proxies: TcpProxy[] = [];
afterEach(async () => {
  for (const proxy of proxies.splice(0)) await proxy.stop();
});

describeWithPostgres('a COMMIT whose answer is lost', (address) => {
  async function receivers(options: Parameters<typeof open>[1] = {}) {
    const proxy = await TcpProxy.start(address);
    proxies.push(proxy);
    const inbox = inboxIn(address);
    const cut = await open(inbox.location({ port: proxy.port }), options);
    const other = await open(inbox.location(), options);
    return { proxy, inbox, cut, other };
  }

  it.each(['cut', 'other'] as const)('is no answer, and the repeat is a duplicate: %s', async (next) => {
    const { proxy, ...inboxes } = await receivers();
    const { cut } = inboxes;
    await takeOne(cut, arrivalOf({ id: 'before' }));
    const lost = proxy.loseNextCommit('a');
    await expect(takeOne(cut, arrivalOf({ id: 'a' }))).rejects.toThrow(CannotStoreError);
    await lost;
    expect(await takeOne(inboxes[next], arrivalOf({ id: 'a' }))).toMatchObject({
      kind: 'duplicate',
      attempt: 2,
    });
    const accepted = await all(cut.list({ leadId: 'a', verdicts: ['accepted'] }));
    expect(accepted.map(({ attempt }) => attempt)).toEqual([1]);
    expect((await all(cut.leads({}))).map(({ leadId }) => leadId)).toEqual(['before', 'a']);
  });

  it('is said, with the number of leads that may have been stored', async () => {
    const warnings: unknown[] = [];
    const { proxy, cut } = await receivers({ warn: (found) => void warnings.push(found) });
    const lost = proxy.loseNextCommit('b');
    await expect(cut.take([arrivalOf({ id: 'a' }), arrivalOf({ id: 'b' })])).rejects.toThrow(
      CannotStoreError,
    );
    await lost;
    expect(warnings).toMatchObject([
      { message: expect.stringContaining('whether it stored 2 leads') as string },
    ]);
  });

  it('leaves its lead due for each target, without another delivery', async () => {
    const { proxy, cut, other } = await receivers({ targets: ['t'], claimMs: 5000 });
    const lost = proxy.loseNextCommit('a');
    await expect(takeOne(cut, arrivalOf({ id: 'a' }))).rejects.toThrow(CannotStoreError);
    await lost;
    expect(await other.claim('t', 9)).toMatchObject([{ leadId: 'a', tries: 1 }]);
    expect(await takeOne(other, arrivalOf({ id: 'a' }))).toMatchObject({ kind: 'duplicate' });
  });

  it('of a target that has had a lead is no answer, and the target has had it', async () => {
    const { proxy, cut, other } = await receivers({ targets: ['t'], claimMs: 60_000 });
    const stored = await takeStored(cut, arrivalOf({ id: 'a' }));
    const lost = proxy.loseNextCommit("SET state = 'done'");
    const result = { ok: true, answer: '200', durationMs: 1, at: 1, kind: 'forward' } as const;
    await expect(cut.record([{ ...doneAt(stored, 't'), result }])).rejects.toThrow(CannotStoreError);
    await lost;
    expect(await all(other.list({}))).toMatchObject([
      { verdict: 'accepted', status: 200, results: [result] },
    ]);
    expect((await other.forwards(['a'])).get('a')).toMatchObject([{ state: 'done' }]);
  });
});
