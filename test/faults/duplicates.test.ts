import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { systemClock } from '../../src/time/clock.ts';
import { openInbox } from '../../src/inbox/open-inbox.ts';
import { authorityOf, listenProcess } from '../support/listen-process.ts';
import { full } from '../support/faults.ts';

const ids = full ? 100 : 20;
const parallel = full ? 100 : 50;
const token = 'token-of-the-tests';

function deliver(url: string, agent: Agent, id: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'x-webhook-token': token };
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
      response.on('end', () => {
        const { status } = JSON.parse(text) as { status?: string };
        resolve(`${response.statusCode ?? 0} ${status ?? ''}`);
      });
    });
    sent.on('error', reject);
    sent.end(JSON.stringify({ id }));
  });
}

it('promise 2: one id is stored once, across a restart and parallel duplicates', async () => {
  const first = await listenProcess(['--token', token, '--port', '0']);
  const { home } = first;
  const answers = new Map<string, number>();
  let listener = first;
  for (const run of [1, 2]) {
    const agent = new Agent({ keepAlive: true, maxSockets: 100, ca: readFileSync(authorityOf(home)) });
    for (let i = 0; i < ids; i += 1) {
      const all = Array.from({ length: parallel }, () => deliver(listener.url, agent, `lead-${i}`));
      for (const answer of await Promise.all(all)) answers.set(answer, (answers.get(answer) ?? 0) + 1);
    }
    agent.destroy();
    await listener.end('SIGKILL');
    if (run === 1) listener = await listenProcess(['--token', token, '--port', '0'], { home });
  }
  const inbox = await openInbox({ location: join(home, 'data', 'inbox.db'), clock: systemClock });
  const stored: string[] = [];
  for await (const { leadId } of inbox.leads({})) stored.push(leadId);
  await inbox.close();
  console.log(
    `promise 2: ${parallel} parallel duplicates × ${ids} ids, twice, a kill between: stored ${stored.length}, ` +
      `answers ${JSON.stringify(Object.fromEntries(answers))}`,
  );
  expect(stored.sort()).toEqual(Array.from({ length: ids }, (_, i) => `lead-${i}`).sort());
  expect(Object.fromEntries(answers)).toEqual({
    '200 accepted': ids,
    '200 duplicate': 2 * ids * parallel - ids,
  });
});
