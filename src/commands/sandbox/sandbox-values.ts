import { text, type ValueType } from '../../config/value-types.ts';
import { defaultApi } from '../../sandbox/api/api-options.ts';
import {
  type ApiFault,
  apiFaults,
  type DeliveryFault,
  deliveryFaults,
  type Faults,
  parseFaults,
} from '../../sandbox/faults.ts';
import { parseDuration } from '../../time/duration.ts';
import { httpUrl } from '../flags/flag-values.ts';

/** `1s,5s,30s`, or `none`: waits in milliseconds. */
export const retrySchedule: ValueType<readonly number[]> = {
  parse: (typed) => {
    if (typed === 'none') return [];
    const waits = typed.split(',').map((wait) => parseDuration(wait.trim()));
    return waits.includes(undefined) ? undefined : (waits as number[]);
  },
  expected: "a list of durations such as 1s,5s,30s, or 'none'",
};

/** `100/1m`, and `100/m` for the same. */
export const requestRate: ValueType<{ readonly requests: number; readonly windowMs: number }> = {
  parse: (typed) => {
    const [, requests, window = ''] = /^([1-9]\d{0,8})\/(.+)$/.exec(typed) ?? [];
    const windowMs = parseDuration(/^[a-z]/.test(window) ? `1${window}` : window);
    return requests === undefined || windowMs === undefined || windowMs === 0
      ? undefined
      : { requests: Number(requests), windowMs };
  },
  expected: 'requests in a window, such as 100/1m',
};

/** `since=createdAfter`; with nothing behind it, the parameter does not exist. */
export const parameterName: ValueType<readonly [string, string | null]> = {
  parse: (typed) => {
    const [, name = '', shown = ''] = /^([a-z]+)=(.*)$/.exec(typed) ?? [];
    return name in defaultApi.params ? [name, shown === '' ? null : shown] : undefined;
  },
  expected: `NAME=OTHER, with NAME one of ${Object.keys(defaultApi.params).join(', ')}`,
};

/** As an absolute URL in its normal form. */
export const webhookUrl: ValueType<string> = { ...httpUrl, parse: (typed) => httpUrl.parse(typed)?.href };

export const apiPath: ValueType<string> = {
  ...text,
  parse: (typed) => (/^\/[^?#\s]*$/.test(typed) ? typed : undefined),
  expected: 'a path that starts with /',
};

export const apiFaultList: ValueType<Faults<ApiFault>> = {
  parse: (typed) => parseFaults(typed, apiFaults),
  expected: 'a list of faults such as status500=5%',
};

export const deliveryFaultList: ValueType<Faults<DeliveryFault>> = {
  parse: (typed) => parseFaults(typed, deliveryFaults),
  expected: 'a list of faults such as duplicate=5%',
};
