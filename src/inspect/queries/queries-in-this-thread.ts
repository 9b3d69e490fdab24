import type { InboxReader, StoredDelivery } from '../../inbox/inbox.ts';
import { curlCommand } from '../../output/curl-command.ts';
import { redacted, storedDelivery } from '../../receiver/stored-deliveries.ts';
import { endToEndHeaders } from '../../receiver/targets/forward-request.ts';
import { Secret } from '../../secret.ts';
import { countCharts, countVerdicts } from './count-charts.ts';
import { describeDelivery } from './describe-delivery.ts';
import { diffDeliveries } from './diff-deliveries.ts';
import { listPage } from './list-rows.ts';
import type { InboxQueries } from './query-types.ts';
import { saveDeliveries } from './save-deliveries.ts';
import { searchInbox } from './search-inbox.ts';
import { arrivedSince, InboxWatch } from './watch-inbox.ts';

/** Reads an inbox in this thread, in small steps. Closing it closes the inbox, unless that is somebody else's. */
export function queriesInThisThread(
  inbox: Omit<InboxReader, 'close'>,
  close?: () => Promise<void>,
): InboxQueries {
  const watch = new InboxWatch(inbox);
  return {
    newestSeq: async () => (await inbox.extent()).newestSeq,
    page: (query) => listPage(inbox, query),
    search: (query) => searchInbox(inbox, query),
    save: (query) => saveDeliveries(inbox, query),
    delivery: (seq) => describeDelivery(inbox, seq),
    body: async (seq) => (await storedDelivery(inbox, seq))?.body,
    async diff(left, right) {
      const [one, other] = [await storedDelivery(inbox, left), await storedDelivery(inbox, right)];
      return one === undefined || other === undefined ? undefined : diffDeliveries(inbox, one, other);
    },
    async curl(seq, url, receiver) {
      const delivery = await storedDelivery(inbox, seq);
      if (delivery === undefined) return undefined;
      const { isHttpsAssumed, ...to } =
        url === undefined ? addressOf(delivery, receiver) : { url, isHttpsAssumed: false };
      return { command: curlOfDelivery(delivery, to.url), isHttpsAssumed };
    },
    charts: (query) => countCharts(inbox, query),
    verdicts: (query) => countVerdicts(inbox, query),
    since: (after) => arrivedSince(inbox, after),
    changes: (touched) => watch.changes(touched),
    close: () => close?.() ?? Promise.resolve(),
  };
}

/** Where nothing says which receiver is meant. */
const placeholder = 'https://receiver.example';

/**
 * Where a delivery was sent to. Of a rejected one anybody chose the host, to whom a person might send credentials. Whether it
 * came with TLS is what a proxy says of it; without one, a host with a port is the receiver itself.
 */
function addressOf(
  { verdict, path, headers }: StoredDelivery,
  receiver: 'http' | 'https' | undefined,
): { readonly url: string; readonly isHttpsAssumed: boolean } {
  const own = path.startsWith('/') ? path : '/';
  const header = (name: string): string =>
    headers.find(([known]) => known.toLowerCase() === name)?.[1].toLowerCase() ?? '';
  const host = header('host');
  const isHost = /^(?:[a-z\d](?:[a-z\d.-]*[a-z\d])?|\[[\da-f:.]+\])(?::\d{1,5})?$/.test(host);
  if (!isHost || verdict === 'rejected' || verdict === 'other')
    return { url: `${placeholder}${own}`, isHttpsAssumed: false };
  const [, said] =
    /^\s*(https?)\b/.exec(header('x-forwarded-proto')) ??
    /\bproto="?(https?)\b/.exec(header('forwarded')) ??
    [];
  const scheme = said ?? (/:\d+$/.test(host) ? receiver : undefined);
  return { url: `${scheme ?? 'https'}://${host}${own}`, isHttpsAssumed: scheme === undefined };
}

/** The delivery as a command for a shell. Credentials are not stored: `$CREDENTIAL` stands for each. */
function curlOfDelivery({ method, headers, body }: StoredDelivery, url: string): string {
  return curlCommand({
    method: method === '' ? 'POST' : method,
    url,
    headers: endToEndHeaders({ rawHeaders: headers }),
    body,
    secrets: [{ secret: new Secret(redacted), variable: 'CREDENTIAL' }],
  });
}
