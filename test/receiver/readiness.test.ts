import { describe, expect, it } from 'vitest';
import { readiness } from '../../src/receiver/admin-server.ts';
import { FakeClock } from '../support/clock.ts';

interface Inbox {
  asked: number;
  answer: () => Promise<void>;
}

function readinessOf(clock: FakeClock, stop = new AbortController()) {
  const inbox: Inbox = { asked: 0, answer: () => Promise.resolve() };
  const checkWritable = (): Promise<void> => {
    inbox.asked += 1;
    return inbox.answer();
  };
  return { inbox, whyNotReady: readiness({ checkWritable }, clock, stop.signal), stop };
}

describe('a receiver', () => {
  it('is ready from when its socket is open until it is to end', async () => {
    const { inbox, whyNotReady, stop } = readinessOf(new FakeClock());
    expect(await whyNotReady()).toBeUndefined();
    stop.abort();
    expect(await whyNotReady()).toMatch(/^draining/);
    expect(inbox.asked).toBe(1);
  });

  it('is not ready while its inbox cannot be written, says why in one line, and is again afterwards', async () => {
    const clock = new FakeClock();
    const { inbox, whyNotReady } = readinessOf(clock);
    inbox.answer = () => Promise.reject(new Error('cannot store:\r\nno space left'));
    expect(await whyNotReady()).toBe('cannot store: no space left');
    inbox.answer = () => Promise.resolve();
    clock.advance(1000);
    expect(await whyNotReady()).toBeUndefined();
  });

  it('asks its inbox once a second, however many ask', async () => {
    const clock = new FakeClock();
    const { inbox, whyNotReady } = readinessOf(clock);
    await Promise.all(Array.from({ length: 50 }, () => whyNotReady()));
    clock.advance(999);
    await whyNotReady();
    expect(inbox.asked).toBe(1);
    clock.advance(1);
    await whyNotReady();
    expect(inbox.asked).toBe(2);
  });

  it('is not ready while its inbox does not answer', async () => {
    const clock = new FakeClock();
    const { inbox, whyNotReady } = readinessOf(clock);
    inbox.answer = () => new Promise(() => undefined);
    const asked = whyNotReady();
    await expect.poll(() => clock.sleeps).toEqual([2000]);
    clock.advance(2000);
    expect(await asked).toBe('the inbox has not written for 2 s');
  });
});
