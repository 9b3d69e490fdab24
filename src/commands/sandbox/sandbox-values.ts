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
import { httpUrl } from '../flags/flag-values.ts';

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
