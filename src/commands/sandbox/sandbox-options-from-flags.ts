import type { Context } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import { ensureAuthority } from '../../tls/local-authority.ts';
import { isLoopback } from '../../config/base-url.ts';
import type { SandboxOptions, WebhookOptions } from '../../sandbox/sandbox-options.ts';
import { unverified } from '../../webhook/schemes/unverified.ts';
import { resolveScheme } from '../flags/scheme/resolve-scheme.ts';
import { readApiKeys } from './api-keys.ts';
import type { Options } from './options.ts';
import { readRecords } from './read-records.ts';
import { rejectConflicts } from './reject-conflicts.ts';

/** The flags as settings of a sandbox. Throws a `UsageError` for flags that do not go together. */
export async function sandboxOptionsFromFlags(options: Options, context: Context): Promise<SandboxOptions> {
  rejectConflicts(options);
  const { pagination, next, nextField, envelope, order, statusField, totals, gzip, path, host, port } =
    options;
  const { defaultLimit, maxLimit, rateLimit, seed, leads, faults, deliveryFaults } = options;
  return {
    ...withoutUndefined({ pagination, next, nextField, envelope, order, statusField, path, host }),
    ...withoutUndefined({ defaultLimit, maxLimit, rateLimit, seed, leads, faults, deliveryFaults }),
    everyMs: options.every,
    newest: options.newest?.(context.clock.now()),
    records: options.from === undefined ? undefined : await readRecords(options.from, context),
    apiKeys: await readApiKeys(options, context),
    params: Object.fromEntries(options.param),
    totals,
    gzip,
    port,
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
  const { scheme, keys } = await resolveScheme(options, await context.settings(), context, 'sends');
  return {
    targets: options.webhook,
    signer: { scheme: keys.length > 0 ? scheme : unverified, key: keys[0] },
    retryMs: options.retry,
    timeoutMs: options.deliveryTimeout,
    concurrency: options.deliveryConcurrency,
    paused: options.paused,
  };
}

/** Without the flags that are not set, so that the sandbox's own defaults hold. */
function withoutUndefined<T extends object>(options: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
