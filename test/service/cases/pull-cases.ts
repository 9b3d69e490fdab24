import type { ServiceDescription } from './case-service.ts';

/** How a run must end. */
export interface Outcome {
  readonly exit: readonly number[];
  /** Of stdout. */
  readonly lines?: number;
  readonly says?: readonly string[];
  readonly saysNot?: readonly string[];
}

export interface PullCase {
  readonly name: string;
  readonly service: ServiceDescription;
  readonly config?: Readonly<Record<string, string>>;
  readonly commands?: readonly (readonly string[])[];
  readonly expect: Outcome;
  /** Another right outcome. */
  readonly or?: Outcome;
  /** A bookmark stays as it was, and a run with it has so many leads in its file once the service is healthy. */
  readonly healthyLines?: number;
  readonly requestsAtMost?: number;
  readonly neverAsked?: string;
  readonly neverEarly?: boolean;
  /** What a person does next, and what comes of that. */
  readonly then?: {
    readonly config?: Readonly<Record<string, string>>;
    readonly flags?: readonly string[];
    readonly expect: Outcome;
  };
}

const numbered = { leads: 500, pageSize: 100, style: 'next page' } as const;
const offsets = { leads: 137, pageSize: 50, style: 'offset and total' } as const;
const failed = [4, 5, 6];

/** Bodies of a 200 in which no lead is, and which are no end of a list. */
const failures: readonly unknown[] = [
  { success: false, message: 'db timeout', data: [] },
  { success: false, data: null },
  null,
  {},
  { data: [], next_page: 3 },
];

const failureAtPageThree = (body: unknown): PullCase => ({
  name: `a failure in a 200 at page 3: ${JSON.stringify(body)}`,
  service: { ...numbered, replace: { page: 3, status: 200, body } },
  expect: { exit: failed },
  healthyLines: 500,
});

/** Headers by which services say when their window opens again, which they do with these statuses. */
const windows: readonly (readonly [
  status: number,
  headers: Readonly<Record<string, string>>,
  forMs: number,
])[] = [
  [429, { 'x-ratelimit-reset': '{unix}' }, 25_000],
  [503, { 'retry-after': '25' }, 25_000],
  [403, { 'x-ratelimit-reset': '25', 'x-ratelimit-remaining': '0' }, 25_000],
  [200, { 'retry-after': '25' }, 25_000],
  [429, {}, 60_000],
];

const rateLimit = ([status, headers, forMs]: (typeof windows)[number]): PullCase => ({
  name: `${status} with ${JSON.stringify(headers)}`,
  service: {
    ...numbered,
    replace: { from: 2, status, headers, body: { error: 'rate_limited', message: 'slow down' }, forMs },
  },
  expect: { exit: [0], lines: 500 },
  ...(Object.keys(headers).length > 0 && { neverEarly: true }),
});

const dbTimeout = { success: false, message: 'db timeout', data: [] };

export const pullCases: readonly PullCase[] = [
  ...failures.map(failureAtPageThree),
  {
    name: 'an honest end behind answers that all have the same code',
    service: { leads: 250, pageSize: 100, style: 'page', beside: { code: 1000, state: 'failed', page: 1 } },
    expect: { exit: [0], lines: 250 },
  },
  {
    name: 'a page that is empty once, although the page before names it',
    service: { ...numbered, replace: { page: 3, status: 200, body: { data: [] }, once: true } },
    expect: { exit: [0], lines: 500 },
  },
  {
    name: 'a failure in a 200 at page 1, whatever asks',
    service: { ...numbered, replace: { page: 1, status: 200, body: dbTimeout } },
    commands: [['export'], ['list'], ['stats'], ['audit', '--received', '-']],
    expect: { exit: [5, 6], says: ['db timeout'] },
  },
  {
    name: 'a rate limit in a 200',
    service: {
      ...numbered,
      replace: {
        page: 2,
        status: 200,
        once: true,
        body: {
          requestId: 'x',
          success: false,
          errors: [{ code: '606', message: 'max rate limit 100 exceeded within 20 secs' }],
        },
      },
    },
    expect: { exit: [0], lines: 500 },
  },
  {
    name: 'a token that has expired in a 200',
    service: {
      ...numbered,
      replace: { page: 1, status: 200, body: { code: 40105, message: 'access token expired', data: {} } },
    },
    expect: { exit: [4], says: ['access token expired'] },
  },
  {
    name: 'offsets that are refused unless they are multiples of the page size',
    service: { ...offsets, offsets: 'refused' },
    expect: { exit: [0], lines: 137 },
    requestsAtMost: 6,
  },
  {
    name: 'offsets that are rounded down',
    service: { ...offsets, offsets: 'rounded' },
    expect: { exit: [0], lines: 137 },
    requestsAtMost: 6,
  },
  {
    name: 'a next that is an offset',
    service: { leads: 137, pageSize: 50, style: 'next offset' },
    expect: { exit: [6], says: ['api.params.offset'] },
    or: { exit: [0], lines: 137 },
    then: { config: { 'api.params.offset': 'start' }, expect: { exit: [0], lines: 137 } },
  },
  {
    name: 'a cursor parameter that a person set',
    service: offsets,
    config: { 'api.pagination': 'cursor', 'api.params.cursor': 'start' },
    expect: { exit: [0, 6] },
    neverAsked: 'start=49',
  },
  ...windows.map(rateLimit),
  {
    name: 'a gateway that checks for bots',
    service: {
      ...numbered,
      replace: {
        page: 1,
        status: 403,
        headers: { 'content-type': 'text/html', 'cf-mitigated': 'challenge' },
        body: '<html><title>Just a moment...</title></html>',
      },
    },
    expect: { exit: [5], says: ['in front of the service'], saysNot: ['another key'] },
  },
  {
    name: 'a next URL with another scheme and no port',
    service: { leads: 60, pageSize: 25, style: 'next url' },
    expect: { exit: [6], says: ['api.pagination', 'api.next'] },
    then: {
      config: { 'api.pagination': 'page', 'api.params.page': 'page' },
      expect: { exit: [0], lines: 60 },
    },
  },
  {
    name: 'a page that is too large for the service',
    service: { leads: 160, pageSize: 50, style: 'page and has_more', refusesLimits: true },
    expect: { exit: [0], lines: 160 },
    or: { exit: [5], says: ['--page-size'] },
  },
  {
    name: 'one record that is no JSON',
    service: { leads: 50, pageSize: 50, style: 'array', corrupt: 6 },
    expect: { exit: [6], says: ['L-6'] },
    then: { flags: ['--skip-invalid'], expect: { exit: [6], lines: 49, says: ['L-6'] } },
  },
];
