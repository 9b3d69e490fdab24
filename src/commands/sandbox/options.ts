import { interval, oneOf, text, type ValueType, wholeNumber } from '../../config/value-types.ts';
import {
  type ApiFault,
  apiFaults,
  type DeliveryFault,
  deliveryFaults,
  type Faults,
  parseFaults,
} from '../../sandbox/faults.ts';
import { defaultApi, nextForms, paginations } from '../../sandbox/sandbox-options.ts';
import { httpUrl, pointInTime, requestRate, retrySchedule } from '../flags/flag-values.ts';
import { type Flags, inGroup, type OptionsOf } from '../flags/flag.ts';
import { schemeFlags } from '../flags/scheme-flags.ts';
import { formatFlags } from '../flags/shared-flags.ts';

/** `since=createdAfter`; with nothing behind it, the parameter does not exist. */
const parameterName: ValueType<readonly [string, string | null]> = {
  parse: (typed) => {
    const [, name = '', shown = ''] = /^([a-z]+)=(.*)$/.exec(typed) ?? [];
    return name in defaultApi.params ? [name, shown === '' ? null : shown] : undefined;
  },
  expected: `NAME=OTHER, with NAME one of ${Object.keys(defaultApi.params).join(', ')}`,
};

/** As an absolute URL in its normal form. */
const webhookUrl: ValueType<string> = { ...httpUrl, parse: (typed) => httpUrl.parse(typed)?.href };

const apiPath: ValueType<string> = {
  ...text,
  parse: (typed) => (/^\/[^?#\s]*$/.test(typed) ? typed : undefined),
  expected: 'a path that starts with /',
};

const apiFaultList: ValueType<Faults<ApiFault>> = {
  parse: (typed) => parseFaults(typed, apiFaults),
  expected: 'a list of faults such as status500=5%',
};

const deliveryFaultList: ValueType<Faults<DeliveryFault>> = {
  parse: (typed) => parseFaults(typed, deliveryFaults),
  expected: 'a list of faults such as duplicate=5%',
};

const leadFlags = {
  leads: {
    value: 'n',
    type: wholeNumber(0, 10_000_000),
    otherwise: '250',
    help: 'how many there are at the start',
  },
  seed: { value: 'seed', type: text, otherwise: '1', help: 'same seed, same leads and faults' },
  newest: {
    value: 'time',
    type: pointInTime,
    otherwise: 'today at 00:00 UTC',
    help: 'when the newest of them came',
  },
  from: {
    value: 'file',
    type: text,
    help: 'leads of an NDJSON file instead, in their own bytes (- for stdin)',
  },
  every: { value: 'duration', type: interval, help: 'a new lead each' },
} satisfies Flags;

const deliveryFlags = {
  webhook: { value: 'url', type: webhookUrl, repeatable: true, help: 'deliver every lead there' },
  retry: {
    value: 'durations',
    type: retrySchedule,
    otherwise: '1s,5s,30s',
    help: "waits before retries, or 'none'",
  },
  paused: { help: 'hold deliveries until POST /sandbox/deliveries/resume' },
  deliveryTimeout: { value: 'duration', type: interval, otherwise: '10s', help: 'for one attempt' },
  deliveryConcurrency: {
    value: 'n',
    type: wholeNumber(1, 1000),
    otherwise: '8',
    help: 'in flight per target',
  },
} satisfies Flags;

const faultFlags = {
  faults: {
    value: 'list',
    type: apiFaultList,
    help: "of the API, such as 'status500=5%,status429=5%:2s,reset=2%,slow=1%'",
  },
  deliveryFaults: {
    value: 'list',
    type: deliveryFaultList,
    help: "such as 'duplicate=5%,reorder=5%,drop=2%,badSignature=1%'",
  },
} satisfies Flags;

const apiFlags = {
  host: { value: 'address', type: text, otherwise: '127.0.0.1', help: 'address to listen on' },
  port: { value: 'n', type: wholeNumber(0, 65_535), default: '8080', help: 'port to listen on, 0 for any' },
  tls: { help: 'HTTPS, with a certificate of the local authority' },
  apiKey: {
    value: 'key',
    type: text,
    repeatable: true,
    otherwise: 'LEADS_API_KEY or sandbox-key',
    variable: 'LEADS_API_KEY',
    help: 'that opens the API',
  },
  apiKeyFile: { value: 'file', type: text, repeatable: true, help: 'the same, from a file (- for stdin)' },
  path: { value: 'path', type: apiPath, otherwise: '/api/leads', help: 'of the list operation' },
  pagination: { value: 'style', type: oneOf(paginations), otherwise: 'cursor' },
  next: { value: 'form', type: oneOf(nextForms), help: 'how the body names the next page' },
  nextField: {
    value: 'name',
    type: text,
    otherwise: 'as is usual',
    help: 'the name of that field, such as meta.next_cursor',
  },
  envelope: {
    value: 'name',
    type: text,
    otherwise: 'data',
    help: 'array in the body, such as result.leads, or none',
  },
  param: {
    value: 'name=name',
    type: parameterName,
    repeatable: true,
    help: 'rename a parameter: since=createdAfter; since= removes it',
  },
  order: {
    value: 'order',
    type: oneOf(['newest', 'oldest']),
    otherwise: 'newest',
    help: 'which comes first',
  },
  defaultLimit: { value: 'n', type: wholeNumber(1), otherwise: '50', help: 'page size without a limit' },
  maxLimit: { value: 'n', type: wholeNumber(1), otherwise: '1000', help: 'largest page' },
  rateLimit: { value: 'n/duration', type: requestRate, help: 'requests in a window, such as 100/1m' },
  statusField: {
    value: 'name',
    type: text,
    otherwise: 'status',
    help: 'of the delivery status in each lead',
  },
  totals: { negated: true, help: 'no total in page and offset bodies' },
  gzip: { negated: true, help: 'never compress' },
} satisfies Flags;

export const flags = {
  ...inGroup('Leads', leadFlags),
  ...inGroup('Webhook delivery', deliveryFlags),
  ...schemeFlags('How deliveries are signed'),
  ...inGroup('Faults', faultFlags),
  ...inGroup('The API', apiFlags),
  ...formatFlags(['pretty', 'json']),
} satisfies Flags;

export type Options = OptionsOf<typeof flags>;
