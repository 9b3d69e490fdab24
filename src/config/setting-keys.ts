import { isObject, jsonIn } from '../json/exact.ts';
import { parseDuration } from '../time/time-text.ts';
import { Secret } from '../secret.ts';
import { parseBaseUrl, withoutPassword } from './base-url.ts';
import { type ExtraHeaders, headersType, withHiddenSecrets } from './extra-headers.ts';
import { dateFormats, paginationStyles, type ParameterName, totalMeanings } from './dialect.ts';
import {
  fieldName,
  memberNameOrAuto,
  oneOf,
  parameterNameOrNull,
  parseSecret,
  pointerOrAuto,
  servicePath,
  text,
  timeZone,
  trueOrFalse,
  type ValueType,
  wholeNumber,
} from './value-types.ts';

const argumentList: ValueType<readonly string[]> = {
  parse: (typed) => {
    const list: unknown = jsonIn(typed);
    if (!Array.isArray(list) || list.length === 0 || list[0] === '') return undefined;
    // No argument of a program can hold a NUL.
    return list.every((word) => typeof word === 'string' && !word.includes('\0'))
      ? (list as string[])
      : undefined;
  },
  expected: `a JSON array of a program and its arguments, such as '["pass","show","leads"]'`,
};

/** Keys of a profile that are no settings: they are stored with one. */
export type OriginKey = 'api-key-origin' | 'headers-origin';

/** A setting of a profile. `leads config` names, checks, explains and shows the settings by these declarations. */
export interface SettingKey extends Declaration {
  readonly name: string;
  readonly path: readonly string[];
}

interface Declaration {
  readonly help: string;
  /** Gives the value as it is stored. */
  readonly type: ValueType<unknown>;
  readonly secret?: true;
  /** The key of the profile that holds the only origin to which this may be sent. */
  readonly origin?: OriginKey;
  /** The file may hold any text here, since the command that uses it says what is wrong with it. */
  readonly checkedOnUse?: true;
  /** Stored as an array or an object, which is typed as JSON. */
  readonly isJson?: true;
  /** Hides secrets that are a part of the value. */
  readonly withoutSecrets?: (value: unknown) => unknown;
  readonly variable?: string;
  readonly flag?: 'baseUrl' | 'timeout' | 'retries';
  readonly default?: string;
}

/** Stored as it was typed, so that `leads config` shows it again. */
const durationText: ValueType<string> = {
  parse: (typed) => ((parseDuration(typed) ?? 0) > 0 ? typed : undefined),
  expected: 'a duration such as 500ms, 30s or 5m',
};

/** An hour at most: service managers kill a process that takes longer to stop. */
const drainTime: ValueType<string> = {
  parse: (typed) => ((parseDuration(typed) ?? Infinity) <= 3_600_000 ? typed : undefined),
  expected: 'a duration of an hour or less, such as 500ms, 30s or 5m',
};

const baseUrlText: ValueType<string> = {
  parse: (typed) => parseBaseUrl(typed).href.replace(/\/$/, ''),
  expected: 'a URL that starts with https://',
};

const secretText = (label: string): ValueType<string> => ({
  ...text,
  parse: (typed) => parseSecret(typed, label).reveal(),
});

/** Hides the verify token of a scheme as JSON. A scheme may also be a name or a file, which are no secrets. */
function schemeWithoutSecrets(stored: unknown): unknown {
  const scheme = jsonIn(String(stored));
  if (!isObject(scheme) || scheme['verifyToken'] === undefined) return stored;
  const { verifyToken } = scheme;
  return { ...scheme, verifyToken: typeof verifyToken === 'string' ? new Secret(verifyToken) : '…' };
}

const generalSettings: Readonly<Record<string, Declaration>> = {
  'base-url': {
    type: baseUrlText,
    checkedOnUse: true,
    variable: 'LEADS_BASE_URL',
    flag: 'baseUrl',
    withoutSecrets: (url) => withoutPassword(String(url)),
    help: 'address of the service',
  },
  'api-key': {
    type: secretText('API key'),
    checkedOnUse: true,
    secret: true,
    origin: 'api-key-origin',
    variable: 'LEADS_API_KEY',
    help: 'key for that address',
  },
  'api-key-command': {
    type: argumentList,
    isJson: true,
    origin: 'api-key-origin',
    help: 'in place of api-key: a program that prints it, as a JSON array of its words; no shell',
  },
  timeout: {
    type: durationText,
    flag: 'timeout',
    default: '30s',
    help: 'to connect, to an answer, and between two parts of it',
  },
  retries: {
    type: wholeNumber(0, 999_999_999),
    flag: 'retries',
    default: '5',
    help: 'how often a failed request is tried again',
  },
  zone: {
    type: timeZone,
    help: 'time zone in which times are read and shown, such as Europe/Madrid (default: UTC)',
  },
  'webhook.scheme': {
    type: text,
    checkedOnUse: true,
    withoutSecrets: schemeWithoutSecrets,
    help: "how deliveries are authenticated: a name of 'leads help schemes', JSON, or a file that holds it",
  },
  'webhook.token': {
    type: secretText('token'),
    checkedOnUse: true,
    secret: true,
    variable: 'LEADS_WEBHOOK_TOKEN',
    help: 'shared token of deliveries',
  },
  'webhook.secret': {
    type: secretText('secret'),
    checkedOnUse: true,
    secret: true,
    variable: 'LEADS_WEBHOOK_SECRET',
    help: 'secret that deliveries are signed with',
  },
  'webhook.lead': {
    type: pointerOrAuto('/data', 'the body itself'),
    help: 'JSON Pointer to the lead in the body of a delivery, or auto; * steps through an array, an empty text is the body',
  },
  'webhook.id': {
    type: fieldName,
    help: 'field of a delivered lead that identifies it, also inside an object: contact.id (default: as api.id)',
  },
  'listen.drain-delay': {
    type: drainTime,
    default: '0s',
    help: 'after Ctrl-C or SIGTERM, listen goes on so long while /readyz says 503',
  },
  'webhook.other-events': {
    type: oneOf(['accept', 'reject']),
    help: 'genuine deliveries without a lead or a person: accept keeps the last 1,000 as other and answers 200 (default: reject)',
  },
};

const parameterHelp: Readonly<Record<ParameterName, string>> = {
  limit: 'of the page size',
  status: 'of the status filter',
  category: 'of the category filter',
  since: 'of the earliest creation time',
  until: 'of the time that creation is before',
  cursor: 'of an opaque position; one that is an object goes there as JSON',
  page: 'of the page number',
  offset: 'of the number of leads to skip',
  before: 'of the id or the time of a lead, for those that come after it in the list',
};

const dialectSettings: Readonly<Record<string, Declaration>> = {
  'api.path': {
    type: servicePath,
    help: 'of the list operation; may hold a query of its own (default: /api/leads)',
  },
  ...Object.fromEntries(
    Object.entries(parameterHelp).map(([name, help]) => [
      `api.params.${name}`,
      { type: parameterNameOrNull, help: `query parameter ${help}; null: not sent` },
    ]),
  ),
  'api.pagination': {
    type: oneOf(paginationStyles),
    help: `how pages follow each other: ${paginationStyles.join(', ')} (default: auto)`,
  },
  'api.items': {
    type: pointerOrAuto('/data/leads', 'the answer itself'),
    help: 'JSON Pointer to the array of leads, or auto',
  },
  'api.item': {
    type: pointerOrAuto('/node', 'the element itself'),
    help: 'JSON Pointer to the lead inside each element of the array, or auto; an empty text: the element itself',
  },
  'api.id': { type: fieldName, help: 'field of a lead that identifies it (default: id)' },
  'api.next': {
    type: pointerOrAuto('/meta/next', 'nothing names it'),
    help: 'JSON Pointer to what names the next page, or auto; an empty text: nothing names it',
  },
  'api.status-field': { type: memberNameOrAuto, help: 'field of a lead that holds its status, or auto' },
  'api.headers': {
    type: headersType,
    isJson: true,
    origin: 'headers-origin',
    withoutSecrets: (stored) => withHiddenSecrets(stored as ExtraHeaders),
    help: `extra headers of every request to the service, as JSON: '{"x-api-version":"2"}'`,
  },
  'api.page-size': { type: wholeNumber(1, 999_999_999), help: 'leads in one request' },
  'api.next-seen': {
    type: trueOrFalse,
    help: 'true: the service names the next page wherever there is one, so that a missing one is the end',
  },
  'api.total': {
    type: oneOf(totalMeanings),
    help: "of the service's count of leads: auto, or estimate where it counts more than it lists",
  },
  'api.date-format': {
    type: oneOf(dateFormats),
    help: `of the times that are sent: ${dateFormats.join(', ')}`,
  },
};

export const settingKeys: readonly SettingKey[] = Object.entries({
  ...generalSettings,
  ...dialectSettings,
}).map(([name, declared]) => ({ ...declared, name, path: name.split('.') }));
