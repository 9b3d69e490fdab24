/**
 * `leads-cli/receiver`: verified, stored once and acknowledged only when it is safe: what `leads listen` does, inside an
 * application's own server. For Node.
 */
import type { NodeResponse } from './receiver/answer-node.ts';
import { checkOptions } from './receiver/checked-options.ts';
import type { ReceiverOptions } from './receiver/receiver-options.ts';
import type { FetchRequest, NodeRequest } from './webhook/request/request-types.ts';

export { ConfigError, LeadsError } from '../errors.ts';
export type { NodeResponse } from './receiver/answer-node.ts';
export {
  fileInbox,
  type InboxOpener,
  type InboxRequirements,
  memoryInbox,
  postgresInbox,
  type PostgresInboxOptions,
  type ReceiverInbox,
} from './receiver/inboxes.ts';
export type { LeadContext, ReceivedDelivery, ReceiverOptions } from './receiver/receiver-options.ts';
export type { Lead } from './webhook/lead.ts';
export { ParsedBodyError } from './webhook/request/parsed-body-error.ts';

/** Its functions can be passed on without their object. */
export interface WebhookReceiver {
  /** For Hono (`c.req.raw`), route handlers of Next, and whatever else has a Fetch `Request`. Never rejects. */
  readonly fetch: (request: FetchRequest) => Promise<Response>;
  /**
   * For Express, `node:http`, and Fastify (`request.raw`, `reply.raw`, after `reply.hijack()`). Resolves when the answer is
   * written. Never rejects: a body that was parsed before is answered 500 with the fix, and told to `onError`.
   */
  readonly node: (request: NodeRequest, response: NodeResponse) => Promise<void>;
  /** Rejects with what opening the inbox failed with. Deliveries need not wait for it: they are answered 503 then. */
  readonly ready: () => Promise<void>;
  /**
   * Takes nothing more (503), waits for what is in flight, calls of `onLead` included, and closes the inbox that it
   * opened. Takes at most twice `onLeadTimeoutMs` beside `bodyTimeoutMs`.
   */
  readonly close: () => Promise<void>;
}

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
  const started = import('./receiver/start-receiver.ts').then(({ startReceiver }) => startReceiver(checked));
  started.catch((error: unknown) => checked.onError(error, {}));
  return {
    fetch: async (request) => (await started).fetch(request),
    node: async (request, response) => (await started).node(request, response),
    ready: async () => (await started).ready(),
    close: async () => (await started).close(),
  };
}
