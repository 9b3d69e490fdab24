import { answerForOutcome } from '../../webhook/delivery-answer.ts';
import { rejection } from '../../webhook/rejection.ts';
import type { WebhookReceiver } from './webhook-receiver.ts';

/**
 * In place of a receiver whose code cannot be loaded, as when its files were replaced under a process that runs: every
 * delivery is answered 503, so that its sender tries again. `loaded` rejects with the reason.
 */
export function failedStart(loaded: Promise<unknown>): WebhookReceiver {
  const { status, body, headers: more } = answerForOutcome(rejection('cannot_store', ''));
  const text = JSON.stringify(body);
  const headers = { 'content-type': 'application/json', ...more };
  return {
    fetch: () => Promise.resolve(new Response(text, { status, headers })),
    node(_, response) {
      if (!response.headersSent) response.writeHead(status, Object.entries(headers).flat()).end(text);
      return Promise.resolve();
    },
    async ready() {
      await loaded;
    },
    close: () => Promise.resolve(),
  };
}
