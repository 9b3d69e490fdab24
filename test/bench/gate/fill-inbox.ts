import { openInbox } from '../../../src/inbox/open-inbox.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { benchLead } from '../../support/page-service.ts';

/** A program: fills the inbox at a place with so many leads as they are listed, with the status that the service has for them. */
const [, , location = '', count = ''] = process.argv;

const inbox = await openInbox({ location, clock: systemClock });
for (let from = 0; from < Number(count); from += 1000) {
  await inbox.take(
    Array.from({ length: 1000 }, (_, i) => {
      const body = benchLead(from + i);
      const { id, createdAt } = JSON.parse(body) as { readonly id: string; readonly createdAt: string };
      const delivery = {
        ...{ method: 'POST', path: '/', url: 'https://localhost/', remote: '127.0.0.1' },
        rawHeaders: [['content-type', 'application/json']] as const,
        ...{ body: Buffer.from(body), receivedAt: Date.parse(createdAt) + 1000 },
      };
      return { leadId: id, delivery };
    }),
  );
}
await inbox.close();
