import { describe, expect, it } from 'vitest';
import { type Exchanged, InspectKeys } from '../../src/inspect/inspect-keys.ts';
import { tokenHeader, type WireSession } from '../../src/inspect/wire.ts';
import { FakeClock } from '../support/clock.ts';
import { inspect, post, send } from './support.ts';

function opened(clock = new FakeClock()) {
  let next = 0;
  const wrong: number[] = [];
  const keys = new InspectKeys({
    clock,
    onNext: () => (next += 1),
    onWrong: (count) => wrong.push(count),
  });
  return { keys, clock, wrong, printed: () => next, now: () => keys.key.reveal() };
}

const tokenIn = (exchanged: Exchanged): string => ('token' in exchanged ? exchanged.token : '');

function begun(exchanged: Exchanged): WireSession {
  if ('refused' in exchanged) throw new Error(exchanged.refused);
  return exchanged;
}

describe('the key in the address', () => {
  it('works once, and the next one is told; each session has a token of its own', async () => {
    const { keys, now, printed } = opened();
    const first = now();
    const token = tokenIn(await keys.exchange(first));
    expect(keys.isToken(token)).toBe(true);
    expect(printed()).toBe(1);
    expect(await keys.exchange(first)).toEqual({ refused: 'used' });
    expect(now()).not.toBe(first);
    const other = tokenIn(await keys.exchange(now()));
    expect([keys.isToken(other), keys.isToken(token), other === token]).toEqual([true, true, false]);
    for (const text of ['', first, now(), `${token} `]) expect(keys.isToken(text)).toBe(false);
  });

  it('works for ten minutes; tried later, it brings the next one, which works', async () => {
    const { keys, clock, now, printed } = opened();
    clock.advance(599_999);
    expect(tokenIn(await keys.exchange(now()))).not.toBe('');
    clock.advance(600_000);
    expect(await keys.exchange(now())).toEqual({ refused: 'late' });
    expect(printed()).toBe(2);
    expect(tokenIn(await keys.exchange(now()))).not.toBe('');
  });

  it('is not found by trying: wrong ones are answered one a second, and told', async () => {
    const { keys, clock, wrong, now, printed } = opened();
    let answered = 0;
    const tries = Array.from({ length: 10 }, () => keys.exchange('wrong').then(() => (answered += 1)));
    await settled();
    // Two more than wait are answered at once, and do not wait in memory.
    expect(answered).toBe(2);
    for (let second = 1; second <= 8; second += 1) {
      clock.advance(1_000);
      await settled();
      expect(answered).toBe(2 + second);
    }
    await Promise.all(tries);
    expect([wrong, printed()]).toEqual([[1, 10], 0]);
    // Whoever has the right one does not wait for them.
    const waiting = keys.exchange('wrong');
    expect(tokenIn(await keys.exchange(now()))).not.toBe('');
    keys.close();
    expect(await waiting).toEqual({ refused: 'wrong' });
  });
});

describe('what a page leaves to be loaded again with', () => {
  it('works for twenty seconds after the last request of its page', async () => {
    const { keys, clock } = opened();
    const { token, reloadKey } = begun(await keys.exchange(keys.key.reveal()));
    clock.advance(19_999);
    expect(keys.isToken(token)).toBe(true);
    clock.advance(19_999);
    expect(keys.reload(reloadKey)).toBeDefined();
    clock.advance(1);
    expect(keys.reload(reloadKey)).toBeUndefined();
    // The page itself has its token in memory, such as while it is hidden.
    expect(keys.isToken(token)).toBe(true);
    for (const other of [token, '', 'unknown']) expect(keys.reload(other)).toBeUndefined();
  });

  it('works once: until the page has what it was had for', async () => {
    const { keys } = opened();
    const first = begun(await keys.exchange(keys.key.reveal()));
    // Loaded again twice, so that the first answer came too late.
    keys.reload(first.reloadKey);
    const second = keys.reload(first.reloadKey);
    expect(keys.isToken(second?.token ?? '')).toBe(true);
    expect([keys.reload(first.reloadKey), keys.isToken(first.token)]).toEqual([undefined, false]);
    expect(keys.reload(second?.reloadKey ?? '')).toBeDefined();
  });
});

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it('the page of a used address is not opened, and tokens of sessions do not open each other', async () => {
  const page = await inspect();
  const again = await post(`${page.origin}/api/session`, { key: page.usedKey }, page.origin);
  expect([again.status, again.text]).toEqual([401, expect.stringContaining('opens the page once')]);
  const next = await post(`${page.origin}/api/session`, { key: page.key }, page.origin);
  const { token } = JSON.parse(next.text) as WireSession;
  expect(token).not.toBe(page.token);
  for (const one of [token, page.token]) {
    expect((await send(`${page.origin}/api/inbox`, { headers: { [tokenHeader]: one } })).status).toBe(200);
  }
});
