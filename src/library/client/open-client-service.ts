import { UsageError } from '../../errors.ts';
import { createAgent } from '../../http/client/agent.ts';
import type { Messages } from '../../output/messages.ts';
import { Secret } from '../../secret.ts';
import type { RateGate } from '../../service/client/rate-gate.ts';
import type { Service } from '../../service/client/service.ts';
import { systemClock } from '../../time/clock.ts';
import { checkKey, type ClientOptions } from './client-options.ts';

/** What a client knows from its options. */
export interface ClientAccount extends ClientOptions {
  readonly baseUrl: URL;
  readonly rateGate: RateGate;
}

const defaultTimeoutMs = 30_000;
const defaultRetries = 5;

/** Nobody reads along: what matters is a lead, an error, or the reason given to `acceptIncomplete`. */
const silent: Messages = {
  note: () => undefined,
  say: () => undefined,
  verbose: () => undefined,
  warn: () => undefined,
  waiting: (_, sleep) => sleep(),
  asking: () => () => undefined,
};

/** The service with connections of its own; `close` cuts them. Throws what the function that gives the key throws. */
export async function openClientService(
  account: ClientAccount,
  signal: AbortSignal | undefined,
): Promise<{ readonly service: Service; readonly close: () => Promise<void> }> {
  signal?.throwIfAborted();
  const { baseUrl, dialect = {}, timeoutMs = defaultTimeoutMs, retries = defaultRetries, env = {} } = account;
  const key = typeof account.apiKey === 'string' ? account.apiKey : await keyFrom(account.apiKey);
  const dispatcher = await createAgent({ env, dataDir: undefined, timeoutMs });
  const service: Service = {
    account: { baseUrl, apiKey: new Secret(key) },
    dialect,
    dispatcher,
    messages: silent,
    rateGate: account.rateGate,
    clock: systemClock,
    random: Math.random,
    signal: signal ?? new AbortController().signal,
    timeoutMs,
    retries,
  };
  return { service, close: () => dispatcher.destroy() };
}

async function keyFrom(give: () => string | Promise<string>): Promise<string> {
  let key: unknown;
  try {
    key = await give();
  } catch (cause) {
    throw new UsageError('the function apiKey failed', { cause });
  }
  checkKey(key);
  return key;
}
