import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { isLoopback } from '../../config/base-url.ts';
import type { Context } from '../../context.ts';
import { DataError, UsageError } from '../../errors.ts';
import { defaultApi, type SandboxOptions, type WebhookOptions } from '../../sandbox/sandbox-options.ts';
import { ensureAuthority } from '../../tls/local-authority.ts';
import { rejectFirst } from '../flags/shared-flags.ts';
import { resolveSigner } from '../flags/resolve-scheme.ts';
import { readSecrets } from '../flags/secret-files.ts';
import type { Options } from './options.ts';

/** The flags as settings of a sandbox. Throws a `UsageError` for flags that do not go together. */
export async function sandboxOptionsFromFlags(options: Options, context: Context): Promise<SandboxOptions> {
  rejectContradictions(options);
  const { pagination, next, nextField, envelope, order, statusField, totals, gzip, path, host, port } =
    options;
  const { defaultLimit, maxLimit, rateLimit, seed, leads, faults, deliveryFaults } = options;
  return {
    ...{ pagination, next, nextField, envelope, order, statusField, totals, gzip, path, host, port },
    ...{ defaultLimit, maxLimit, rateLimit, seed, leads, faults, deliveryFaults },
    everyMs: options.every,
    newest: options.newest?.(context.clock.now()),
    records: options.from === undefined ? undefined : await readRecords(options.from, context),
    apiKeys: await readApiKeys(options, context),
    params: Object.fromEntries(options.param),
    tls: options.tls ? await ensureAuthority(context.paths.dataDir, context.clock) : undefined,
    webhook: options.webhook.length > 0 ? await webhookOptions(options, context) : undefined,
  };
}

async function webhookOptions(options: Options, context: Context): Promise<WebhookOptions> {
  for (const target of options.webhook) {
    const { protocol, hostname } = new URL(target);
    if (protocol === 'http:' && !isLoopback(hostname)) {
      throw new UsageError(`--webhook: ${target} is plain HTTP, and a webhook must be HTTPS`, {
        hint: 'plain http:// is for loopback addresses only',
      });
    }
  }
  return {
    targets: options.webhook,
    signer: await resolveSigner(options, context),
    retryMs: options.retry,
    timeoutMs: options.deliveryTimeout,
    concurrency: options.deliveryConcurrency,
    paused: options.paused,
  };
}

const paginationsOfNext: Readonly<Partial<Record<string, readonly string[]>>> = {
  cursor: ['cursor'],
  id: ['cursor'],
  number: ['page', 'offset'],
};

/** Throws a `UsageError` for flags that contradict each other, or that would make a list no client can follow. */
function rejectContradictions(options: Options): void {
  const { envelope, pagination = 'cursor', next = pagination === 'cursor' ? 'cursor' : 'none' } = options;
  const { webhook, deliveryFaults, retry, paused, from, leads, newest } = options;
  const fitting = options.next === undefined ? undefined : paginationsOfNext[options.next];
  const needWebhook =
    deliveryFaults !== undefined
      ? '--delivery-faults'
      : retry !== undefined
        ? '--retry'
        : paused
          ? '--paused'
          : undefined;
  const seeded = leads !== undefined ? '--leads' : newest !== undefined ? '--newest' : undefined;
  rejectFirst(
    [
      envelope === 'none' && next !== 'none',
      'with --envelope none the body is an array, without a field for the next page',
      'use --pagination link, page, offset or none with it',
    ],
    [
      fitting !== undefined && !fitting.includes(pagination),
      `--next ${next} goes with --pagination ${fitting?.join(' or ') ?? ''}`,
    ],
    [webhook.length === 0 && needWebhook !== undefined, `${needWebhook ?? ''} needs --webhook URL`],
    [
      from !== undefined && seeded !== undefined,
      `--from and ${seeded ?? ''} do not go together`,
      `${seeded ?? ''} is for seeded leads; those of a file are served as they are`,
    ],
  );
}

/** Flag > environment > the default, which is no secret. */
async function readApiKeys(options: Options, context: Context): Promise<readonly string[]> {
  const fromFiles = await readSecrets(options.apiKeyFile, context);
  const keys = [...options.apiKey, ...fromFiles.map((key) => key.reveal())];
  if (keys.some((key) => !/^[\x21-\x7e]+$/.test(key))) {
    throw new UsageError('an API key is one word of visible characters');
  }
  if (keys.length > 0) return keys;
  const fromEnv = context.env['LEADS_API_KEY'] ?? '';
  return fromEnv === '' ? defaultApi.apiKeys : [fromEnv];
}

/** Whether the key may be shown: one from a file or from the environment is kept secret. */
export const mayShowKey = (options: Options, env: Context['env']): boolean =>
  options.apiKey.length > 0 || (options.apiKeyFile.length === 0 && (env['LEADS_API_KEY'] ?? '') === '');

/**
 * The lines of an NDJSON file (`-`: of stdin) that are not blank, each in its own bytes; whether they are leads is
 * checked when the sandbox takes them. Throws a `DataError` for a file that cannot be read.
 */
async function readRecords(file: string, context: Context): Promise<Uint8Array[]> {
  const bytes = file === '-' ? await buffer(context.stdin) : await readNamed(file);
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

async function readNamed(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new DataError(`cannot read the leads in ${file}: ${code ?? String(cause)}`, { cause });
  }
}
