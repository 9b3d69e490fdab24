import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/time/clock.ts';
import { full } from '../support/faults.ts';
import { freshHome, homeWith } from '../support/run.ts';
import { storedIds } from '../support/stored-ids.ts';
import { until } from '../support/until.ts';
import { type AdminProcess, adminProcess } from './admin-process.ts';
import { Balancer } from './balancer.ts';

const restarts = full ? 12 : 2;
const senders = 8;
/** Between two deliveries of a sender, so that a small run leaves the machine to others. */
const pauseMs = full ? 0 : 20;

const running = new Set<AdminProcess>();
afterEach(async () => {
  for (const one of running) await one.end('SIGKILL');
  running.clear();
});

async function start(argv: readonly string[], home = freshHome()): Promise<AdminProcess> {
  const listener = await adminProcess(argv, { home });
  running.add(listener);
  return listener;
}

describe('SIGTERM under load', () => {
  it('fails no request of those who watch /readyz, while one receiver after another is replaced', async () => {
    const inbox = join(freshHome(), 'inbox.db');
    const started = (): Promise<AdminProcess> =>
      start(['--inbox', inbox], homeWith({ listen: { 'drain-delay': '1s' } }));
    const balancer = new Balancer();
    let receivers = await Promise.all([started(), started()]);
    for (const one of receivers) await balancer.add(one);
    const over = { all: false };
    const isOver = (): boolean => over.all;
    const failed: string[] = [];
    let delivered = 0;
    const sending = Array.from({ length: senders }, async (_, sender) => {
      for (let n = 0; !isOver(); n += 1) {
        const id = `lead-${sender}-${n}`;
        const how = await balancer.deliver({ id }).then(
          ({ status }) => String(status),
          (error: unknown) => String(error),
        );
        if (how === '200') delivered += 1;
        else failed.push(`${id}: ${how}`);
        await systemClock.sleep(pauseMs);
      }
    });
    for (let restart = 0; restart < restarts; restart += 1) {
      const [oldest, ...others] = receivers;
      const next = await started();
      await balancer.add(next);
      const ended = oldest.end('SIGTERM');
      await until(() => !balancer.isReady(oldest), 'the balancer to see it');
      expect(await ended).toBe(143);
      balancer.remove(oldest);
      running.delete(oldest);
      receivers = [...others, next];
    }
    over.all = true;
    await Promise.all(sending);
    for (const one of receivers) {
      balancer.remove(one);
      expect(await one.end('SIGTERM')).toBe(143);
      running.delete(one);
    }
    const ids = await storedIds(inbox);
    console.log(
      `drain: ${restarts} receivers replaced under ${delivered + failed.length} deliveries: failed ${failed.length}`,
    );
    expect(failed).toEqual([]);
    expect(delivered).toBeGreaterThan(100);
    expect(new Set(ids).size).toBe(delivered);
    expect(ids).toHaveLength(delivered);
  });

  it('ends at once at the second signal, in the middle of the delay', async () => {
    const listener = await start([], homeWith({ listen: { 'drain-delay': '1h' } }));
    listener.child.kill('SIGTERM');
    await until(async () => (await listener.admin('/readyz')).status === 503, 'not ready');
    expect(await listener.deliver({ id: 'a' })).toMatchObject({ status: 200 });
    expect(await listener.end('SIGTERM')).toBe(143);
    running.delete(listener);
  });
});
