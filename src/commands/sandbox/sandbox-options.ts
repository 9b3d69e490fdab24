import { readInput, unreadable } from '../../files/read.ts';
import { isLoopback } from '../../config/base-url.ts';
import type { Context } from '../../context.ts';
import { DataError, UsageError } from '../../errors.ts';
import { defaultApiKey, type SandboxOptions, type WebhookOptions } from '../../sandbox/sandbox-options.ts';
import { ensureAuthority } from '../../tls/local-authority.ts';
import { readSecrets } from '../flags/flag-values.ts';
import { rejectFirst } from '../flags/shared-flags.ts';
import { resolveSigner } from '../flags/resolve-scheme.ts';
import type { Options } from './options.ts';

/** What the sandbox runs with. */
export interface ResolvedSandbox extends SandboxOptions {
  readonly seed: string;
  readonly apiKeys: readonly string[];
  /** False for an API key from a file or from the environment, which is kept secret. */
  readonly showsKey: boolean;
  readonly webhooks: readonly WebhookOptions[];
}

/** Throws a `UsageError` for flags that do not go together. */
export async function resolveSandbox(flags: Options, context: Context): Promise<ResolvedSandbox> {
  rejectContradictions(flags);
  const { host, port = 8080, pagination, envelope, leads, seed = '1', newest, from, every, faults } = flags;
  return {
    ...{ host, port, pagination, envelope, leads, seed, faults, everyMs: every },
    newest: newest?.at(context.clock.now()),
    records: from === undefined ? undefined : await readRecords(from, context),
    ...(await readApiKeys(flags, context)),
    webhooks: await resolveWebhooks(flags, context),
    tls: flags.tls ? await ensureAuthority(context.paths.dataDir, context.clock) : undefined,
  };
}

async function resolveWebhooks(flags: Options, context: Context): Promise<readonly WebhookOptions[]> {
  const { webhook: urls, retry: retryMs, paused, deliveryFaults: faults } = flags;
  const beyond = urls.find((url) => {
    const { protocol, hostname } = new URL(url);
    return protocol === 'http:' && !isLoopback(hostname);
  });
  if (beyond !== undefined) {
    throw new UsageError(`the webhook ${beyond} is plain HTTP, and a webhook must be HTTPS`, {
      hint: 'plain http:// is for loopback addresses only',
    });
  }
  if (urls.length === 0) return [];
  const signer = await resolveSigner(flags, context);
  return urls.map((url) => ({ url, signer, retryMs, paused, faults }));
}

/** Throws a `UsageError` for what contradicts itself, or would make a list no client can follow. */
function rejectContradictions(flags: Options): void {
  const { envelope, pagination = 'cursor', webhook, deliveryFaults, retry, paused } = flags;
  const { from, leads, newest, apiKeyFile, tokenFile, secretFile } = flags;
  const [needsWebhook] = Object.entries({
    '--delivery-faults': deliveryFaults !== undefined,
    '--retry': retry !== undefined,
    '--paused': paused,
  }).flatMap(([flag, isGiven]) => (isGiven ? [flag] : []));
  const files = [from, ...apiKeyFile, ...tokenFile, ...secretFile];
  rejectFirst(
    [
      envelope === 'none' && pagination === 'cursor',
      'with the envelope none the body is an array, without a field for the next page',
      'use the pagination link, page, offset or none with it',
    ],
    [webhook.length === 0 && needsWebhook !== undefined, `${needsWebhook ?? ''} needs --webhook URL`],
    [
      from !== undefined && (leads ?? newest) !== undefined,
      'leads of a file do not go with a number of leads, or with the time of the newest',
      'those of a file are served as they are',
    ],
    [files.filter((file) => file === '-').length > 1, 'stdin (-) can give one thing only'],
  );
}

/** Flag > environment > the default, which is no secret. */
async function readApiKeys(
  { apiKey, apiKeyFile }: Options,
  context: Context,
): Promise<Pick<ResolvedSandbox, 'apiKeys' | 'showsKey'>> {
  const fromFiles = await readSecrets(apiKeyFile, context);
  const given = [...apiKey, ...fromFiles.map((key) => key.reveal())];
  if (given.some((key) => !/^[\x21-\x7e]+$/.test(key))) {
    throw new UsageError('an API key is one word of visible characters');
  }
  if (given.length > 0) return { apiKeys: given, showsKey: apiKey.length > 0 };
  const fromEnv = context.env['LEADS_API_KEY'] ?? '';
  return { apiKeys: [fromEnv === '' ? defaultApiKey : fromEnv], showsKey: fromEnv === '' };
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
