import { describe, expect, it } from 'vitest';
import { InspectKeys } from '../../src/inspect/inspect-keys.ts';
import type { WireSession } from '../../src/inspect/wire.ts';
import { FakeClock } from '../support/clock.ts';

function opened(clock = new FakeClock()) {
  let next = 0;
  const keys = new InspectKeys({
    clock,
    onNextKey: () => (next += 1),
  });
  return { keys, clock, printed: () => next, now: () => keys.key.reveal() };
}

function begun(session: WireSession | undefined): WireSession {
  if (session === undefined) throw new Error('there is no session');
  return session;
}

describe('the key in the address', () => {
  it('works once, and the next one is told; each session has a token of its own', () => {
    const { keys, now, printed } = opened();
    const first = now();
    const { token } = begun(keys.exchange(first));
    expect(keys.useToken(token)).toBe(true);
    expect(printed()).toBe(1);
    expect(keys.exchange(first)).toBeUndefined();
    expect(now()).not.toBe(first);
    const other = begun(keys.exchange(now())).token;
    expect([keys.useToken(other), keys.useToken(token), other === token]).toEqual([true, true, false]);
    for (const text of ['', first, now(), `${token} `]) expect(keys.useToken(text)).toBe(false);
  });

  it('works for ten minutes; tried later, it brings the next one, which works', () => {
    const { keys, clock, now, printed } = opened();
    clock.advance(599_999);
    expect(keys.exchange(now())).toBeDefined();
    clock.advance(600_000);
    expect(keys.exchange(now())).toBeUndefined();
    expect(printed()).toBe(2);
    expect(keys.exchange(now())).toBeDefined();
  });

  it('is long, and wrong ones are refused', () => {
    const { keys, now, printed } = opened();
    for (let i = 0; i < 10; i += 1) expect(keys.exchange('wrong')).toBeUndefined();
    expect(printed()).toBe(0);
    expect(now()).toMatch(/^[\w-]{43}$/);
    expect(keys.exchange(now())).toBeDefined();
  });
});

describe('what a page leaves to be loaded again with', () => {
  it('works for twenty seconds after the last request of its page', () => {
    const { keys, clock } = opened();
    const { token, reloadKey } = begun(keys.exchange(keys.key.reveal()));
    clock.advance(19_999);
    expect(keys.useToken(token)).toBe(true);
    clock.advance(19_999);
    expect(keys.reload(reloadKey)).toBeDefined();
    clock.advance(1);
    expect(keys.reload(reloadKey)).toBeUndefined();
    // The page itself has its token in memory, such as while it is hidden.
    expect(keys.useToken(token)).toBe(true);
    for (const other of [token, '', 'unknown']) expect(keys.reload(other)).toBeUndefined();
  });

  it('works once: until the page has what it was had for', () => {
    const { keys } = opened();
    const first = begun(keys.exchange(keys.key.reveal()));
    // Loaded again twice, so that the first answer came too late.
    keys.reload(first.reloadKey);
    const second = keys.reload(first.reloadKey);
    expect(keys.useToken(second?.token ?? '')).toBe(true);
    expect([keys.reload(first.reloadKey), keys.useToken(first.token)]).toEqual([undefined, false]);
    expect(keys.reload(second?.reloadKey ?? '')).toBeDefined();
  });
});

it('forgets the oldest of a thousand sessions', () => {
  const { keys } = opened();
  const begin = (): string => begun(keys.exchange(keys.key.reveal())).token;
  const [first, second] = [begin(), begin()];
  for (let i = 0; i < 999; i += 1) begin();
  expect([keys.useToken(first), keys.useToken(second)]).toEqual([false, true]);
});
