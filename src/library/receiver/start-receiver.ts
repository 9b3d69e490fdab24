import { ConfigError } from '../../errors.ts';
import { answerNode, invalidHead } from './answer-node.ts';
import type { CheckedOptions } from './checked-options.ts';
import { RequestReceiver } from './receive-request.ts';
import { ReceiverLife } from './receiver-life.ts';
import type { WebhookReceiver } from './webhook-receiver.ts';

/** Opens the inbox, begins to hand over what is outstanding, and takes requests. */
export function startReceiver(options: CheckedOptions): WebhookReceiver {
  const life = new ReceiverLife(options);
  const requests = new RequestReceiver(options, life);
  return {
    async fetch(request) {
      const { answer } = await requests.receive(request);
      const headers = { 'content-type': 'application/json', ...answer.headers };
      return new Response(JSON.stringify(answer.body), { status: answer.status, headers });
    },
    async node(request, response) {
      answerNode(request, response, await requests.receive(request, invalidHead(request)));
    },
    async ready() {
      // An inbox that is opened now would never be closed.
      if (life.isClosing) throw new ConfigError('the receiver is closed');
      await life.opened();
    },
    close: () => life.close(),
  };
}
