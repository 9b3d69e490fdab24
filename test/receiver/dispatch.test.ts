import { expect, it } from 'vitest';
import { Dispatcher } from '../../src/receiver/dispatch.ts';
import type { Target } from '../../src/receiver/targets/target.ts';
import { CannotStoreError } from '../../src/inbox/cannot-store-error.ts';
import type { Inbox } from '../../src/inbox/inbox.ts';
import type { CheckedDelivery } from '../../src/webhook/check-delivery.ts';

const refusing: Target = {
  name: 'app',
  deliver: () => Promise.resolve({ to: 'forward', ok: false, answer: '500', durationMs: 1 }),
  close: () => Promise.resolve(),
};
const lead = { leadId: 'a' } as CheckedDelivery;
const taken = { kind: 'pending', leadId: 'a', seq: 1, targets: ['app', 'later'], busy: false } as const;
const known = { attempt: 1, firstAt: 0 };

const carrier = (release: Inbox['release']): Dispatcher =>
  new Dispatcher({ release } as Partial<Inbox> as Inbox, [refusing], false);

it('says that a lead was not taken once every lease on it is released', async () => {
  const released: string[] = [];
  const free: (() => void)[] = [];
  const carried = carrier((leases) => {
    released.push(...leases.map(({ target }) => target));
    return new Promise((resolve) => free.push(resolve));
  }).carry(lead, { ...taken, ...known });
  let over = false;
  void carried.then(() => (over = true));
  await new Promise(setImmediate);
  expect([released, over]).toEqual([['app', 'later'], false]);
  for (const give of free) give();
  expect((await carried).kind).toBe('pending');
});

it('says so as well when that cannot be stored', async () => {
  const failing = carrier(() => Promise.reject(new CannotStoreError('full')));
  expect((await failing.carry(lead, { ...taken, ...known })).kind).toBe('pending');
});
