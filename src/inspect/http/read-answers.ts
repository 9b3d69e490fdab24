import type { WireCurl, WireInbox } from '../wire.ts';
import type { ApiAnswer, ApiParts, ApiRequest } from './api-request.ts';
import { badRequest, notThere, problemAnswer } from './problem-answer.ts';

const defaultRows = 100;
const mostRows = 200;

const defaultBuckets = 60;
const mostBuckets = 240;
const defaultWindowMs = 86_400_000;

export async function inboxAnswer({ location, isReceiving, reads, replays }: ApiParts): ApiAnswer {
  const body: WireInbox = {
    location,
    newestSeq: await reads.newestSeq(),
    targets: replays.targets,
    isReceiving,
    program: `leads ${LEADS_VERSION}`,
  };
  return { status: 200, body };
}

export async function pageAnswer({ reads }: ApiParts, { query }: ApiRequest): ApiAnswer {
  const page = await reads.page({
    before: query.number('before'),
    verdicts: query.verdicts(),
    since: query.number('since'),
    until: query.number('until'),
    leadId: query.text('lead'),
    limit: query.number('limit', 1, mostRows) ?? defaultRows,
  });
  return { status: 200, body: page };
}

export async function deliveryAnswer({ reads }: ApiParts, { seq }: ApiRequest): ApiAnswer {
  const delivery = await reads.delivery(seq);
  return delivery === undefined ? notFound(seq) : { status: 200, body: delivery };
}

/** Never as something that a browser shows: what was received may be a page with scripts. */
export async function bodyAnswer({ reads }: ApiParts, { seq }: ApiRequest): ApiAnswer {
  const content = await reads.body(seq);
  if (content === undefined) return notFound(seq);
  return {
    status: 200,
    text: { type: 'application/octet-stream', content },
    headers: { 'content-disposition': `attachment; filename="delivery-${seq}.json"` },
  };
}

export async function curlAnswer({ reads, replays }: ApiParts, { query, seq }: ApiRequest): ApiAnswer {
  const target = query.text('target');
  const url = target === undefined ? undefined : replays.urlOf(target);
  if (target !== undefined && url === undefined) {
    return problemAnswer(badRequest('The target is none of those that were named.'));
  }
  const command = await reads.curl(seq, url);
  const body: WireCurl | undefined = command === undefined ? undefined : { command };
  return body === undefined ? notFound(seq) : { status: 200, body };
}

export async function diffAnswer({ reads }: ApiParts, { query }: ApiRequest): ApiAnswer {
  const [left, right] = [query.required('left'), query.required('right')];
  const diff = await reads.diff(left, right);
  return diff === undefined
    ? problemAnswer(notThere('One of the two deliveries'))
    : { status: 200, body: diff };
}

export async function chartsAnswer({ reads, now }: ApiParts, { query }: ApiRequest): ApiAnswer {
  const until = query.number('until') ?? now();
  const since = query.number('since') ?? until - defaultWindowMs;
  if (since >= until) return problemAnswer(badRequest("The query's since must be before its until."));
  const buckets = query.number('buckets', 1, mostBuckets) ?? defaultBuckets;
  return { status: 200, body: await reads.charts({ since, until, buckets }) };
}

const notFound = (seq: number): Awaited<ApiAnswer> => problemAnswer(notThere(`Delivery ${seq}`));
