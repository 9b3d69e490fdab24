import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Dialect } from '../../src/config/dialect.ts';
import { answering } from '../support/replying.ts';
import { sendJson } from '../support/service.ts';
import { walk } from '../support/walk.ts';

const leads = Array.from({ length: 70 }, (_, i) => ({ id: `l-${i}`, createdAt: 1_769_860_800 - i * 60 }));
const ids = leads.map(({ id }) => id);
/** A token that only the service understands, for the number of leads before it. */
const tokens = leads.map((_, i) => createHash('sha256').update(`t${i}`).digest('base64url'));
const startOf = (token: string | null): number => (token === null ? 0 : tokens.indexOf(token));

interface Page {
  readonly data: typeof leads;
  /** Of the page behind it; undefined on the last one. */
  readonly token: string | undefined;
}

interface Style {
  readonly name: string;
  readonly start: (query: URLSearchParams) => number;
  readonly body: (page: Page) => unknown;
  readonly headers?: (page: Page) => Record<string, string>;
  readonly dialect?: Dialect;
}

const byParam =
  (param: string): Style['start'] =>
  (query) =>
    startOf(query.get(param));
/** The token in a field that is missing on the last page. */
const named = (field: string, param: string): Style => ({
  name: `${field}, taken by ${param}`,
  start: byParam(param),
  body: ({ data, token }) => ({ data, ...(token === undefined ? {} : { [field]: token }) }),
});
const inHeader = (header: string, param: string): Style => ({
  name: `the header ${header}, taken by ${param}`,
  start: byParam(param),
  body: ({ data }) => data,
  headers: ({ token }): Record<string, string> => (token === undefined ? {} : { [header]: token }),
});
const keyOf = (id: string | undefined): object => ({ id: { S: id } });
const behind = (id: unknown): number => ids.indexOf(String(id)) + 1;

const styles: readonly Style[] = [
  named('offset', 'offset'),
  named('NextToken', 'NextToken'),
  named('NextMarker', 'marker'),
  named('continuation', 'continuation'),
  named('resumptionToken', 'resumptionToken'),
  named('pageState', 'pageState'),
  inHeader('x-ms-continuationtoken', 'continuationToken'),
  {
    name: 'an object as JSON in the parameter that is set',
    start: (query) => behind((JSON.parse(query.get('from') ?? '{}') as { lastId?: string }).lastId),
    body: ({ data, token }) => ({ data, next: token === undefined ? null : { lastId: data.at(-1)?.id } }),
    dialect: { params: { cursor: 'from' } },
  },
  {
    name: 'LastEvaluatedKey as JSON (DynamoDB)',
    start: (query) => {
      const key = query.get('ExclusiveStartKey');
      return key === null ? 0 : behind((JSON.parse(key) as { id: { S: string } }).id.S);
    },
    body: ({ data, token }) => ({
      Items: data,
      Count: data.length,
      ...(token && { LastEvaluatedKey: keyOf(data.at(-1)?.id) }),
    }),
  },
  {
    name: 'search_after, an array (Elasticsearch)',
    start: (query) => behind((JSON.parse(query.get('search_after') ?? '[]') as string[])[1]),
    body: ({ data, token }) => ({
      data,
      ...(token && { search_after: [data.at(-1)?.createdAt, data.at(-1)?.id] }),
    }),
  },
];

describe.each(styles)('a list that goes on by $name', ({ start, body, headers, dialect = {} }) => {
  it('is read to its end', async () => {
    const { server, service } = await answering(
      (request, response) => {
        const from = start(new URL(request.url ?? '', 'http://localhost').searchParams);
        const page = { data: leads.slice(from, from + 30), token: tokens[from + 30] };
        sendJson(response, body(page), headers?.(page));
      },
      { dialect },
    );
    const walked = await walk(service);
    expect(walked.ids).toEqual(ids);
    expect(walked.completion).toEqual({ kind: 'complete', evidence: 'explicit-end' });
    expect(server.requests).toHaveLength(3);
  });
});
