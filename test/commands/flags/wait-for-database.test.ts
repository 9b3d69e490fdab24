import { expect, it } from 'vitest';
import { openOnceThere } from '../../../src/commands/flags/resolve-inbox.ts';
import type { Context } from '../../../src/context.ts';
import type { InboxLocation } from '../../../src/inbox/open-inbox.ts';
import { DatabaseUnavailableError } from '../../../src/inbox/postgres/database-errors.ts';
import { FakeClock } from '../../support/clock.ts';

it('closes the inbox that it opened when the work meanwhile cannot be ended', async () => {
  const clock = new FakeClock(undefined, { hasty: true });
  const messages = { warn: () => undefined, say: () => undefined };
  const context = { clock, messages, signal: new AbortController().signal } as unknown as Context;
  const location = { url: { isWaitedFor: true } } as unknown as InboxLocation;
  let tries = 0;
  let closes = 0;
  const inbox = { close: () => Promise.resolve(void (closes += 1)) };
  const open = (): Promise<typeof inbox> =>
    (tries += 1) > 1 ? Promise.resolve(inbox) : Promise.reject(new DatabaseUnavailableError('not yet'));
  const meanwhile = {
    message: '',
    begin: () => Promise.resolve(() => Promise.reject(new Error('the server does not close'))),
  };
  await expect(openOnceThere(location, open, context, meanwhile)).rejects.toThrow('does not close');
  expect([tries, closes]).toEqual([2, 1]);
});
