import * as z from 'zod/mini';
import { parseDuration } from '../../time/duration.ts';
import { apiFaults, deliveryFaults, parseFaults } from '../../sandbox/faults.ts';
import { defaultApi, nextForms, paginations } from '../../sandbox/api/api-options.ts';
import { schemeShape } from '../scheme-options.ts';
import { flag, interval, oneOf, parsed, pointInTime, text, texts, url, wholeNumber } from '../values.ts';

/** `1s,5s,30s`, or `none`: milliseconds. */
function parseSchedule(given: string): readonly number[] | undefined {
  if (given === 'none') return [];
  const waits = given.split(',').map((wait) => parseDuration(wait.trim()));
  return waits.includes(undefined) ? undefined : (waits as number[]);
}

function parseRateLimit(given: string): { requests: number; windowMs: number } | undefined {
  const [, requests, window = ''] = /^([1-9]\d{0,8})\/(.+)$/.exec(given) ?? [];
  const windowMs = parseDuration(/^[a-z]/.test(window) ? `1${window}` : window);
  return requests === undefined || windowMs === undefined || windowMs === 0
    ? undefined
    : { requests: Number(requests), windowMs };
}

/** `since=createdAfter`; with nothing behind it, the parameter does not exist. */
function parseRenaming(given: string): readonly [string, string | null] | undefined {
  const [, name = '', shown = ''] = /^([a-z]+)=(.*)$/.exec(given) ?? [];
  return name in defaultApi.params ? [name, shown === '' ? null : shown] : undefined;
}

const webhookUrl = () =>
  z.pipe(
    url(),
    z.transform((target) => target.href),
  );

export const options = z.object({
  ...schemeShape,
  format: z.enum(['pretty', 'json']),
  leads: z.optional(wholeNumber(0, 10_000_000)),
  seed: z.optional(text()),
  newest: z.optional(pointInTime()),
  from: z.optional(text()),
  every: z.optional(interval()),
  webhook: z._default(z.array(webhookUrl()), []),
  retry: z.optional(parsed(parseSchedule, "a list of durations such as 1s,5s,30s, or 'none'")),
  paused: flag(),
  deliveryTimeout: z.optional(interval()),
  deliveryConcurrency: z.optional(wholeNumber(1, 1000)),
  faults: z.optional(
    z.pipe(
      z.string(),
      z.transform((given) => parseFaults(given, apiFaults)),
    ),
  ),
  deliveryFaults: z.optional(
    z.pipe(
      z.string(),
      z.transform((given) => parseFaults(given, deliveryFaults)),
    ),
  ),
  host: z.optional(text()),
  port: z._default(wholeNumber(0, 65_535), 8080),
  tls: flag(),
  apiKey: texts(),
  apiKeyFile: texts(),
  path: z.optional(
    parsed((given) => (/^\/[^?#\s]*$/.test(given) ? given : undefined), 'a path that starts with /'),
  ),
  pagination: z.optional(oneOf(paginations)),
  next: z.optional(oneOf(nextForms)),
  nextField: z.optional(text()),
  envelope: z.optional(text()),
  param: z._default(
    z.array(
      parsed(parseRenaming, `NAME=OTHER, with NAME one of ${Object.keys(defaultApi.params).join(', ')}`),
    ),
    [],
  ),
  order: z.optional(oneOf(['newest', 'oldest'])),
  defaultLimit: z.optional(wholeNumber(1)),
  maxLimit: z.optional(wholeNumber(1)),
  rateLimit: z.optional(parsed(parseRateLimit, 'requests in a window, such as 100/1m')),
  statusField: z.optional(text()),
  totals: z.boolean(),
  gzip: z.boolean(),
});

export type Options = z.output<typeof options>;
