import { expect, it } from 'vitest';
import { Dispatcher } from '../../src/receiver/dispatcher.ts';
import type { Target } from '../../src/receiver/targets/target.ts';
import { CannotStoreError } from '../../src/inbox/cannot-store-error.ts';
import type { Inbox } from '../../src/inbox/inbox.ts';
import type { CheckedDelivery } from '../../src/webhook/check-delivery.ts';

const failing: Target = {
  name: 'app',
  longestMs: 1000,
  deliver: () => Promise.resolve({ to: 'forward', ok: false, answer: '500', durationMs: 1 }),
};
const checked = { leadId: 'a' } as CheckedDelivery;
const leased = { kind: 'pending', leadId: 'a', seq: 1, targets: ['app', 'later'], busy: false } as const;
const stored = { ...leased, attempt: 1, firstAt: 0 };

const dispatcherWith = (release: Inbox['release']): Dispatcher =>
  new Dispatcher({ release } as Partial<Inbox> as Inbox, [failing], { now: () => 0 });

it('reports a lead as pending only when every lease on it is released', async () => {
  const released: string[] = [];
  const finishRelease: (() => void)[] = [];
  const dispatched = dispatcherWith((leases) => {
    released.push(...leases.map(({ target }) => target));
    return new Promise((resolve) => finishRelease.push(resolve));
  }).dispatch(checked, stored);
  let isDone = false;
  void dispatched.then(() => (isDone = true));
  await new Promise(setImmediate);
  expect([released, isDone]).toEqual([['app', 'later'], false]);
  for (const finish of finishRelease) finish();
  expect((await dispatched).kind).toBe('pending');
});

it('reports a lead as pending although the release of its leases cannot be stored', async () => {
  const dispatcher = dispatcherWith(() => Promise.reject(new CannotStoreError('full')));
  expect((await dispatcher.dispatch(checked, stored)).kind).toBe('pending');
});
