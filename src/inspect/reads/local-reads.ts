import type { InboxReader } from '../../inbox/inbox.ts';
import { storedDelivery } from '../../receiver/redelivery/delivery-by-number.ts';
import type { Reads } from './reads.ts';
import { countCharts } from './count-charts.ts';
import { curlOfDelivery } from './curl-of-delivery.ts';
import { describeDelivery } from './describe-delivery.ts';
import { diffDeliveries } from './diff-deliveries.ts';
import { listPage } from './list-page.ts';
import { searchInbox } from './search-inbox.ts';
import { arrivedSince, InboxWatch } from './watch-inbox.ts';

/** Reads an inbox in this thread, in small steps. Closing it closes the inbox, unless that is somebody else's. */
export function localReads(inbox: Omit<InboxReader, 'close'>, close?: () => Promise<void>): Reads {
  const watch = new InboxWatch(inbox);
  return {
    newestSeq: async () => (await inbox.extent()).newestSeq,
    page: (query) => listPage(inbox, query),
    search: (query) => searchInbox(inbox, query),
    delivery: (seq) => describeDelivery(inbox, seq),
    body: async (seq) => (await storedDelivery(inbox, seq))?.body,
    async diff(left, right) {
      const [one, other] = [await storedDelivery(inbox, left), await storedDelivery(inbox, right)];
      return one === undefined || other === undefined ? undefined : diffDeliveries(one, other);
    },
    async curl(seq, url) {
      const delivery = await storedDelivery(inbox, seq);
      return delivery && curlOfDelivery(delivery, url);
    },
    charts: (query) => countCharts(inbox, query),
    since: (after) => arrivedSince(inbox, after),
    changes: (touched) => watch.changes(touched),
    close: () => close?.() ?? Promise.resolve(),
  };
}
