import { describe, expect, it } from 'vitest';
import { clock, open, sharedStores, stores, takeOne } from './stores.ts';
import { arrivalOf } from './support.ts';

describe.each(sharedStores)('the replay guard of an inbox in $name, over a restart', ({ newLocation }) => {
  it('still binds the nonce', async () => {
    const location = newLocation();
    const arrival = arrivalOf({ id: 'a' }, { nonce: 'n' });
    const replay = arrivalOf({ id: 'b' }, { nonce: 'n' });
    const first = await open(location, { nonceLifetimeMs: 1000 });
    expect(await takeOne(first, arrival)).toMatchObject({ kind: 'accepted' });
    await first.close();
    const second = await open(location, { nonceLifetimeMs: 1000 });
    expect(await takeOne(second, replay)).toMatchObject({ kind: 'rejected', reason: 'replayed_nonce' });
    expect(await takeOne(second, arrival)).toMatchObject({ kind: 'duplicate' });
    clock.advance(1001);
    expect(await takeOne(second, replay)).toMatchObject({ kind: 'accepted' });
  });
});

describe.each(stores)(
  'the replay guard of an inbox in $name, while the system time is set',
  ({ newLocation }) => {
    it('forgets nothing when the time jumps a day ahead and back', async () => {
      const inbox = await open(newLocation(), { nonceLifetimeMs: 1000 });
      const kindOf = async (id: string, nonce: string) =>
        (await takeOne(inbox, arrivalOf({ id }, { nonce }))).kind;
      expect(await kindOf('a', 'n')).toBe('accepted');
      clock.set(86_400_000);
      for (const other of ['x', 'y', 'z']) expect(await kindOf(other, other)).toBe('accepted');
      clock.set(-86_400_000);
      expect(await kindOf('b', 'n')).toBe('rejected');
      clock.advance(1001);
      expect(await kindOf('b', 'n')).toBe('accepted');
    });
  },
);
