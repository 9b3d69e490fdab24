import { systemClock } from '../../src/time/clock.ts';
import { until } from '../support/until.ts';
import type { AdminProcess } from './admin-process.ts';

/** What a load balancer does: looks at `/readyz` now and then, and sends to those that were ready. */
export class Balancer {
  readonly #receivers: { readonly listener: AdminProcess; isReady: boolean; isOver: boolean }[] = [];
  #next = 0;

  async add(listener: AdminProcess): Promise<void> {
    const entry = { listener, isReady: false, isOver: false };
    this.#receivers.push(entry);
    const look = async (): Promise<void> => {
      while (!entry.isOver) {
        entry.isReady = (await listener.admin('/readyz')).status === 200;
        await systemClock.sleep(25);
      }
    };
    void look();
    await until(() => entry.isReady, 'a ready receiver');
  }

  remove(listener: AdminProcess): void {
    const index = this.#receivers.findIndex((entry) => entry.listener === listener);
    for (const entry of this.#receivers.splice(index, 1)) entry.isOver = true;
  }

  isReady(listener: AdminProcess): boolean {
    return this.#receivers.some((entry) => entry.listener === listener && entry.isReady);
  }

  deliver(lead: object): Promise<{ readonly status: number }> {
    const ready = this.#receivers.filter(({ isReady }) => isReady);
    const entry = ready[(this.#next += 1) % ready.length];
    return entry === undefined ? Promise.reject(new Error('none is ready')) : entry.listener.deliver(lead);
  }
}
