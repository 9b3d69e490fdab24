import type { InboxReader, StoredDelivery, InboxQuery } from '../../inbox/inbox.ts';
import { curlCommand } from '../../output/curl-command.ts';
import { redacted, storedDelivery } from '../../receiver/stored-deliveries.ts';
import { endToEndHeaders } from '../../receiver/targets/forward-request.ts';
import { Secret } from '../../secret.ts';
import { describeDelivery } from './describe-delivery.ts';
import type { InboxQueries, PageQuery, ChartQuery } from './query-types.ts';
import { searchInbox } from './search-inbox.ts';
import { arrivedSince, InboxWatch } from './watch-inbox.ts';
import type { WirePage, WireRow, WireBucket, WireCharts, WireCounts, WireVerdict } from '../wire.ts';
import { rowOf } from './delivery-row.ts';
import { DelayPercentiles } from '../../stats/receipt-counts.ts';

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
    delivery: (seq) => describeDelivery(inbox, seq),
    body: async (seq) => (await storedDelivery(inbox, seq))?.body,
    async curl(seq) {
      const delivery = await storedDelivery(inbox, seq);
      if (delivery === undefined) return undefined;
      const { url, isHttpsAssumed } = addressOf(delivery);
      return { command: curlOfDelivery(delivery, url), isHttpsAssumed };
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
 * came with TLS is what a proxy says of it.
 */
function addressOf({ verdict, path, headers }: StoredDelivery): {
  readonly url: string;
  readonly isHttpsAssumed: boolean;
} {
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
  return { url: `${said ?? 'https'}://${host}${own}`, isHttpsAssumed: said === undefined };
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

/** One page of the list, newest first. */
async function listPage(
  inbox: Pick<InboxReader, 'list' | 'lookUp' | 'lackingTargets'>,
  { limit, ...query }: PageQuery,
): Promise<WirePage> {
  const rows: WireRow[] = [];
  let hasMore = false;
  for await (const delivery of inbox.list(query)) {
    if (rows.length === limit) {
      hasMore = true;
      break;
    }
    rows.push(await rowOf(inbox, delivery));
  }
  const next = hasMore ? (rows.at(-1)?.seq ?? null) : null;
  const { leadId } = query;
  return { rows, next, lead: leadId === undefined ? null : await stateOf(inbox, leadId, rows) };
}

/** Why the list lacks what the inbox had of a lead. */
async function stateOf(
  inbox: Pick<InboxReader, 'lookUp'>,
  leadId: string,
  rows: readonly WireRow[],
): Promise<WirePage['lead']> {
  const [lead] = await inbox.lookUp([leadId]);
  if (lead === undefined) return null;
  if (lead.digest === undefined) return 'erased';
  return rows.some(({ verdict }) => verdict !== 'rejected') ? null : 'pruned';
}

interface Counts {
  readonly verdicts: Record<WireVerdict, number>;
  readonly delays: DelayPercentiles;
  delayMax: number | null;
  delaysUnknown: number;
}

/** Counts all that was received in a window, also what is not stored any more. */
async function countCharts(
  inbox: Pick<InboxReader, 'counts' | 'extent'>,
  query: ChartQuery,
): Promise<WireCharts> {
  const {
    since,
    until,
    buckets: most,
  } = query.since === undefined ? await fittedWindow(inbox, query.until) : { ...query, since: query.since };
  const bucketMs = Math.max(1, Math.ceil((until - since) / most));
  const buckets = Array.from({ length: Math.max(1, Math.ceil((until - since) / bucketMs)) }, (): Counts => ({
    verdicts: { ...none },
    delays: new DelayPercentiles(),
    delayMax: null,
    delaysUnknown: 0,
  }));
  const removed = { ...none };
  for await (const step of inbox.counts({ since, until, partMs: bucketMs })) {
    for (const { part, verdict, count, isRemoved, delays, attempt, reason } of step) {
      const bucket = buckets[part];
      if (bucket === undefined) continue;
      bucket.verdicts[verdict] += count;
      if (isRemoved) removed[verdict] += count;
      if (isRemoved && attempt === 1 && reason === undefined) bucket.delaysUnknown += count;
      for (const delay of delays) {
        bucket.delays.add(delay);
        bucket.delayMax = Math.max(delay, bucket.delayMax ?? 0);
      }
    }
  }
  return {
    since,
    until,
    bucketMs,
    buckets: buckets.map((bucket, i) => wireBucket(since + i * bucketMs, bucket)),
    removed,
  };
}

const minute = 60_000;
const day = 1440 * minute;

/** Fewer buckets than that would make one delivery a bar as wide as the chart. */
const fewestBuckets = 12;

/** The part of the last day in which something came, in whole minutes; around a short one so much that it is in the middle. */
async function fittedWindow(
  inbox: Pick<InboxReader, 'counts'>,
  until: number,
): Promise<ChartQuery & { readonly since: number }> {
  const start = Math.ceil(until / minute) * minute - day;
  let [first, last] = [Infinity, 0];
  for await (const step of inbox.counts({ since: start, until, partMs: minute })) {
    for (const { part } of step) [first, last] = [Math.min(first, part), Math.max(last, part)];
  }
  if (first === Infinity) [first, last] = [0, day / minute - 1];
  const length = [1, 2, 5, 10].find((one) => (last - first) / one < 60) ?? 30;
  const from = Math.floor((start / minute + first) / length);
  const count = Math.floor((start / minute + last) / length) - from + 1;
  const buckets = Math.max(count, fewestBuckets);
  const since = (from - Math.floor((buckets - count) / 2)) * length * minute;
  return { since, until: since + buckets * length * minute, buckets };
}

/** More pending leads are not counted: they are read one by one. */
const mostPending = 1_000;

/** How many rows the list has of each verdict. */
async function countVerdicts(
  inbox: Pick<InboxReader, 'counts' | 'list'>,
  { since = 0, until = Number.MAX_SAFE_INTEGER }: Pick<InboxQuery, 'since' | 'until'>,
): Promise<WireCounts> {
  const counts = { ...none };
  const partMs = Number.MAX_SAFE_INTEGER;
  for await (const step of inbox.counts({ since, until, partMs })) {
    for (const { verdict, count, isRemoved } of step) if (!isRemoved) counts[verdict] += count;
  }
  // Of a lead that is outstanding the list has one row, whatever its deliveries were answered when they came.
  counts.pending = 0;
  for await (const _ of inbox.list({ verdicts: ['pending'], since, until })) {
    counts.pending += 1;
    if (counts.pending === mostPending) break;
  }
  return counts;
}

const none = { accepted: 0, duplicate: 0, pending: 0, rejected: 0, other: 0 };

function wireBucket(at: number, { verdicts, delays, delayMax, delaysUnknown }: Counts): WireBucket {
  return { at, ...verdicts, delayP50: delays.figures().p50, delayMax, delaysUnknown };
}
