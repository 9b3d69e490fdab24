import { expect, it } from 'vitest';
import { TargetDeliverer } from '../../src/receiver/deliver-to-targets.ts';
import type { Target, TargetResult } from '../../src/receiver/targets/target.ts';
import { CannotStoreError, type Inbox, type TargetLease } from '../../src/inbox/inbox.ts';
import type { CheckedDelivery, CheckedLead } from '../../src/webhook/check-delivery.ts';

const failing: Target = {
  name: 'app',
  longestMs: 1000,
  deliver: (_, leads) =>
    leads.map(() => Promise.resolve({ to: 'forward', ok: false, answer: '500', durationMs: 1 })),
};
const checked = {} as CheckedDelivery;
const leased = { kind: 'pending', leadId: 'a', seq: 1, targets: ['app', 'later'], busy: false } as const;
const lead = { leadId: 'a' } as CheckedLead;
const pending = [{ lead, stored: { ...leased, attempt: 1, firstAt: 0 } }];

const dispatcherWith = (release: Inbox['release']): TargetDeliverer =>
  new TargetDeliverer({ release } as Partial<Inbox> as Inbox, [failing], { now: () => 0 });

it('reports a lead as pending only when every lease on it is released', async () => {
  const released: string[] = [];
  const finishRelease: (() => void)[] = [];
  const dispatched = dispatcherWith((leases) => {
    released.push(...leases.map(({ target }) => target));
    return new Promise((resolve) => finishRelease.push(resolve));
  }).dispatch(checked, pending);
  let isDone = false;
  void dispatched.then(() => (isDone = true));
  await new Promise(setImmediate);
  expect([released, isDone]).toEqual([['app', 'later'], false]);
  for (const finish of finishRelease) finish();
  expect(await dispatched).toMatchObject([{ kind: 'pending' }]);
});

it('reports a lead as pending although the release of its leases cannot be stored', async () => {
  const dispatcher = dispatcherWith(() => Promise.reject(new CannotStoreError('full')));
  expect(await dispatcher.dispatch(checked, pending)).toMatchObject([{ kind: 'pending' }]);
});

it('marks each lead of a delivery as soon as its target has had it, whatever the others do', async () => {
  const done: string[] = [];
  let finish: (result: TargetResult) => void = () => undefined;
  const result = { to: 'exec', ok: true, answer: 'exit 0', durationMs: 1 } as const;
  const slow: Target = {
    name: 'app',
    longestMs: 1000,
    deliver: () => [new Promise((resolve) => (finish = resolve)), Promise.resolve(result)],
  };
  const inbox = {
    settle: (leases: readonly TargetLease[]) => {
      done.push(...leases.map(({ leadId }) => leadId));
      return Promise.resolve(leases.map(() => 'accepted' as const));
    },
  };
  const dispatched = new TargetDeliverer(inbox as Partial<Inbox> as Inbox, [slow], { now: () => 0 }).dispatch(
    checked,
    ['a', 'b'].map((leadId) => ({
      lead: { leadId } as CheckedLead,
      stored: { ...leased, leadId, targets: ['app'], attempt: 1, firstAt: 0 },
    })),
  );
  await expect.poll(() => done).toEqual(['b']);
  finish(result);
  expect(await dispatched).toMatchObject([{ kind: 'accepted' }, { kind: 'accepted' }]);
  expect(done).toEqual(['b', 'a']);
});
