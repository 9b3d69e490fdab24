import { expect, it } from 'vitest';
import { TargetDeliverer } from '../../src/receiver/deliver-to-targets.ts';
import type { Target, TargetResult } from '../../src/receiver/targets/target.ts';
import { CannotStoreError, type Inbox, type TargetLease } from '../../src/inbox/inbox.ts';
import type { CheckedDelivery, CheckedLead } from '../../src/webhook/check-delivery.ts';
import { FakeClock } from '../support/clock.ts';

const failing: Target = {
  name: 'app',
  deliver: (_, leads) =>
    leads.map(() => Promise.resolve({ to: 'forward', ok: false, answer: '500', durationMs: 1 })),
};
const checked = {} as CheckedDelivery;
const named = (...names: string[]) => names.map((name) => ({ name, tries: 0 }));
const leased = {
  kind: 'pending',
  leadId: 'a',
  seq: 1,
  targets: named('app', 'later'),
  busy: false,
} as const;
const lead = { leadId: 'a' } as CheckedLead;
const pending = [{ lead, stored: { ...leased, attempt: 1, firstAt: 0 } }];

const dispatcherWith = (release: Inbox['release']): TargetDeliverer =>
  new TargetDeliverer({ release } as Partial<Inbox> as Inbox, [failing], new FakeClock(0));

it('reports a lead as pending only when the lease of the target that failed is released', async () => {
  const released: string[] = [];
  const finishRelease: (() => void)[] = [];
  const dispatched = dispatcherWith((leases) => {
    released.push(...leases.map(({ target }) => target));
    return new Promise((resolve) => finishRelease.push(resolve));
  }).dispatch(checked, pending, 0);
  let isDone = false;
  void dispatched.then(() => (isDone = true));
  await new Promise(setImmediate);
  expect([released, isDone]).toEqual([['app'], false]);
  for (const finish of finishRelease) finish();
  expect(await dispatched).toMatchObject([{ kind: 'pending' }]);
});

it.each([true, false])('says whether it is stored that a lead is given up: %s', async (isStored) => {
  const given: boolean[] = [];
  const onTry = () => ({ dead: true, onReleased: (is: boolean) => void given.push(is) }) as const;
  const release = () => (isStored ? Promise.resolve() : Promise.reject(new CannotStoreError('full')));
  const inbox: Partial<Inbox> = { release };
  const dispatcher = new TargetDeliverer(inbox as Inbox, [failing], new FakeClock(0), { onTry });
  await dispatcher.dispatch(checked, pending, 0);
  expect(given).toEqual([isStored]);
});

it('leaves what a signal ended for later while the receiver stops, and asks nobody what to make of it', async () => {
  const released: TargetLease[] = [];
  const inbox: Partial<Inbox> = {
    release(leases) {
      released.push(...leases);
      return Promise.resolve();
    },
  };
  const ended: Target = {
    ...failing,
    bestEffort: true,
    deliver: (_, leads) =>
      leads.map(() =>
        Promise.resolve({ to: 'exec', ok: false, answer: 'SIGTERM', durationMs: 1, isInterrupted: true }),
      ),
  };
  const onTry = () => ({ dead: true }) as const;
  const stopping = AbortSignal.abort();
  const dispatcher = new TargetDeliverer(inbox as Inbox, [ended], new FakeClock(1_000), { onTry, stopping });
  expect(await dispatcher.dispatch(checked, pending, 0)).toMatchObject([{ kind: 'pending' }]);
  expect(released).toMatchObject([{ leadId: 'a', retryAt: 6_000 }]);
  expect(released[0]).not.toHaveProperty('dead');
});

it('hands a lead to every target at once, and keeps what each made of it', async () => {
  const handed: string[] = [];
  const answers: ((result: TargetResult) => void)[] = [];
  const result = { to: 'exec', ok: true, answer: 'exit 0', durationMs: 1 } as const;
  const waiting = (name: string): Target => ({
    ...failing,
    name,
    deliver: () => [new Promise((resolve) => answers.push(resolve))],
  });
  const note = (what: string) => (leases: readonly TargetLease[]) => {
    handed.push(...leases.map(({ target }) => `${what} ${target}`));
    return Promise.resolve(leases.map(() => 'pending' as const));
  };
  const released = note('released');
  const inbox: Partial<Inbox> = {
    settle: note('settled'),
    async release(leases) {
      await released(leases);
    },
  };
  const dispatched = new TargetDeliverer(
    inbox as Inbox,
    ['slow', 'app', 'later'].map(waiting),
    new FakeClock(0),
  ).dispatch(
    checked,
    [{ lead, stored: { ...leased, targets: named('slow', 'app', 'later'), attempt: 1, firstAt: 0 } }],
    0,
  );
  await expect.poll(() => answers.length).toBe(3);
  answers[1]?.({ ...result, ok: false, answer: 'exit 1' });
  answers[2]?.(result);
  await expect.poll(() => handed.toSorted()).toEqual(['released app', 'settled later']);
  answers[0]?.({ ...result, answer: 'slow' });
  expect(await dispatched).toMatchObject([
    { kind: 'pending', targetResults: [{ answer: 'slow' }, { answer: 'exit 1' }, { answer: 'exit 0' }] },
  ]);
});

it('reports a lead as pending although the release of its leases cannot be stored', async () => {
  const dispatcher = dispatcherWith(() => Promise.reject(new CannotStoreError('full')));
  expect(await dispatcher.dispatch(checked, pending, 0)).toMatchObject([{ kind: 'pending' }]);
});

it('marks each lead of a delivery as soon as its target has had it, whatever the others do', async () => {
  const done: string[] = [];
  let finish: (result: TargetResult) => void = () => undefined;
  const result = { to: 'exec', ok: true, answer: 'exit 0', durationMs: 1 } as const;
  const slow: Target = {
    name: 'app',
    deliver: () => [new Promise((resolve) => (finish = resolve)), Promise.resolve(result)],
  };
  const inbox = {
    settle: (leases: readonly TargetLease[]) => {
      done.push(...leases.map(({ leadId }) => leadId));
      return Promise.resolve(leases.map(() => 'accepted' as const));
    },
  };
  const dispatched = new TargetDeliverer(inbox as Partial<Inbox> as Inbox, [slow], new FakeClock(0)).dispatch(
    checked,
    ['a', 'b'].map((leadId) => ({
      lead: { leadId } as CheckedLead,
      stored: { ...leased, leadId, targets: named('app'), attempt: 1, firstAt: 0 },
    })),
    0,
  );
  await expect.poll(() => done).toEqual(['b']);
  finish(result);
  expect(await dispatched).toMatchObject([{ kind: 'accepted' }, { kind: 'accepted' }]);
  expect(done).toEqual(['b', 'a']);
});

it('knows what is still on its way of a delivery of which another lead could not be settled', async () => {
  let finish: (result: TargetResult) => void = () => undefined;
  const result = { to: 'exec', ok: true, answer: 'exit 0', durationMs: 1 } as const;
  const slow: Target = {
    name: 'app',
    deliver: () => [Promise.resolve(result), new Promise((resolve) => (finish = resolve))],
  };
  let tries = 0;
  const full = new CannotStoreError('full');
  const inbox: Partial<Inbox> = {
    settle: (leases) => {
      if (leases[0]?.leadId === 'b') return Promise.resolve(['accepted']);
      tries += 1;
      return Promise.reject(full);
    },
  };
  const dispatcher = new TargetDeliverer(inbox as Inbox, [slow], new FakeClock(0));
  const dispatched = dispatcher.dispatch(
    checked,
    ['a', 'b'].map((leadId) => ({
      lead: { leadId } as CheckedLead,
      stored: { ...leased, leadId, targets: named('app'), attempt: 1, firstAt: 0 },
    })),
    0,
  );
  await expect.poll(() => tries).toBe(1);
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  expect(dispatcher.isDispatching('b')).toBe(true);
  finish(result);
  expect(await dispatched).toMatchObject([{ kind: 'pending', failure: full }, { kind: 'accepted' }]);
});

it('hands no lead over again because the inbox could not note that its target has had it', async () => {
  const handed: string[][] = [];
  let isFull = true;
  const file: Target = {
    name: 'output',
    deliver(_, leads) {
      handed.push(leads.map(({ leadId }) => leadId));
      return leads.map(() => Promise.resolve({ to: 'output', ok: true, answer: 'written', durationMs: 1 }));
    },
  };
  const inbox: Partial<Inbox> = {
    settle: (leases) =>
      isFull ? Promise.reject(new CannotStoreError('full')) : Promise.resolve(leases.map(() => 'accepted')),
  };
  const dispatcher = new TargetDeliverer(inbox as Inbox, [file], new FakeClock(0));
  const dispatch = async (...ids: string[]): Promise<string[]> => {
    const leads = ids.map((leadId) => ({
      lead: { leadId } as CheckedLead,
      stored: { ...leased, leadId, targets: named('output'), attempt: 1, firstAt: 0 },
    }));
    const kinds = (await dispatcher.dispatch(checked, leads, 0)).map(({ kind }) => kind);
    await new Promise(setImmediate);
    return kinds;
  };
  expect(await dispatch('a')).toEqual(['pending']);
  isFull = false;
  expect(await dispatch('a', 'b')).toEqual(['accepted', 'accepted']);
  expect(handed).toEqual([['a'], ['b']]);
  expect(await dispatch('a')).toEqual(['accepted']);
  expect(handed).toEqual([['a'], ['b'], ['a']]);
});

it('neither settles nor puts off what fails as the receiver ends', async () => {
  const cut = new AbortController();
  const released: TargetLease[] = [];
  const inbox: Partial<Inbox> = { release: (leases) => Promise.resolve(void released.push(...leases)) };
  const bestEffort: Target = {
    ...failing,
    bestEffort: true,
    deliver: (...handed) => (cut.abort(), failing.deliver(...handed)),
  };
  const parts = { onTry: () => ({ dead: true }) as const, cut: cut.signal };
  const dispatcher = new TargetDeliverer(inbox as Inbox, [bestEffort], new FakeClock(0), parts);
  expect(await dispatcher.dispatch(checked, pending, 0)).toMatchObject([{ kind: 'pending' }]);
  expect(released).toMatchObject([{ leadId: 'a', target: 'app', result: { ok: false } }]);
  expect(released[0]).not.toHaveProperty('dead');
});

it('counts nothing against a target whose request is cut short since one of its leads was erased', async () => {
  const clock = new FakeClock(0);
  const released: TargetLease[] = [];
  const inbox: Partial<Inbox> = {
    lease: (leases) =>
      Promise.resolve(
        leases.map(({ leadId }) => ({ state: leadId === 'a' ? 'not outstanding' : 'leased', tries: 0 })),
      ),
    release: (leases) => Promise.resolve(void released.push(...leases)),
  };
  const app: Target = {
    name: 'app',
    deliver: (_, leads, onBegun) => {
      const cut = new Promise<TargetResult>((resolve) =>
        onBegun?.(() => resolve({ to: 'forward', ok: false, answer: 'aborted', durationMs: 1 })),
      );
      return leads.map(() => cut);
    },
  };
  const tried: unknown[] = [];
  const onTry = (): object => (tried.push(1), {});
  const dispatched = new TargetDeliverer(inbox as Inbox, [app], clock, { onTry }).dispatch(
    checked,
    ['a', 'b'].map((leadId) => ({
      lead: { leadId } as CheckedLead,
      stored: { ...leased, leadId, targets: named('app'), attempt: 1, firstAt: 0 },
    })),
    0,
  );
  const passed = async (): Promise<number> => {
    clock.advance(250);
    await new Promise(setImmediate);
    return released.length;
  };
  await expect.poll(passed).toBe(1);
  expect(released).toEqual([{ leadId: 'b', seq: 1, target: 'app' }]);
  expect(await dispatched).toMatchObject([{ kind: 'pending' }, { kind: 'pending' }]);
  expect(tried).toEqual([]);
});

it('asks again for a lease that was granted before another one of the lead was given back', async () => {
  const clock = new FakeClock(0);
  const asked: string[] = [];
  const inbox: Partial<Inbox> = {
    lease(leases) {
      asked.push(...leases.map(({ leadId }) => leadId));
      return Promise.resolve(leases.map(() => ({ state: 'leased', tries: 0 }) as const));
    },
    release() {
      clock.advance(5);
      return Promise.resolve();
    },
    settle: (leases) => Promise.resolve(leases.map(() => 'accepted' as const)),
  };
  const app: Target = {
    name: 'app',
    deliver: (_, leads) =>
      leads.map(() => Promise.resolve({ to: 'forward', ok: true, answer: '200', durationMs: 1 })),
  };
  const dispatcher = new TargetDeliverer(inbox as Inbox, [app], clock);
  const stored = { ...leased, targets: named('app'), attempt: 1, firstAt: 0 };
  await dispatcher.giveBack([{ lead, stored }]);
  await new Promise(setImmediate);
  expect(await dispatcher.dispatch(checked, [{ lead, stored }], 2)).toMatchObject([{ kind: 'accepted' }]);
  expect(asked).toEqual(['a']);
  await new Promise(setImmediate);
  await dispatcher.dispatch(checked, [{ lead, stored }], 6);
  expect(asked).toEqual(['a']);
});

it('waits for the end of a lease at the same target alone, and leaves that of a lead that asks again', async () => {
  const clock = new FakeClock(0);
  const asked: string[] = [];
  const released: string[] = [];
  const delivered: string[] = [];
  const answers: (() => void)[] = [];
  const answered = (): Promise<void> => new Promise((resolve) => answers.push(resolve));
  const inbox: Partial<Inbox> = {
    async lease(leases) {
      asked.push(...leases.map(({ target }) => target));
      await answered();
      return leases.map(() => ({ state: 'leased', tries: 0 }) as const);
    },
    async release(leases) {
      released.push(...leases.map(({ target }) => target));
      await answered();
    },
    settle: (leases) => Promise.resolve(leases.map(() => 'accepted' as const)),
  };
  const [app, crm] = ['app', 'crm'].map((name): Target => ({
    name,
    deliver(_, leads) {
      delivered.push(name);
      return leads.map(() => Promise.resolve({ to: 'forward', ok: true, answer: '200', durationMs: 1 }));
    },
  }));
  if (app === undefined || crm === undefined) throw new Error('two targets');
  const dispatcher = new TargetDeliverer(inbox as Inbox, [app, crm], clock);
  const at = (name: string) => ({
    lead,
    stored: { ...leased, targets: named(name), attempt: 1, firstAt: 0 },
  });
  const given = dispatcher.giveBack([at('app')]);
  expect(await dispatcher.dispatch(checked, [at('crm')], 0)).toMatchObject([{ kind: 'accepted' }]);
  const dispatched = dispatcher.dispatch(checked, [at('app')], 0);
  expect([asked, delivered]).toEqual([[], ['crm']]);
  answers.shift()?.();
  await given;
  await new Promise(setImmediate);
  expect([asked, delivered]).toEqual([['app'], ['crm']]);
  // It may be the lease that is asked for.
  const again = dispatcher.release([{ leadId: 'a', seq: 1, target: 'app' }]);
  answers.shift()?.();
  expect(await dispatched).toMatchObject([{ kind: 'accepted' }]);
  answers.shift()?.();
  await again;
  expect([released, delivered]).toEqual([['app'], ['crm', 'app']]);
});
