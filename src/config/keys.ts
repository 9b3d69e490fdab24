import * as z from 'zod/mini';
import { UsageError } from '../errors.ts';
import { parseDuration } from '../time/duration.ts';
import { parseBaseUrl } from './load.ts';
import { parseSecret } from './secret-input.ts';
import { type Profile, profileSchema, recipeKeys } from './schema.ts';

/** A setting of a profile as `leads config` names it. */
export interface SettingKey {
  readonly name: string;
  /** Where it stands in the profile. */
  readonly path: readonly string[];
  readonly secret?: boolean;
  /** The stored value for a text, or a `UsageError`. */
  parse(text: string): unknown;
}

const plain = (text: string): string => text;
const secretText = (what: string) => (text: string) => parseSecret(text, what).reveal();

const parameters = ['limit', 'status', 'category', 'since', 'until', 'cursor', 'page', 'offset'];

export const settingKeys: readonly SettingKey[] = [
  { name: 'base-url', path: ['baseUrl'], parse: (text) => parseBaseUrl(text).href.replace(/\/$/, '') },
  { name: 'api-key', path: ['apiKey'], secret: true, parse: secretText('API key') },
  { name: 'timeout', path: ['timeout'], parse: duration },
  { name: 'retries', path: ['retries'], parse: whole },
  { name: 'webhook.scheme', path: ['webhook', 'scheme'], parse: plain },
  { name: 'webhook.token', path: ['webhook', 'token'], secret: true, parse: secretText('token') },
  { name: 'webhook.secret', path: ['webhook', 'secret'], secret: true, parse: secretText('secret') },
  { name: 'webhook.tolerance', path: ['webhook', 'tolerance'], parse: duration },
  ...recipeKeys.map((name) => ({
    name: `webhook.custom.${name}`,
    path: ['webhook', 'custom', name],
    parse: plain,
  })),
  { name: 'api.path', path: ['api', 'path'], parse: plain },
  ...parameters.map((name) => ({
    name: `api.params.${name}`,
    path: ['api', 'params', name],
    parse: (text: string) => (text === 'null' ? null : text),
  })),
  { name: 'api.pagination', path: ['api', 'pagination'], parse: plain },
  { name: 'api.items', path: ['api', 'items'], parse: plain },
  { name: 'api.next', path: ['api', 'next'], parse: plain },
  { name: 'api.statusField', path: ['api', 'statusField'], parse: plain },
  { name: 'api.pageSize', path: ['api', 'pageSize'], parse: whole },
  { name: 'api.dateFormat', path: ['api', 'dateFormat'], parse: plain },
];

/** The key of that name, or a `UsageError` that lists them. */
export function settingKey(name: string): SettingKey {
  const key = settingKeys.find((one) => one.name === name);
  if (key !== undefined) return key;
  throw new UsageError(`there is no setting '${name}'`, {
    hint: `settings: ${settingKeys.map((one) => one.name).join(', ')}`,
  });
}

export function valueAt(profile: Profile, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (at, step) => (typeof at === 'object' && at !== null ? (at as Record<string, unknown>)[step] : undefined),
    profile,
  );
}

/** The profile with one value set, or removed when it is undefined; objects left empty go too. */
export function withValue(profile: Profile, path: readonly string[], value: unknown): Profile {
  const checked = z.safeParse(profileSchema, place({ ...profile }, path, value));
  if (checked.success) return checked.data;
  const allowed = checked.error.issues.flatMap((issue) =>
    issue.code === 'invalid_value' ? issue.values.map(String) : [],
  );
  throw new UsageError(`'${String(value)}' is not a value for ${path.join('.')}`, {
    hint: allowed.length > 0 ? `one of ${allowed.join(', ')}` : undefined,
  });
}

type Tree = Readonly<Record<string, unknown>>;

function place(object: Tree, path: readonly string[], value: unknown): Tree {
  const [step = '', ...rest] = path;
  const { [step]: current, ...others } = object;
  if (rest.length === 0) return value === undefined ? others : { ...others, [step]: value };
  const inner = place((current ?? {}) as Tree, rest, value);
  return Object.keys(inner).length === 0 ? others : { ...others, [step]: inner };
}

function whole(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new UsageError(`'${text}' is not a whole number`);
}

function duration(text: string): string {
  if ((parseDuration(text) ?? 0) > 0) return text;
  throw new UsageError(`'${text}' is not a duration such as 500ms, 30s or 5m`);
}
