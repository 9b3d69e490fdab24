import type { Readable } from 'node:stream';
import * as z from 'zod/mini';
import { readInput } from '../../files/read.ts';
import { interval, oneOf, text, type ValueType, wholeNumber } from '../../config/value-types.ts';
import { ConfigError, UsageError } from '../../errors.ts';
import { readDocument } from '../../json/scanner.ts';
import { spanAt } from '../../json/members.ts';
import { apiFaults, deliveryFaults, parseShare } from '../../sandbox/faults.ts';
import { defaultApi, nextForms, type ParameterNames, paginations } from '../../sandbox/sandbox-options.ts';
import { pointInTime, requestRate, retrySchedule } from '../flags/flag-values.ts';
import { didYouMean } from '../../messages/suggest.ts';
import { webhookUrl } from './options.ts';

/** A text that means what it means as the value of a flag. */
const typed = <T>(type: ValueType<T>) =>
  z.pipe(
    z.string(type.expected),
    z.transform((value: string, { issues }): T => {
      const read = type.parse(value);
      if (read === undefined) issues.push({ code: 'custom', message: type.expected, input: value });
      return read as T;
    }),
  );

const number = (least: number, most?: number) => {
  const { parse, expected } = wholeNumber(least, most);
  return z.int(expected).check(z.refine((value) => parse(String(value)) !== undefined, expected));
};

const yesOrNo = z.boolean('true or false');
const anObject = 'an object';
const texts = z.array(typed(text), 'a list of texts');

/** An object with a member of the same kind for each of these names, or for some of them. */
const byName = <N extends string, T extends z.ZodMiniType>(names: readonly N[], member: T) =>
  z.partial(
    z.strictObject(Object.fromEntries(names.map((name) => [name, member])) as Record<N, T>, anObject),
  );

const share = typed({ parse: parseShare, expected: 'a share such as 5%, or 5%:200ms' });

const delivery = {
  scheme: z.union([z.string(), z.record(z.string(), z.unknown())], 'the name of a scheme, or an object'),
  secrets: texts,
  secretFile: typed(text),
  retry: typed(retrySchedule),
  paused: yesOrNo,
  deliveryTimeout: typed(interval),
  deliveryConcurrency: number(1, 1000),
  deliveryFaults: byName(deliveryFaults, share),
};

const webhook = z.strictObject(
  { url: typed(webhookUrl), ...z.partial(z.strictObject(delivery)).shape },
  anObject,
);

const apiPath: ValueType<string> = {
  ...text,
  parse: (path) => (/^\/[^?#\s]*$/.test(path) ? path : undefined),
  expected: 'a path that starts with /',
};

const ofAccount = {
  apiKeys: texts,
  apiKeyFile: typed(text),
  leads: number(0, 10_000_000),
  seed: typed(text),
  newest: typed(pointInTime),
  from: typed(text),
  every: typed(interval),
  faults: byName(apiFaults, share),
  ...delivery,
  webhooks: z.array(webhook, 'a list of objects'),
};

const account = z.partial(z.strictObject({ name: typed(text), ...ofAccount }, anObject));

const parameterNames = Object.keys(defaultApi.params) as (keyof ParameterNames)[];

const pages = {
  path: typed(apiPath),
  pagination: typed(oneOf(paginations)),
  next: typed(oneOf(nextForms)),
  nextField: typed(text),
  envelope: typed(text),
  params: byName(parameterNames, z.nullable(typed(text))),
  order: typed(oneOf(['newest', 'oldest'])),
  defaultLimit: number(1),
  maxLimit: number(1),
  statusField: typed(text),
  totals: yesOrNo,
  gzip: yesOrNo,
};

const top = {
  ...ofAccount,
  accounts: z.array(account, 'a list of objects').check(z.minLength(1, 'a list of at least one')),
  pages: z.partial(z.strictObject(pages, anObject)),
  rateLimit: typed(requestRate),
  host: typed(text),
  port: number(0, 65_535),
  tls: yesOrNo,
};

const schema = z.partial(z.strictObject(top, anObject));

/** Keys by the name of what holds them. */
const known: Readonly<Record<string, readonly string[]>> = {
  '': Object.keys(top),
  accounts: Object.keys(account.shape),
  webhooks: Object.keys(webhook.shape),
  pages: Object.keys(pages),
  params: parameterNames,
  faults: apiFaults,
  deliveryFaults,
};

/** What an account says, or for all accounts what is beside them. */
export type AccountConfig = z.output<typeof account>;

export type SandboxConfig = z.output<typeof schema>;

/**
 * Reads a file, `-` (stdin), or JSON as it is typed. Throws a `ConfigError` for a file that cannot be read, and a
 * `UsageError` for what is no such configuration.
 */
export async function readSandboxConfig(source: string, stdin: Readable): Promise<SandboxConfig> {
  const isJson = source.trimStart().startsWith('{');
  const where = isJson || source === '-' ? '--config' : source;
  const failed = (why: string, cause: unknown): Error =>
    new ConfigError(`--config: cannot read ${source}: ${why}`, { cause });
  const bytes = isJson ? Buffer.from(source) : await readInput(source, stdin, failed);
  const document = readDocument(bytes);
  if (!document.ok) {
    const detail = document.detail.replace(/^the body/, 'it').replace(/at byte (\d+)$/, (_, at: string) => {
      return `in line ${lineAt(bytes, Number(at))}`;
    });
    throw new UsageError(`${where}: ${detail}`);
  }
  const { data, error } = z.safeParse(schema, JSON.parse(document.json.toString('utf8', document.start)));
  if (data !== undefined) return data;
  const [issue] = error.issues;
  const [unknown] = issue?.code === 'unrecognized_keys' ? issue.keys : [];
  const path = [...(issue?.path ?? []).map(String), ...(unknown === undefined ? [] : [unknown])];
  const span = spanAt(document.json, path, document) ?? spanAt(document.json, path.slice(0, -1), document);
  const line = lineAt(bytes, span?.start ?? 0);
  const name = path.join('.').replace(/\.(\d+)(?=\.|$)/g, '[$1]');
  if (unknown === undefined)
    throw new UsageError(`${where}: line ${line}: ${name} is not ${issue?.message ?? ''}`);
  const keys = known[path.slice(0, -1).findLast((step) => !/^\d+$/.test(step)) ?? ''] ?? [];
  throw new UsageError(`${where}: line ${line}: there is no key ${name}`, {
    hint: didYouMean(unknown, keys) ?? `there is ${keys.join(', ')}`,
  });
}

const lineAt = (bytes: Uint8Array, at: number): number =>
  bytes.subarray(0, at).reduce((lines, byte) => (byte === 0x0a ? lines + 1 : lines), 1);
