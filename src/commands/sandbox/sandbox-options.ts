import { readInput, unreadable } from '../../files/read.ts';
import { isLoopback } from '../../config/base-url.ts';
import type { Context } from '../../context.ts';
import { ConfigError, DataError, UsageError } from '../../errors.ts';
import {
  type AccountOptions,
  defaultApi,
  defaultApiKey,
  nextForms,
  paginations,
  type ParameterNames,
  type SandboxOptions,
  withoutUndefined,
} from '../../sandbox/sandbox-options.ts';
import { Secret } from '../../secret.ts';
import type { Signer } from '../../sender/sign-request.ts';
import { ensureAuthority } from '../../tls/local-authority.ts';
import { rejectFirst } from '../flags/shared-flags.ts';
import { resolveSigner } from '../flags/resolve-scheme.ts';
import { type Options, webhookUrl } from './options.ts';
import type { Readable } from 'node:stream';
import * as z from 'zod/mini';
import { interval, oneOf, text, type ValueType, wholeNumber } from '../../config/value-types.ts';
import { documentDetail } from '../../lead/read-leads.ts';
import { readDocument } from '../../json/scanner.ts';
import { spanAt } from '../../json/members.ts';
import { apiFaults, deliveryFaults, parseShare } from '../../sandbox/faults.ts';
import { pointInTime, requestRate, retrySchedule, readSecrets } from '../flags/flag-values.ts';
import { didYouMean } from '../../messages/suggest.ts';

/** One account, with what is shown of it. */
export interface Account extends AccountOptions {
  readonly name: string;
  readonly seed: string;
  readonly apiKeys: readonly string[];
  /** The file that its leads, or its API key, come from. */
  readonly from: string | undefined;
  readonly apiKeyFile: string | undefined;
  /** False for an API key from a file or from the environment, which is kept secret. */
  readonly showsKey: boolean;
  readonly webhooks: NonNullable<AccountOptions['webhooks']>;
}

/**
 * What the flags say, and then the file; what an account or a webhook does not say, the one around it says. Throws a
 * `UsageError` for what does not go together.
 */
export async function resolveSandbox(
  flags: Options,
  context: Context,
): Promise<{ readonly options: SandboxOptions; readonly accounts: readonly [Account, ...Account[]] }> {
  const config = flags.config === undefined ? {} : await readSandboxConfig(flags.config, context.stdin);
  const { accounts: [own = {}, ...others] = [], pages, rateLimit, ...ofFile } = config;
  const { host = config.host, port = config.port ?? 8080, pagination, envelope } = flags;
  const api = { ...pages, ...withoutUndefined({ pagination, envelope }) };
  const top: AccountConfig = { ...ofFile, ...ofFlags(flags) };
  rejectContradictions(api, [top, own, ...others], flags);
  const resolve = (account: AccountConfig, i: number): Promise<Account> =>
    resolveAccount({ ...account, name: account.name ?? String(i + 1) }, top, i, flags, context);
  const first = await resolve(own, 0);
  const otherAccounts = await Promise.all(others.map((account, i) => resolve(account, i + 1)));
  const accounts = [first, ...otherAccounts] as const;
  rejectRepeated('name', accounts.map(({ name }) => name)); // prettier-ignore
  rejectRepeated('API key', accounts.flatMap(({ apiKeys }) => apiKeys)); // prettier-ignore
  const tls = flags.tls || config.tls === true;
  return {
    options: {
      ...{ ...api, ...first, rateLimit, host, port, otherAccounts },
      tls: tls ? await ensureAuthority(context.paths.dataDir, context.clock) : undefined,
    },
    accounts,
  };
}

/** The flags as the keys of the file that say the same. */
function ofFlags(flags: Options): AccountConfig {
  const { leads, seed, newest, from, every, retry, faults, deliveryFaults, webhook, apiKey } = flags;
  const hasScheme = [flags.scheme, ...flags.token, ...flags.tokenFile, ...flags.secret, ...flags.secretFile];
  return {
    ...withoutUndefined({ leads, seed, newest, from, every, retry, faults, deliveryFaults }),
    ...(flags.paused && { paused: true }),
    ...(webhook.length > 0 && { webhooks: webhook.map((url) => ({ url })) }),
    ...(apiKey.length + flags.apiKeyFile.length > 0 && { apiKeys: undefined, apiKeyFile: undefined }),
    ...((!flags.verify || hasScheme.some((one) => one !== undefined)) && {
      ...{ scheme: undefined, secrets: undefined, secretFile: undefined },
    }),
  };
}

async function resolveAccount(
  own: AccountConfig & { readonly name: string },
  top: AccountConfig,
  index: number,
  flags: Options,
  context: Context,
): Promise<Account> {
  const account = { ...top, ...(own.leads !== undefined && { from: undefined }), ...withoutUndefined(own) };
  const { name } = own;
  const { leads, newest, from, every, faults } = account;
  const seed = own.seed ?? (index === 0 ? (top.seed ?? '1') : `${top.seed ?? '1'} ${name}`);
  const webhooks = (account.webhooks ?? []).map(async (webhook) => {
    const { url, ...all } = { ...account, ...withoutUndefined(webhook), url: webhook.url };
    const { protocol, hostname } = new URL(url);
    if (protocol === 'http:' && !isLoopback(hostname)) {
      throw new UsageError(`the webhook ${url} is plain HTTP, and a webhook must be HTTPS`, {
        hint: 'plain http:// is for loopback addresses only',
      });
    }
    return {
      ...{ url, retryMs: all.retry, paused: all.paused, faults: all.deliveryFaults },
      ...{ timeoutMs: all.deliveryTimeout, concurrency: all.deliveryConcurrency },
      signer: await signerOf(all, flags, context),
    };
  });
  return {
    ...{ name, seed, leads, from, faults, everyMs: every, newest: newest?.at(context.clock.now()) },
    records: from === undefined ? undefined : await readRecords(from, context),
    ...(await readApiKeys(account, flags, context)),
    webhooks: await Promise.all(webhooks),
  };
}

/** As the webhook says, and otherwise as the flags, the environment or the profile do. */
function signerOf(
  { scheme, secrets = [], secretFile }: AccountConfig,
  flags: Options,
  context: Context,
): Promise<Signer> {
  if (scheme === undefined && secrets.length === 0 && secretFile === undefined) {
    return resolveSigner(flags, context);
  }
  const name = typeof scheme === 'object' ? scheme['scheme'] : (scheme ?? 'token');
  const what = name === 'token' ? 'token' : 'secret';
  return resolveSigner(
    {
      ...{ token: [], tokenFile: [], secret: [], secretFile: [], verify: name !== 'none' },
      scheme: name === 'none' ? undefined : typeof scheme === 'object' ? JSON.stringify(scheme) : scheme,
      [what]: secrets.map((secret) => new Secret(secret)),
      [`${what}File`]: secretFile === undefined ? [] : [secretFile],
    },
    context,
  );
}

const paginationsOfNext: Readonly<Partial<Record<string, readonly string[]>>> = {
  cursor: ['cursor'],
  id: ['cursor'],
  number: ['page', 'offset'],
};

/** Throws a `UsageError` for what contradicts itself, or would make a list no client can follow. */
function rejectContradictions(
  pages: NonNullable<SandboxConfig['pages']>,
  accounts: readonly AccountConfig[],
  { config, deliveryFaults, retry, paused, apiKeyFile, tokenFile, secretFile }: Options,
): void {
  const { envelope, pagination = 'cursor', next = pagination === 'cursor' ? 'cursor' : 'none' } = pages;
  const fitting = pages.next === undefined ? undefined : paginationsOfNext[pages.next];
  const ofWebhooks = {
    '--delivery-faults': deliveryFaults,
    '--retry': retry,
    '--paused': paused || undefined,
  };
  const [needWebhook] = Object.keys(withoutUndefined(ofWebhooks));
  const webhooks = accounts.flatMap((account) => account.webhooks ?? []);
  const ofFile = [...accounts, ...webhooks].flatMap((one) => Object.values(one));
  const files = [config, ...apiKeyFile, ...tokenFile, ...secretFile, ...ofFile];
  rejectFirst(
    [
      envelope === 'none' && next !== 'none',
      'with the envelope none the body is an array, without a field for the next page',
      'use the pagination link, page, offset or none with it',
    ],
    [
      fitting !== undefined && !fitting.includes(pagination),
      `next ${next} goes with the pagination ${fitting?.join(' or ') ?? ''}`,
    ],
    [webhooks.length === 0 && needWebhook !== undefined, `${needWebhook ?? ''} needs --webhook URL`],
    [
      accounts.some(({ from, leads, newest }) => from !== undefined && (leads ?? newest) !== undefined),
      'leads of a file do not go with a number of leads, or with the time of the newest',
      'those of a file are served as they are',
    ],
    [files.filter((file) => file === '-').length > 1, 'stdin (-) can give one thing only'],
  );
}

function rejectRepeated(what: string, values: readonly string[]): void {
  const isRepeated = new Set(values).size < values.length;
  if (isRepeated) throw new UsageError(`two accounts have the same ${what}: each needs its own`);
}

/** Flag > file > environment > the default, which is no secret. */
async function readApiKeys(
  { apiKeys = [], apiKeyFile }: AccountConfig,
  flags: Options,
  context: Context,
): Promise<Pick<Account, 'apiKeys' | 'apiKeyFile' | 'showsKey'>> {
  const files = apiKeyFile === undefined ? flags.apiKeyFile : [apiKeyFile];
  const fromFiles = await readSecrets(files, context);
  const own = apiKeys.length > 0 || apiKeyFile !== undefined ? apiKeys : flags.apiKey;
  const keys = [...own, ...fromFiles.map((key) => key.reveal())];
  if (keys.some((key) => !/^[\x21-\x7e]+$/.test(key))) {
    throw new UsageError('an API key is one word of visible characters');
  }
  const fromEnv = context.env['LEADS_API_KEY'] ?? '';
  if (keys.length === 0) keys.push(fromEnv === '' ? defaultApiKey : fromEnv);
  const showsKey = own.length > 0 || (files.length === 0 && fromEnv === '');
  return { apiKeys: keys, apiKeyFile: files[0], showsKey };
}

/**
 * The lines of an NDJSON file (`-`: of stdin) that are not blank, each in its own bytes; whether they are leads is
 * checked when the sandbox takes them. Throws a `DataError` for a file that cannot be read.
 */
async function readRecords(file: string, context: Context): Promise<Uint8Array[]> {
  const bytes = await readInput(file, context.stdin, (cause) => {
    return new DataError(unreadable(`the leads in ${file}`, cause), { cause });
  });
  const records: Uint8Array[] = [];
  for (let start = 0; start < bytes.length;) {
    const newline = bytes.indexOf(0x0a, start);
    const end = newline === -1 ? bytes.length : newline;
    const line = bytes.subarray(start, end);
    if (line.toString('latin1').trim() !== '') records.push(line);
    start = end + 1;
  }
  return records;
}

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
type AccountConfig = z.output<typeof account>;

type SandboxConfig = z.output<typeof schema>;

/**
 * Reads a file, `-` (stdin), or JSON as it is typed. Throws a `ConfigError` for a file that cannot be read, and a
 * `UsageError` for what is no such configuration.
 */
async function readSandboxConfig(source: string, stdin: Readable): Promise<SandboxConfig> {
  const isJson = source.trimStart().startsWith('{');
  const where = isJson || source === '-' ? '--config' : source;
  const failed = (cause: unknown): Error => new ConfigError(unreadable(source, cause, 'config'), { cause });
  const bytes = isJson ? Buffer.from(source) : await readInput(source, stdin, failed);
  const document = readDocument(bytes);
  if (!document.ok) {
    const detail = documentDetail(document.fault, 'it', (offset) => `in line ${lineAt(bytes, offset)}`);
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
