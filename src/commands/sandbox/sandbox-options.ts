import { unreadable } from '../../files/errors.ts';
import { readInput } from '../../files/read.ts';
import { isLoopback } from '../../config/base-url.ts';
import type { Context } from '../../context.ts';
import { DataError, UsageError } from '../../errors.ts';
import { defaultApiKey, type SandboxOptions, type WebhookOptions } from '../../sandbox/sandbox-options.ts';
import { ensureAuthority } from '../../tls/local-authority.ts';
import { readSecrets } from '../flags/flag-values.ts';
import { resolveSigner } from '../flags/resolve-scheme.ts';
import type { Options } from './command.ts';

export interface ResolvedSandbox extends SandboxOptions {
  readonly seed: string;
  readonly apiKeys: readonly string[];
  /** False for an API key from a file or from the environment, which is kept secret. */
  readonly showsKey: boolean;
}

/** Throws a `UsageError` for an array without an envelope that would have to name its next page. */
export async function resolveSandbox(flags: Options, context: Context): Promise<ResolvedSandbox> {
  const { host, port = 8080, pagination, envelope, leads, seed = '1', from, every, faults } = flags;
  if (envelope === 'none' && (pagination ?? 'cursor') === 'cursor') {
    throw new UsageError('with the envelope none the body is an array, without a field for the next page', {
      hint: 'use --pagination link, page, offset or none with it',
    });
  }
  return {
    ...{ host, port, pagination, envelope, leads, seed, faults, everyMs: every },
    records: from === undefined ? undefined : await readRecords(from, context),
    ...(await readApiKeys(flags, context)),
    webhook: flags.webhook === undefined ? undefined : await resolveWebhook(flags.webhook, flags, context),
    tls: flags.tls ? await ensureAuthority(context.paths.dataDir, context.clock) : undefined,
  };
}

async function resolveWebhook(url: string, flags: Options, context: Context): Promise<WebhookOptions> {
  const { retry: retryMs, deliveryFaults: faults } = flags;
  const { protocol, hostname } = new URL(url);
  if (protocol === 'http:' && !isLoopback(hostname)) {
    throw new UsageError(`the webhook ${url} is plain HTTP, and a webhook must be HTTPS`, {
      hint: 'plain http:// is for loopback addresses only',
    });
  }
  return { url, signer: await resolveSigner(flags, context), retryMs, faults };
}

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
