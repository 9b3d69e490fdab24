import type { WebhookReceiver } from './webhook-receiver.ts';

/**
 * In place of a receiver whose code cannot be loaded, as when its files were replaced under a process that runs: every
 * delivery is answered 503, so that its sender tries again. `loaded` rejects with the reason.
 */
export function failedStart(loaded: Promise<unknown>): WebhookReceiver {
  // Written out: the code that makes answers would slow down the start of every application.
  const status = 503;
  const headers = { 'content-type': 'application/json', 'retry-after': '5' };
  const text = '{"error":"cannot_store","message":"the receiver could not be loaded; send it again later"}';
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
