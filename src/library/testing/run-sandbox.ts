import { isLoopback } from '../../config/base-url.ts';
import { ConfigError, DataError, UsageError } from '../../errors.ts';
import type { SandboxLead } from '../../sandbox/data/lead-set.ts';
import { apiFaults, deliveryFaults, readFaults } from '../../sandbox/faults.ts';
import type { SandboxOptions, WebhookOptions } from '../../sandbox/sandbox-options.ts';
import { startSandbox } from '../../sandbox/start-sandbox.ts';
import { rejectUnableToSign } from '../../sender/reject-unable-to-sign.ts';
import type { Signer } from '../../sender/sign-request.ts';
import { systemClock } from '../../time/clock.ts';
import { unverified } from '../../webhook/schemes/unverified.ts';
import { LazyLead } from '../lead/lazy-lead.ts';
import { makeVerifier } from '../webhook/make-verifier.ts';
import { nameOptions } from '../webhook/option-names.ts';
import { asBytes } from '../webhook/request/as-bytes.ts';
import { checkSandboxOptions } from './check-sandbox-options.ts';
import { OpenDeliveries } from './open-deliveries.ts';
import type { RunningSandbox, TestLead } from './running-sandbox.ts';
import type { LeadSource, TestSandboxOptions, TestWebhook } from './test-sandbox-options.ts';

/** Starts the sandbox of the program with options for tests. */
export async function runSandbox(options: TestSandboxOptions): Promise<RunningSandbox> {
  checkSandboxOptions(options);
  const { clock = systemClock, webhook } = options;
  const open = new OpenDeliveries(() => sandbox.state.deliveries.pending);
  const starting = startSandbox(await sandboxOptions(options), {
    clock,
    loopbackCa: webhook?.ca,
    observe: () => open.check(),
  });
  const sandbox = await starting.catch((error: unknown) => {
    throw error instanceof ConfigError ? nameOptions(error) : error;
  });
  const { state } = sandbox;
  return {
    url: sandbox.url,
    apiKey: sandbox.apiKey,
    leads: () => Array.from(state.leads, testLead),
    addLead(lead) {
      if (lead === undefined) return testLead(sandbox.addLead());
      const added = state.add(bytesOf(lead));
      if ('problem' in added) throw new DataError(`the lead cannot be added: ${added.problem}`);
      return testLead(added);
    },
    deliveries: () => [...state.deliveries.attempts],
    settled: () => open.settled(),
    async close() {
      open.close();
      await sandbox.close();
    },
  };
}

async function sandboxOptions(options: TestSandboxOptions): Promise<SandboxOptions> {
  const {
    leads,
    seed,
    newest,
    apiKey,
    params,
    faults,
    deliveryFaults: forged,
    webhook,
    port,
    ...api
  } = options;
  return {
    ...api,
    ...(typeof leads === 'number' && { leads }),
    ...(typeof leads === 'object' && { records: leads.map(bytesOf) }),
    ...(seed !== undefined && { seed }),
    ...(apiKey !== undefined && { apiKeys: [apiKey] }),
    ...(params !== undefined && { params }),
    ...(port !== undefined && { port }),
    newest: newest?.getTime(),
    faults: readFaults(faults ?? {}, apiFaults),
    deliveryFaults: readFaults(forged ?? {}, deliveryFaults),
    webhook: webhook === undefined ? undefined : await webhookOptions(webhook),
  };
}

async function webhookOptions(webhook: TestWebhook): Promise<WebhookOptions> {
  const { url, retryMs, timeoutMs, concurrency } = webhook;
  if (!URL.canParse(String(url))) throw new UsageError(`webhook.url is '${String(url)}', which is no URL`);
  const { protocol, hostname, href } = new URL(url);
  if (protocol !== 'https:' && !(protocol === 'http:' && isLoopback(hostname))) {
    throw new UsageError(`webhook.url is ${href}: it must be https, or http to a loopback address`);
  }
  return { targets: [href], signer: await signerOf(webhook), retryMs, timeoutMs, concurrency };
}

/** Rejects with a `ConfigError` for a scheme that is unknown or incomplete, or a secret that cannot sign. */
async function signerOf({ scheme, secrets }: TestWebhook): Promise<Signer> {
  if (scheme === undefined && secrets === undefined) return { scheme: unverified, key: undefined };
  const { scheme: named, keys } = await makeVerifier({ scheme: scheme ?? 'token', secrets: secrets ?? [] });
  const [key] = keys;
  if (key !== undefined) rejectUnableToSign(named, key, 'give it in webhook.secrets');
  return { scheme: named, key };
}

function bytesOf(lead: LeadSource): Uint8Array {
  return asBytes(lead) ?? Buffer.from(typeof lead === 'string' ? lead : JSON.stringify(lead));
}

const testLead = (lead: SandboxLead): TestLead => new LazyLead(lead.id, lead.text());
