import type { FetchRequest, NodeRequest } from '../webhook/request/request-types.ts';
import type { NodeResponse } from './answer-node.ts';

/** Its functions can be passed on without their object. */
export interface WebhookReceiver {
  /** For Hono (`c.req.raw`), route handlers of Next, and whatever else has a Fetch `Request`. Never rejects. */
  readonly fetch: (request: FetchRequest) => Promise<Response>;
  /**
   * For Express, `node:http`, and Fastify (`request.raw`, `reply.raw`, after `reply.hijack()`). Resolves when the answer is
   * written. Never rejects: a body that was parsed before is answered 500 with the fix, and told to `onError`.
   */
  readonly node: (request: NodeRequest, response: NodeResponse) => Promise<void>;
  /**
   * Rejects with what opening the inbox failed with, and after `close`. Deliveries need not wait for it: they are answered
   * 503 then.
   */
  readonly ready: () => Promise<void>;
  /**
   * Takes nothing more (503), waits for what is in flight, calls of `onLead` included, and closes the inbox that it
   * opened. Takes at most twice `onLeadTimeoutMs` beside `bodyTimeoutMs`.
   */
  readonly close: () => Promise<void>;
}
