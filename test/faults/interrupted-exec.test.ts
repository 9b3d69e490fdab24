import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { request } from 'undici';
import { expect, it } from 'vitest';
import { openInboxReader } from '../../src/inbox/open-inbox.ts';
import { systemClock } from '../../src/time/clock.ts';
import { listenProcess } from '../support/listen-process.ts';
import { freshHome } from '../support/run.ts';

const headers = { 'content-type': 'application/json', 'x-webhook-token': 't' };
const body = JSON.stringify({
  leads: [
    { id: 'quick', category: 'c' },
    { id: 'slow', category: 'c' },
  ],
});

it('a command that ended is not run again for its lead after kill -9, and one that ran is, once its claim has ended', async () => {
  const home = freshHome();
  const location = join(home, 'data', 'inbox.db');
  const ran = join(home, 'ran');
  const hangs = join(home, 'hangs');
  const command = `echo "$LEAD_ID" >> '${ran}'; if [ "$LEAD_ID" = slow ] && [ ! -e '${hangs}' ]; then touch '${hangs}'; exec sleep 60; fi`;
  const argv = ['--token', 't', '--port', '0', '--http', '--lead-at', '/leads', '--exec', command];
  // A claim lasts ten seconds longer than an attempt can.
  argv.push('--timeout', '10s');
  const first = await listenProcess(argv, { home });
  const post = (url: string): ReturnType<typeof request> => request(url, { method: 'POST', headers, body });
  expect((await post(first.url)).statusCode).toBe(200);
  const handed = async (leadId: string): Promise<boolean[]> => {
    const inbox = await openInboxReader({ location, clock: systemClock });
    try {
      const found: boolean[] = [];
      for await (const { results } of inbox.list({ leadId })) found.push(...results.map(({ ok }) => ok));
      return found;
    } finally {
      await inbox.close();
    }
  };
  await expect.poll(() => handed('quick'), { timeout: 20_000 }).toEqual([true]);
  expect(await handed('slow')).toEqual([]);
  await first.end('SIGKILL');
  const second = await listenProcess(argv, { home });
  expect((await post(second.url)).statusCode).toBe(200);
  await expect.poll(() => handed('slow'), { timeout: 60_000 }).toEqual([true]);
  await second.end('SIGINT');
  expect(readFileSync(ran, 'utf8').trim().split('\n').sort()).toEqual(['quick', 'slow', 'slow']);
});
