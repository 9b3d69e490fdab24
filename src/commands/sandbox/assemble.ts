import { readFile } from 'node:fs/promises';
import type { Context } from '../../context.ts';
import { DataError, UsageError } from '../../errors.ts';
import { ensureAuthority } from '../../tls/authority.ts';
import { isLoopback } from '../../config/base-url.ts';
import { defaultApi } from '../../sandbox/api/api-options.ts';
import type { SandboxOptions, WebhookOptions } from '../../sandbox/sandbox-options.ts';
import { unverified } from '../../webhook/schemes/unverified.ts';
import { resolveScheme } from '../flags/resolve-scheme.ts';
import { readSecrets } from '../flags/secret-files.ts';
import type { Options } from './options.ts';

/** What the flags say as what the sandbox is to be. */
export async function assemble(options: Options, context: Context): Promise<SandboxOptions> {
  refuseDeadEnds(options);
  refuseSeeding(options);
  const { pagination, next, nextField, envelope, order, statusField, totals, gzip, path, host, port } =
    options;
  return {
    ...given({ pagination, next, nextField, envelope, order, statusField, path, host }),
    ...given({
      defaultLimit: options.defaultLimit,
      maxLimit: options.maxLimit,
      rateLimit: options.rateLimit,
    }),
    ...given({ seed: options.seed, leads: options.leads, everyMs: options.every }),
    ...given({ faults: options.faults, deliveryFaults: options.deliveryFaults }),
    newest: options.newest?.(context.clock.now()),
    records: options.from === undefined ? undefined : await readRecords(options.from, context),
    apiKeys: await apiKeys(options, context),
    params: Object.fromEntries(options.param),
    totals,
    gzip,
    port,
    tls: options.tls ? await ensureAuthority(context.paths.dataDir, context.clock) : undefined,
    webhook: options.webhook.length > 0 ? await webhook(options, context) : undefined,
  };
}

/** Flag > environment > the default that everybody may know. */
async function apiKeys(options: Options, context: Context): Promise<readonly string[]> {
  const files = await readSecrets(options.apiKeyFile, context);
  const keys = [...options.apiKey, ...files.map((key) => key.reveal())];
  const unusable = keys.findIndex((key) => !/^[\x21-\x7e]+$/.test(key));
  if (unusable !== -1) throw new UsageError('an API key is one word of visible characters');
  if (keys.length > 0) return keys;
  const fromEnv = context.env['LEADS_API_KEY'] ?? '';
  return fromEnv === '' ? defaultApi.apiKeys : [fromEnv];
}

/** Whether the key may be shown: one from a file or the environment stays there. */
export const showsKey = (options: Options, env: Context['env']): boolean =>
  options.apiKey.length > 0 || (options.apiKeyFile.length === 0 && (env['LEADS_API_KEY'] ?? '') === '');

async function webhook(options: Options, context: Context): Promise<WebhookOptions> {
  for (const target of options.webhook) {
    const { protocol, hostname } = new URL(target);
    if (protocol === 'http:' && !isLoopback(hostname)) {
      throw new UsageError(`--webhook: ${target} is plain HTTP, and a webhook must be HTTPS`, {
        hint: 'plain http:// is for loopback addresses only',
      });
    }
  }
  const { scheme, keys } = await resolveScheme(options, await context.settings(), context);
  return {
    targets: options.webhook,
    signer: { scheme: keys.length > 0 ? scheme : unverified, key: keys[0] },
    retryMs: options.retry,
    timeoutMs: options.deliveryTimeout,
    concurrency: options.deliveryConcurrency,
    paused: options.paused,
  };
}

/** Combinations that no client could follow are slips, not services. */
function refuseDeadEnds({
  envelope,
  pagination,
  next,
  webhook,
  deliveryFaults,
  retry,
  paused,
}: Options): void {
  const inBody = next !== undefined ? next !== 'none' : (pagination ?? 'cursor') === 'cursor';
  if (envelope === 'none' && inBody) {
    throw new UsageError('a bare array has no place for the way on', {
      hint: 'with --envelope none use --pagination link, page, offset or none',
    });
  }
  const pages = pagination ?? 'cursor';
  const fitting = { cursor: ['cursor'], id: ['cursor'], number: ['page', 'offset'] } as const;
  const fits: readonly string[] =
    next === 'cursor' || next === 'id' || next === 'number' ? fitting[next] : [pages];
  if (!fits.includes(pages)) {
    throw new UsageError(`--next ${next ?? ''} goes with --pagination ${fits.join(' or ')}`);
  }
  const needsWebhook = {
    '--delivery-faults': deliveryFaults,
    '--retry': retry,
    '--paused': paused || undefined,
  };
  const stray = Object.entries(needsWebhook).find(([, value]) => value !== undefined)?.[0];
  if (webhook.length === 0 && stray !== undefined) {
    throw new UsageError(`${stray} needs --webhook URL`);
  }
}

/** `--from` is there instead of seeded leads: how those were to be is not passed over in silence. */
function refuseSeeding({ from, leads, newest }: Options): void {
  const stray = leads !== undefined ? '--leads' : newest !== undefined ? '--newest' : undefined;
  if (from === undefined || stray === undefined) return;
  throw new UsageError(`--from and ${stray} do not go together`, {
    hint: `${stray} is for seeded leads; those of a file are taken as they are`,
  });
}

/** One record a line, each in its own bytes; that they are leads is checked when the sandbox takes them. */
async function readRecords(file: string, context: Context): Promise<Uint8Array[]> {
  const bytes = file === '-' ? await readStdin(context) : await readNamed(file);
  const records: Uint8Array[] = [];
  for (let start = 0; start < bytes.length;) {
    const found = bytes.indexOf(0x0a, start);
    const end = found === -1 ? bytes.length : found;
    const line = bytes.subarray(start, end);
    if (line.toString('latin1').trim() !== '') records.push(line);
    start = end + 1;
  }
  return records;
}

async function readNamed(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new DataError(`cannot read the leads in ${file}: ${code ?? String(cause)}`, { cause });
  }
}

async function readStdin({ stdin }: Context): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk as Uint8Array));
  return Buffer.concat(chunks);
}

/** Without the flags that were not given, so that the sandbox's own defaults hold. */
function given<T extends object>(options: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
