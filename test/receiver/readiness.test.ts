import { describe, expect, it } from 'vitest';
import { Readiness } from '../../src/receiver/admin-server.ts';
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
  const readiness = new Readiness({ inbox: { checkWritable }, clock, stopping: stop.signal });
  return { inbox, readiness, stop };
}

describe('a receiver', () => {
  it('is ready from when its socket is open until it is to end', async () => {
    const { inbox, readiness, stop } = readinessOf(new FakeClock());
    expect(await readiness.whyNot()).toBeUndefined();
    stop.abort();
    expect(await readiness.whyNot()).toMatch(/^draining/);
    expect(inbox.asked).toBe(1);
  });

  it('is not ready while its inbox cannot be written, says why in one line, and is again afterwards', async () => {
    const clock = new FakeClock();
    const { inbox, readiness } = readinessOf(clock);
    inbox.answer = () => Promise.reject(new Error('cannot store:\r\nno space left'));
    expect(await readiness.whyNot()).toBe('cannot store: no space left');
    inbox.answer = () => Promise.resolve();
    clock.advance(1000);
    expect(await readiness.whyNot()).toBeUndefined();
  });

  it('asks its inbox once a second, however many ask', async () => {
    const clock = new FakeClock();
    const { inbox, readiness } = readinessOf(clock);
    await Promise.all(Array.from({ length: 50 }, () => readiness.whyNot()));
    clock.advance(999);
    await readiness.whyNot();
    expect(inbox.asked).toBe(1);
    clock.advance(1);
    await readiness.whyNot();
    expect(inbox.asked).toBe(2);
  });

  it('is not ready while its inbox does not answer', async () => {
    const clock = new FakeClock();
    const { inbox, readiness } = readinessOf(clock);
    inbox.answer = () => new Promise(() => undefined);
    const asked = readiness.whyNot();
    await expect.poll(() => clock.sleeps).toEqual([2000]);
    clock.advance(2000);
    expect(await asked).toBe('the inbox has not written for 2 s');
  });
});
