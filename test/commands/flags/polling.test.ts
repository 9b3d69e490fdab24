import { expect, it } from 'vitest';
import { outliveOutages } from '../../../src/commands/flags/polling.ts';
import { ServiceError } from '../../../src/errors.ts';
import { ComeBackError } from '../../../src/service/client/retry.ts';
import type { Service } from '../../../src/service/client/service.ts';
import { FakeClock } from '../../support/clock.ts';

it.each([
  ['an hour', 3_600_000, '1h', 3_600_000],
  ['epoch seconds', 1_768_478_400_000, '1d 0h', 24 * 3_600_000],
  ['less than the pause between two polls', 10_000, undefined, 30_000],
])('a poll that is asked to come back in %s says when it does', async (_, waitMs, shown, waits) => {
  const clock = new FakeClock(undefined, { hasty: true });
  const said: string[] = [];
  const messages = {
    say: (text: string) => said.push(text),
    showWait: (_wait: unknown, work: () => Promise<void>) => work(),
  };
  const limited = new ServiceError('the service limits the rate (429)', { kind: 'rate-limited' });
  let polls = 0;
  const poll = (): Promise<number> => {
    polls += 1;
    return polls > 1
      ? Promise.resolve(polls)
      : Promise.reject(new ComeBackError(limited, waitMs, clock.now() + waitMs));
  };
  const context = { clock, messages, signal: new AbortController().signal } as unknown as Service;
  expect(await outliveOutages(poll, { everyMs: 30_000, hasWorked: true }, context)).toBe(2);
  expect(said[0]).toMatch(shown === undefined ? /trying again every 30s?/ : `; trying again in ${shown}`);
  expect(clock.sleeps).toEqual([waits]);
});
