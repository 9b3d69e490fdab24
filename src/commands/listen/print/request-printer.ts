import type { Messages } from '../../../output/messages.ts';
import type { AnsweredDelivery } from '../../../receiver/answered-delivery.ts';
import type { deliveryRedactor } from '../../../receiver/redact-delivery.ts';

/** Of a request's body, in bytes. */
const shownBody = 4096;

/** `--verbose`: each request on stderr, its headers and the start of its body, without credentials. */
export function requestPrinter(
  messages: Pick<Messages, 'verbose'>,
  redactor: ReturnType<typeof deliveryRedactor>,
): (event: AnsweredDelivery) => void {
  return ({ delivery, method, path, position }) => {
    if (position !== undefined && position.number > 1) return;
    const { body } = delivery;
    messages.verbose(`${method} ${path}`);
    for (const [name, value] of redactor.headers(delivery)) messages.verbose(`  ${name}: ${value}`);
    const text = Buffer.from(body.subarray(0, shownBody)).toString('utf8');
    messages.verbose(`  ${text}${body.length > shownBody ? ` … (${body.length} bytes)` : ''}`);
  };
}
