import { afterEach, describe, expect, it } from 'vitest';
import { CannotStoreError } from '../../../src/inbox/errors.ts';
import type { Inbox } from '../../../src/inbox/inbox.ts';
import { openInbox } from '../../../src/inbox/open-inbox.ts';
import { locationOf } from '../../inbox/postgres/location.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { arrivalOf } from '../../inbox/support.ts';
import { full } from '../../support/faults.ts';
import { TcpProxy } from '../../support/postgres/proxy.ts';
import { postgresNeeded, sharedPostgres } from '../../support/postgres/shared.ts';
import { until } from '../../support/until.ts';
import { fleetInbox } from './fleet.ts';

const heldMs = full ? 10_000 : 500;
const rounds = full ? 100 : 3;
const commits = full ? 50 : 10;
const address = await sharedPostgres();

const clean: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of clean.splice(0).reverse()) await step();
});

async function open(location: string): Promise<Inbox> {
  const inbox = await openInbox({ location: locationOf(location), clock: systemClock });
  clean.push(() => inbox.close());
  return inbox;
}

/** On a busy machine a writer may wait longer than its database lets it: it is refused, and its sender comes again. */
async function untilStored(inbox: Inbox, ids: readonly string[]): Promise<void> {
  for (;;) {
    try {
      await inbox.take(ids.map((id) => arrivalOf({ id })));
      return;
    } catch (error) {
      if (!(error instanceof CannotStoreError)) throw error;
    }
  }
}

/** Reads on from the last number that it met, again and again: what it passes, it never sees. */
class Follower {
  readonly seen = new Set<string>();
  #last = -1;

  async read(inbox: Pick<Inbox, 'leads'>): Promise<void> {
    let last = this.#last;
    for await (const { leadId, seq } of inbox.leads({})) {
      if (seq <= this.#last) continue;
      this.seen.add(leadId);
      last = Math.max(last, seq);
    }
    this.#last = last;
  }
}

/** Writers that commit all the time, and a reader that follows them. */
class Traffic {
  readonly follower = new Follower();
  committed = 0;
  reads = 0;
  readonly #reader: Inbox;
  readonly #work: Promise<unknown>;
  #isOver = false;

  constructor(writers: readonly Inbox[], reader: Inbox) {
    this.#reader = reader;
    this.#work = Promise.all([this.#follow(), ...writers.map((writer, i) => this.#write(writer, i))]);
  }

  async moreCommits(count: number): Promise<void> {
    const after = this.committed + count;
    // The database ends the session of the one that stalls in its transaction after three seconds, and others wait until then.
    await until(() => this.committed >= after, 'commits of others', 30_000);
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#work;
  }

  /** What is stored, and what of it was never seen. */
  async end(): Promise<{ readonly stored: readonly string[]; readonly missed: readonly string[] }> {
    await this.stop();
    await this.follower.read(this.#reader);
    const stored: string[] = [];
    for await (const { leadId } of this.#reader.leads({})) stored.push(leadId);
    return { stored, missed: stored.filter((id) => !this.follower.seen.has(id)) };
  }

  async #follow(): Promise<void> {
    for (; !this.#isOver; this.reads += 1) await this.follower.read(this.#reader);
  }

  async #write(writer: Inbox, name: number): Promise<void> {
    for (let n = 0; !this.#isOver; n += 1) {
      await untilStored(writer, [`other-${name}-${n}`]);
      this.committed += 1;
    }
  }
}

if (address === undefined) it.skip(postgresNeeded);
else {
  describe('a reader that goes on by number', () => {
    it('sees every delivery, although the connection of a writer stalls in its transaction', async () => {
      const proxy = await TcpProxy.start(address);
      clean.push(() => proxy.stop());
      const inbox = fleetInbox(address);
      const held = await open(fleetInbox(address, { schema: inbox.schema, port: proxy.port }).url);
      const traffic = new Traffic([await open(inbox.url), await open(inbox.url)], await open(inbox.url));
      clean.push(() => traffic.stop());
      const late: string[] = [];
      const state = { isOver: false };
      const isOver = (): boolean => state.isOver;
      clean.push(() => (state.isOver = true));
      const taking = (async () => {
        while (!isOver()) {
          const id = `late-${late.length}`;
          // Refused when it waited too long: its sender tries again.
          const isTaken = await held.take([arrivalOf({ id })]).then(
            () => true,
            (error: unknown) => {
              if (error instanceof CannotStoreError) return false;
              throw error;
            },
          );
          if (isTaken) late.push(id);
          else await systemClock.sleep(20);
        }
      })();
      for (let round = 0; round < rounds; round += 1) {
        await until(() => late.length > round, 'a delivery through the connection');
        proxy.hold();
        await traffic.moreCommits(commits);
        if (round === 0) await systemClock.sleep(heldMs);
        proxy.resume();
      }
      state.isOver = true;
      await taking;
      const { stored, missed } = await traffic.end();
      console.log(
        `writer stalled ${rounds} times, once for ${heldMs} ms, while others committed ${traffic.committed}: ` +
          `${traffic.reads} reads, never seen ${missed.length} of ${stored.length}`,
      );
      expect(stored).toEqual(expect.arrayContaining(late));
      expect(missed).toEqual([]);
    });
  });
}
