/**
 * `leads-cli/receiver`: verified, stored once and acknowledged only when it is safe: what `leads listen` does, inside an
 * application's own server. For Node.
 */
import { checkOptions } from './receiver/checked-options.ts';
import { failedStart } from './receiver/failed-start.ts';
import type { ReceiverOptions } from './receiver/receiver-options.ts';
import type { WebhookReceiver } from './receiver/webhook-receiver.ts';

export { ConfigError, LeadsError, OutputError } from '../errors.ts';
export type { NodeResponse } from './receiver/answer-node.ts';
export type {
  InboxOpener,
  InboxRequirements,
  PostgresInboxOptions,
  ReceiverInbox,
} from './receiver/inbox/inbox-opener.ts';
export { fileInbox, memoryInbox, postgresInbox } from './receiver/inbox/inboxes.ts';
export type { LeadContext, ReceivedDelivery, ReceiverOptions } from './receiver/receiver-options.ts';
export type { WebhookReceiver } from './receiver/webhook-receiver.ts';
export type { Lead } from './lead/lead.ts';
export { ParsedBodyError } from './webhook/request/parsed-body-error.ts';

/**
 * Receives deliveries (specification, section 4.2). Each is verified over its raw bytes, deduplicated by the lead's id, made
 * durable in the inbox, and handed to `onLead`; only then it is answered 200. While `onLead` does not take a lead, its
 * deliveries are answered 502, so that the sender tries again, and it is also handed over at the start and every
 * `retryEveryMs`. The answers are those of `leads listen`. Opens the inbox at once; throws a `ConfigError` for options that
 * cannot work.
 *
 * @example
 * const receiver = createReceiver({
 *   scheme: 'standard-webhooks',
 *   secrets: process.env.WEBHOOK_SECRET,
 *   inbox: fileInbox('leads.db'),
 *   onLead: async (lead, { signal }) => save(lead.id, lead.value, { signal }),
 * });
 * http.createServer(receiver.node).listen(8080);
 */
export function createReceiver(options: ReceiverOptions): WebhookReceiver {
  const checked = checkOptions(options);
  // Most of the code is not needed to refuse options that cannot work, and would slow the import down.
  const loaded = import('./receiver/start-receiver.ts').then(({ startReceiver }) => startReceiver(checked));
  const started = loaded.catch((error: unknown) => {
    checked.onError(error, {});
    return failedStart(loaded);
  });
  return {
    fetch: async (request) => (await started).fetch(request),
    node: async (request, response) => (await started).node(request, response),
    ready: async () => (await started).ready(),
    close: async () => (await started).close(),
  };
}
