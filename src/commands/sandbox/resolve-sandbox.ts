import { isLoopback } from '../../config/base-url.ts';
import { sendableKey } from '../../config/load-settings.ts';
import type { Context } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import { defaultApiKey, type SandboxOptions, type WebhookOptions } from '../../sandbox/sandbox-options.ts';
import { readSecrets, retrySchedule } from '../flags/flag-values.ts';
import { resolveSigner } from '../flags/resolve-scheme.ts';
import { type Options, usualRetry } from './command.ts';

export interface ResolvedSandbox extends SandboxOptions {
  readonly seed: string;
  readonly apiKeys: readonly string[];
  /** False for an API key from a file or from the environment, which is kept secret. */
  readonly showsKey: boolean;
}

/** Throws a `UsageError` for an array without an envelope that would have to name its next page. */
export async function resolveSandbox(flags: Options, context: Context): Promise<ResolvedSandbox> {
  const { port = 8080, pagination, envelope, leads, seed = '1', every, faults } = flags;
  if (envelope === 'none' && (pagination ?? 'cursor') === 'cursor') {
    throw new UsageError('with the envelope none the body is an array, without a field for the next page', {
      hint: 'use --pagination link, page, offset or none with it',
    });
  }
  return {
    ...{ port, pagination, envelope, leads, seed, faults, everyMs: every },
    ...(await readApiKeys(flags, context)),
    webhook: flags.webhook === undefined ? undefined : await resolveWebhook(flags.webhook, flags, context),
  };
}

async function resolveWebhook(url: string, flags: Options, context: Context): Promise<WebhookOptions> {
  const { retry: retryMs = retrySchedule.parse(usualRetry), deliveryFaults: faults } = flags;
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
  const fromEnv = (context.env['LEADS_API_KEY'] ?? '').trim();
  if (fromEnv === '') return { apiKeys: [defaultApiKey], showsKey: true };
  return { apiKeys: [sendableKey(fromEnv, 'LEADS_API_KEY').reveal()], showsKey: false };
}
