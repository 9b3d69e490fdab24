import { unreadable } from '../../files/errors.ts';
import { readInput } from '../../files/read.ts';
import { isLoopback } from '../../config/base-url.ts';
import type { Context } from '../../context.ts';
import { DataError, UsageError } from '../../errors.ts';
import { defaultApiKey, type SandboxOptions, type WebhookOptions } from '../../sandbox/sandbox-options.ts';
import { ensureAuthority } from '../../tls/local-authority.ts';
import { readSecrets } from '../flags/flag-values.ts';
import { rejectFirst } from '../flags/shared-flags.ts';
import { resolveSigner } from '../flags/resolve-scheme.ts';
import type { Options } from './options.ts';

export interface ResolvedSandbox extends SandboxOptions {
  readonly seed: string;
  readonly apiKeys: readonly string[];
  /** False for an API key from a file or from the environment, which is kept secret. */
  readonly showsKey: boolean;
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
    webhook: flags.webhook === undefined ? undefined : await resolveWebhook(flags.webhook, flags, context),
    tls: flags.tls ? await ensureAuthority(context.paths.dataDir, context.clock) : undefined,
  };
}

async function resolveWebhook(url: string, flags: Options, context: Context): Promise<WebhookOptions> {
  const { retry: retryMs, paused, deliveryFaults: faults } = flags;
  const { protocol, hostname } = new URL(url);
  if (protocol === 'http:' && !isLoopback(hostname)) {
    throw new UsageError(`the webhook ${url} is plain HTTP, and a webhook must be HTTPS`, {
      hint: 'plain http:// is for loopback addresses only',
    });
  }
  return { url, signer: await resolveSigner(flags, context), retryMs, paused, faults };
}

/** Throws a `UsageError` for what contradicts itself, or would make a list no client can follow. */
function rejectContradictions(flags: Options): void {
  const { envelope, pagination = 'cursor', webhook, deliveryFaults, retry, paused } = flags;
  const { from, leads, newest, apiKeyFile, tokenFile, secretFile } = flags;
  const files = [from, ...apiKeyFile, ...tokenFile, ...secretFile];
  const isDelivered = deliveryFaults !== undefined || retry !== undefined || paused;
  rejectFirst(
    [
      envelope === 'none' && pagination === 'cursor',
      'with the envelope none the body is an array, without a field for the next page',
      'use the pagination link, page, offset or none with it',
    ],
    [webhook === undefined && isDelivered, '--delivery-faults, --retry and --paused need --webhook URL'],
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
  const fromFlags = [...apiKey, ...fromFiles.map((key) => key.reveal())];
  if (fromFlags.some((key) => !/^[\x21-\x7e]+$/.test(key))) {
    throw new UsageError('an API key is one word of visible characters');
  }
  if (fromFlags.length > 0) return { apiKeys: fromFlags, showsKey: apiKey.length > 0 };
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
  const lines = bytes.toString('latin1').split('\n');
  return lines.filter((line) => line.trim() !== '').map((line) => Buffer.from(line, 'latin1'));
}
