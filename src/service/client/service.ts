import type { Dialect } from '../../config/dialect.ts';
import { rejectForeignHeaders } from '../../config/extra-headers.ts';
import type { Account, CommandAccount, Settings } from '../../config/load-settings.ts';
import type { Host } from '../../host.ts';
import type { HttpClient } from '../../http/client/http-client.ts';
import { commandLine, type Front } from '../../front.ts';
import type { Messages } from '../../output/messages.ts';
import type { Clock } from '../../time/clock.ts';
import { RateGate } from './rate-limit.ts';

/** All that a request to the service needs: the account, how the service is asked, and the world around. */
export interface Service {
  readonly front: Front;
  readonly account: Account;
  readonly dialect: Dialect;
  readonly http: HttpClient;
  readonly messages: Messages;
  readonly rateGate: RateGate;
  readonly clock: Clock;
  readonly random: () => number;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly retries: number;
}

interface ServiceContext extends Pick<Host, 'clock' | 'random' | 'env' | 'signal'> {
  readonly messages: Messages;
  settings(): Promise<Settings>;
  http(asksOnce?: boolean): Promise<HttpClient>;
}

/**
 * Opens the service of the stored account, or of `triedAccount`, and sends nothing yet. `asksOnce`: the caller mostly needs one
 * request, for which a smaller HTTP client is enough. Throws a `ConfigError` when no key or base URL is set.
 */
export async function openService(
  context: ServiceContext,
  { asksOnce, triedAccount }: { readonly asksOnce?: boolean; readonly triedAccount?: Account } = {},
): Promise<Service> {
  const settings = await context.settings();
  const { dialect, timeoutMs, retries } = settings;
  const { messages, clock, random, signal } = context;
  // The account first: without a key there is no need to load an HTTP client.
  const stored = triedAccount ?? settings.account();
  const account = 'apiKey' in stored ? stored : await withPrintedKey(stored, context);
  rejectForeignHeaders(settings, account.baseUrl);
  const http = await context.http(asksOnce);
  return {
    ...{ account, dialect, timeoutMs, retries },
    ...{ messages, clock, random, signal, http },
    ...{ front: commandLine, rateGate: new RateGate(clock) },
  };
}

const longKeyWaitMs = 3000;

async function withPrintedKey(
  { profile, baseUrl, apiKeyCommand }: CommandAccount,
  context: ServiceContext,
): Promise<Account> {
  const { runKeyCommand } = await import('../../config/key-command.ts');
  const sayWaiting = (): void => context.messages.note('api-key-command', 'waiting for api-key-command');
  const timer = setTimeout(sayWaiting, longKeyWaitMs);
  const apiKey = await runKeyCommand(apiKeyCommand, context).finally(() => clearTimeout(timer));
  return { profile, baseUrl, apiKey, keyIsFromCommand: true };
}
