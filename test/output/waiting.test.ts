import { expect, it } from 'vitest';
import { createMessages } from '../../src/output/messages.ts';
import { memory } from '../support/run.ts';

const loud = { verbose: false, quiet: false };
const rateLimited = { ms: 20_000, why: 'rate limited', detail: 'retry 1 of 5' };

it('says a long wait in a pipe when it begins, once for each cause', async () => {
  const stderr = memory(undefined);
  const messages = createMessages(stderr, loud);
  let saidBefore = '';
  await messages.showWait(rateLimited, () => Promise.resolve((saidBefore = stderr.text())));
  expect(saidBefore).toBe('note: waiting 20s: rate limited, retry 1 of 5\n');
  await messages.showWait({ ...rateLimited, detail: 'retry 2 of 5' }, () => Promise.resolve());
  await messages.showWait({ ms: 3000, why: 'cannot reach it' }, () => Promise.resolve());
  expect(stderr.text()).toBe(`${saidBefore}note: waiting 3s: cannot reach it\n`);
});

it('says nothing of a short wait in a pipe, nor of any under --quiet', async () => {
  const stderr = memory(undefined);
  await createMessages(stderr, loud).showWait({ ms: 2900, why: 'x' }, () => Promise.resolve());
  await createMessages(stderr, { ...loud, quiet: true }).showWait(rateLimited, () => Promise.resolve());
  expect(stderr.text()).toBe('');
});

it('gives what the wait gives, and passes its failure on', async () => {
  const messages = createMessages(memory(undefined), loud);
  expect(await messages.showWait(rateLimited, () => Promise.resolve(7))).toBe(7);
  await expect(messages.showWait(rateLimited, () => Promise.reject(new Error('aborted')))).rejects.toThrow(
    'aborted',
  );
});
