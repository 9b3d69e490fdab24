import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openInbox } from '../../../src/inbox/open-inbox.ts';
import { arrivalOf, deliveryOf } from '../../inbox/support.ts';
import { FakeClock } from '../../support/clock.ts';
import { freshHome } from '../../support/run.ts';
import { leadOf } from './inspected.ts';

const batch = 1_000;

/** A home whose inbox has that many deliveries; the oldest one alone is of `Needle Oldest`. */
export async function largeInbox(count: number): Promise<string> {
  const home = freshHome();
  const folder = join(home, 'data');
  mkdirSync(folder, { recursive: true });
  const inbox = await openInbox({ location: join(folder, 'inbox.db'), clock: new FakeClock(Date.now()) });
  for (let from = 0; from < count; from += batch) {
    await inbox.take(
      Array.from({ length: Math.min(batch, count - from) }, (_, i) => {
        const id = `lead_${from + i}`;
        const lead = leadOf(id, from + i === 0 ? 'Needle Oldest' : `Person ${from + i}`);
        const receivedAt = Date.now() - (count - from - i) * 500;
        return arrivalOf({ id }, { delivery: deliveryOf(JSON.stringify(lead), { receivedAt }) });
      }),
    );
  }
  await inbox.close();
  return home;
}
