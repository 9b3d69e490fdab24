import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openInbox } from '../../src/inbox/open-inbox.ts';
import { systemClock } from '../../src/time/clock.ts';
import { listenProcess } from '../support/listen-process.ts';
import { freshHome } from '../support/run.ts';
import { senderTo } from '../support/sender.ts';
import { full } from '../support/faults.ts';

const kills = full ? 20 : 3;
const leadsOfOne = 7;
const connections = 8;
const token = 'token-of-the-tests';

/** Delivers arrays of new leads until the receiver is gone; adds the ids that were acknowledged. */
async function deliverUntilKilled(url: string, prefix: string, acknowledged: string[]): Promise<void> {
  const sender = senderTo(url, { token });
  const deliver = async (worker: number): Promise<void> => {
    for (let n = 0; ; n += 1) {
      const ids = Array.from({ length: leadsOfOne }, (_, i) => `${prefix}-${worker}-${n}-${i}`);
      const leads = ids.map((id) => ({ id, category: 'solar' }));
      const { text } = await sender.deliver({ event: 'leads', leads });
      acknowledged.push(...(JSON.parse(text) as { leads: { id: string }[] }).leads.map(({ id }) => id));
    }
  };
  // Each ends with the connection.
  await Promise.allSettled(Array.from({ length: connections }, (_, worker) => deliver(worker)));
  sender.close();
}

it('promise 1, of several leads in one delivery: all are on disk or none, and all where it was answered 200', async () => {
  const home = freshHome();
  const acknowledged: string[] = [];
  for (let killed = 0; killed < kills; killed += 1) {
    const listener = await listenProcess(['--token', token, '--port', '0', '--http'], { home });
    const before = acknowledged.length;
    const delivering = deliverUntilKilled(listener.url, `k${killed}`, acknowledged);
    await expect.poll(() => acknowledged.length - before).toBeGreaterThan(500 * Math.random());
    await listener.end('SIGKILL');
    await delivering;
  }
  const inbox = await openInbox({ location: join(home, 'data', 'inbox.db'), clock: systemClock });
  const stored = new Map<string, number>();
  const leadsOf = new Map<number, number>();
  for await (const { leadId = '', firstSeq = 0, body } of inbox.list({})) {
    stored.set(leadId, (stored.get(leadId) ?? 0) + 1);
    leadsOf.set(firstSeq, (leadsOf.get(firstSeq) ?? 0) + 1);
    expect(Buffer.from(body).includes(leadId)).toBe(true);
  }
  await inbox.close();
  const lost = acknowledged.filter((id) => !stored.has(id));
  const incomplete = [...leadsOf.values()].filter((count) => count !== leadsOfOne);
  console.log(
    `promise 1 (several leads): ${kills} × kill -9: acknowledged ${acknowledged.length}, lost ${lost.length}, ` +
      `deliveries stored in part ${incomplete.length} of ${leadsOf.size}`,
  );
  expect(acknowledged.length).toBeGreaterThan(kills);
  expect(lost).toEqual([]);
  expect(incomplete).toEqual([]);
  expect([...stored.values()].filter((times) => times > 1)).toEqual([]);
});
