/**
 * `leads-cli/receiver`: verified, stored once and acknowledged only when it is safe: what `leads listen` does, inside an
 * application's own server. For Node.
 */
import { checkOptions } from './receiver/checked-options.ts';
import type { ReceiverOptions } from './receiver/receiver-options.ts';
import type { NodeResponse, WebhookReceiver } from './receiver/start-receiver.ts';

export { ConfigError, LeadsError, OutputError } from '../errors.ts';
export { fileInbox, memoryInbox, postgresInbox } from './receiver/inboxes.ts';
export type {
  InboxOpener,
  InboxRequirements,
  LeadContext,
  PostgresInboxOptions,
  ReceivedDelivery,
  ReceiverInbox,
  ReceiverOptions,
} from './receiver/receiver-options.ts';
export type { NodeResponse, WebhookReceiver } from './receiver/start-receiver.ts';
export type { Lead, LeadFields } from './webhook/lead.ts';
export type { Fitted, LeadIssue, LeadSchema } from './webhook/lead-schema.ts';
export { ParsedBodyError } from './webhook/parsed-body-error.ts';

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
export function createReceiver<Output = never>(options: ReceiverOptions<Output>): WebhookReceiver {
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

/**
 * In place of a receiver whose code cannot be loaded, as when its files were replaced under a process that runs: every
 * delivery is answered 503, so that its sender tries again. `loaded` rejects with the reason.
 */
function failedStart(loaded: Promise<unknown>): WebhookReceiver {
  // Written out: the code that makes answers would slow down the start of every application.
  const status = 503;
  const headers = { 'content-type': 'application/json', 'retry-after': '5' };
  const text = '{"error":"cannot_store","message":"the receiver could not be loaded; send it again later"}';
  return {
    fetch: () => Promise.resolve(new Response(text, { status, headers })),
    node(_, response) {
      // It may be anything in JavaScript.
      if ((response as NodeResponse | undefined)?.headersSent === false) {
        response.writeHead(status, Object.entries(headers).flat()).end(text);
      }
      return Promise.resolve();
    },
    async ready() {
      await loaded;
    },
    close: () => Promise.resolve(),
  };
}
