import type { RunningSandbox, TestSandboxOptions } from './testing/run-sandbox.ts';

export { ConfigError, DataError, LeadsError, UsageError } from '../errors.ts';
export type {
  RunningSandbox,
  SandboxDelivery,
  TestLead,
  TestSandboxOptions,
  TestWebhook,
} from './testing/run-sandbox.ts';
export type { Clock } from '../time/clock.ts';
export type { SchemeDefinition, SchemeName, SecretInput } from './webhook/options.ts';

/**
 * Starts the whole service in this process, on a loopback port of its own: the list operation with filters,
 * keys, pages and rate limits, and webhook deliveries with retries, over one seeded set of leads. `leads
 * sandbox` runs the same code. Throws a `TypeError` for an option that is misspelt, and a `UsageError`,
 * `ConfigError` or `DataError` for options that cannot work.
 *
 * @example
 * const sandbox = await startSandbox({ leads: 25, webhook: { url: `${appUrl}/leads`, scheme: 'github', secrets } });
 * after(() => sandbox.close());
 * await sandbox.settled();
 * assert.equal(sandbox.deliveries().length, 25);
 */
export async function startSandbox(options: TestSandboxOptions = {}): Promise<RunningSandbox> {
  const { runSandbox } = await import('./testing/run-sandbox.ts');
  return runSandbox(options);
}
