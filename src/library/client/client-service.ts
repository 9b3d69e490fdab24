import { UsageError } from '../../errors.ts';
import { library } from '../../front.ts';
import { createAgent } from '../../http/client/agent.ts';
import { noteMessages } from '../../output/messages.ts';
import { Secret } from '../../secret.ts';
import type { RateGate } from '../../service/client/rate-limit.ts';
import type { Service } from '../../service/client/service.ts';
import { systemClock } from '../../time/clock.ts';
import { checkKey, type ClientOptions, type LeadsOptions } from './client-options.ts';

export interface ClientAccount extends ClientOptions {
  readonly baseUrl: URL;
  readonly rateGate: RateGate;
}

const defaultTimeoutMs = 30_000;
const defaultRetries = 5;

/**
 * Opens the service with connections of its own, which `close` cuts. Rejects with a `UsageError` where the
 * function that returns the key fails.
 */
export async function openClientService(
  account: ClientAccount,
  { signal, onNote = () => undefined }: Pick<LeadsOptions, 'signal' | 'onNote'>,
): Promise<{ readonly service: Service; readonly close: () => Promise<void> }> {
  signal?.throwIfAborted();
  const { baseUrl, dialect = {}, timeoutMs = defaultTimeoutMs, retries = defaultRetries, env = {} } = account;
  const key = await keyFrom(account.apiKey);
  const http = createAgent({ env, dataDir: undefined, timeoutMs });
  const service: Service = {
    account: { baseUrl, apiKey: new Secret(key) },
    dialect,
    http,
    messages: noteMessages(onNote),
    front: library,
    rateGate: account.rateGate,
    clock: systemClock,
    random: Math.random,
    signal: signal ?? new AbortController().signal,
    timeoutMs,
    retries,
  };
  return { service, close: () => http.destroy() };
}

async function keyFrom(apiKey: ClientOptions['apiKey']): Promise<string> {
  let key: unknown;
  try {
    key = typeof apiKey === 'function' ? await apiKey() : apiKey;
  } catch (cause) {
    throw new UsageError('the function apiKey failed', { cause });
  }
  checkKey(key);
  return key;
}
