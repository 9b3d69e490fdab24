import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { openInbox } from '../../../src/inbox/open-inbox.ts';
import { locationOf } from '../../inbox/postgres/location.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { full, printFigure } from '../../support/faults.ts';
import { inParallel } from '../../support/in-parallel.ts';
import { withCluster } from '../../support/postgres/with-cluster.ts';
import { storedIds } from '../../support/stored-ids.ts';
import { until } from '../../support/until.ts';
import { type App, startApp } from './app.ts';
import { Fleet, type FleetInbox, fleetInbox } from './fleet.ts';
import { verdictOf } from './sender.ts';

const deliveries = full ? 20_000 : 600;
const ids = Math.ceil(deliveries * 0.7);
const receiverKills = full ? 40 : 3;
const databaseKills = full ? 5 : 1;
const inFlight = 40;
/** Leads of which each receiver gets a copy at the same moment. */
const copiedLeads = full ? 2000 : 50;

/** Every id once, and three deliveries of ten repeat one, some of them while the first is under way. */
function plan(): string[] {
  const sent: string[] = [];
  let fresh = 0;
  for (let n = 0; n < deliveries; n += 1) {
    const isFresh = fresh < Math.ceil(((n + 1) * ids) / deliveries);
    const back = Math.ceil(Math.random() ** 3 * fresh);
    sent.push(isFresh ? `lead-${(fresh += 1)}` : `lead-${fresh - back + 1}`);
  }
  return sent;
}

/** What is in an inbox of the ids of this proof: how often each was accepted, and what is exported. */
async function contents(location: string): Promise<{ stored: Map<string, number>; leads: string[] }> {
  const store = await openInbox({ location: locationOf(location), clock: systemClock });
  const stored = new Map<string, number>();
  for await (const { leadId = '' } of store.list({ verdicts: ['accepted'] })) {
    stored.set(leadId, (stored.get(leadId) ?? 0) + 1);
  }
  await store.close();
  return { stored, leads: await storedIds(locationOf(location)) };
}

await withCluster({}, (cluster) => {
  describe('four receivers of one database', () => {
    let inbox: FleetInbox;
    let app: App;
    let fleet: Fleet;
    beforeEach(async () => {
      app = await startApp();
      inbox = fleetInbox(cluster.address);
      fleet = await Fleet.start(4, inbox, ['--forward-to', app.url]);
    });
    afterEach(async () => {
      await fleet.end();
      await app.stop();
    });

    it('answer copies of a lead that each of them gets at the same moment, and forward one', async () => {
      const copied = Array.from({ length: copiedLeads }, (_, n) => `copied-${n}`);
      let attempts = 0;
      const deliver = async (receiver: number, id: string): Promise<string> => {
        for (;;) {
          attempts += 1;
          const answer = await fleet.at(receiver).deliver({ id });
          if (answer.status === 200) return verdictOf(answer);
          await systemClock.sleep(5 + Math.random() * 20);
        }
      };
      await inParallel(copied, inFlight / 4, async (id) => {
        const verdicts = await Promise.all([0, 1, 2, 3].map((receiver) => deliver(receiver, id)));
        expect(verdicts.toSorted()).toEqual(['accepted', 'duplicate', 'duplicate', 'duplicate']);
      });
      printFigure(
        18,
        `fleet: ${copied.length} leads in 4 copies each at the same moment: ${attempts} attempts`,
      );
      await until(() => app.got.size === copied.length, 'the last forward');
      expect(copied.filter((id) => app.got.get(id) !== 1)).toEqual([]);
      expect(attempts).toBeLessThan(4 * copied.length * 1.01);
    });

    it('lose and repeat nothing when any of them, or the database, is killed', async () => {
      const acknowledged = new Map<string, string[]>();
      let acks = 0;
      let isOver = false;
      onTestFinished(() => void (isOver = true));
      const sending = inParallel(plan(), inFlight, async (id) => {
        while (!isOver) {
          const answer = await fleet
            .any()
            .deliver({ id, category: 'solar', contact: { name: `Person ${id}` }, metadata: {} })
            .catch(() => undefined);
          if (answer?.status === 200) {
            const { status } = JSON.parse(answer.text) as { status: string };
            acknowledged.set(id, [...(acknowledged.get(id) ?? []), status]);
            acks += 1;
            return;
          }
          await systemClock.sleep(5 + Math.random() * 20);
        }
      });
      const kills = receiverKills + databaseKills;
      let databaseKilled = 0;
      for (let kill = 0; kill < kills; kill += 1) {
        const after = ((kill + Math.random()) * deliveries) / (kills + 1);
        await until(() => acks >= after, 'further acknowledgements', 60_000);
        if (Math.floor(((kill + 1) * databaseKills) / kills) > databaseKilled) {
          await cluster.kill9();
          databaseKilled += 1;
          await cluster.start();
        } else await fleet.kill(kill % 4);
      }
      await sending;
      // What a receiver had claimed when it was killed is forwarded once the claim ends.
      await until(() => [...acknowledged.keys()].every((id) => app.got.has(id)), 'the last forward', 120_000);
      expect(await fleet.end('SIGTERM')).toEqual([143, 143, 143, 143]);

      const { stored, leads } = await contents(inbox.url);
      const lost = [...acknowledged.keys()].filter((id) => !stored.has(id));
      const twice = [...stored].filter(([, times]) => times > 1);
      const notForwarded = [...acknowledged.keys()].filter((id) => !app.got.has(id));
      const forwards = [...app.got.values()].reduce((sum, times) => sum + times, 0);
      const deadlocks = cluster.log().split('deadlock detected').length - 1;
      printFigure(
        18,
        `fleet: ${receiverKills} × kill -9 of receivers and ${databaseKilled} of the database under ${deliveries} deliveries ` +
          `of ${ids} leads: lost ${lost.length}, stored twice ${twice.length}, not forwarded ${notForwarded.length} ` +
          `(forwarded ${forwards}), deadlocks ${deadlocks}`,
      );
      expect(databaseKilled).toBe(databaseKills);
      expect(acks).toBe(deliveries);
      expect(acknowledged.size).toBe(ids);
      expect(lost).toEqual([]);
      expect(twice).toEqual([]);
      expect(leads.toSorted()).toEqual([...acknowledged.keys()].toSorted());
      expect(notForwarded).toEqual([]);
      expect(deadlocks).toBe(0);
    });
  });
});
