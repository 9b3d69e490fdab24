import { messageOf } from '../../errors.ts';
import type { Context } from '../../context.ts';
import type { RejectedRequest } from '../../http/server/server-types.ts';
import { openHttpsServer } from '../../http/server/https-server.ts';
import type { Inbox } from '../../inbox/inbox.ts';
import type { Delivery } from '../../webhook/delivery.ts';
import type { Verifier } from '../../webhook/scheme.ts';
import { announce, warnOf } from './print/banner.ts';
import { certificateFor } from './certificate.ts';
import type { DeliveryHandler } from '../../receiver/delivery-handler.ts';
import type { ListenOptions } from './options.ts';
import { keepRenewed } from './certificate-renewal.ts';
import type { Listening } from '../../receiver/events.ts';

interface Behind {
  readonly verifier: Verifier;
  readonly desk: DeliveryHandler;
  readonly inbox: Inbox;
  /** Aborted when the end is reached, and nothing new is to be begun. */
  readonly over: AbortSignal;
}

/** Opens the socket in front of the desk, and says where it is. */
export async function openServer(
  given: ListenOptions,
  context: Context,
  { verifier, desk, inbox, over }: Behind,
): Promise<{ readonly listening: Listening; close(drainMs: number): Promise<void> }> {
  const { clock, messages } = context;
  const certificate = await certificateFor(given, context);
  const host = given.host;
  const receiver = await openHttpsServer({
    host,
    port: given.port,
    tls: certificate.tls,
    clock,
    handle: (delivery) => desk.handle(delivery),
    onError(error) {
      messages.warn(`a delivery was answered 503: ${messageOf(error)}`);
    },
    onRefused: (refused) => void desk.refuse(asDelivery(refused), { ...refused, kind: 'rejected' }),
    onHandshake({ code, detail, remote }) {
      const trust = certificate.caPath === undefined ? '' : ` (to trust: ${certificate.caPath})`;
      const who = remote === '' ? '' : `${remote}: `;
      messages.note(`handshake ${code}`, `${who}${detail}${/trust/.test(detail) ? trust : ''}`);
    },
    onFull: (connections) =>
      messages.note('full', `${connections} connections are open: others are turned away`),
  });
  const listening: Listening = {
    url: receiver.url,
    path: given.path,
    scheme: verifier.scheme.name,
    inbox: inbox.place,
    caPath: certificate.caPath,
  };
  warnOf(given, host, messages);
  announce(listening, given, messages);
  const read = () => certificateFor(given, context);
  const renewing = keepRenewed(
    certificate,
    { read, use: (pair) => receiver.renew(pair), signal: over },
    context,
  );
  return {
    listening,
    async close(drainMs) {
      await receiver.close(drainMs);
      await renewing;
    },
  };
}

/** A request that was refused before it was a delivery, as far as it came. */
const asDelivery = ({ remote, receivedAt, method, path }: RejectedRequest): Delivery => ({
  method: method ?? '',
  path: path ?? '',
  url: '',
  rawHeaders: [],
  body: new Uint8Array(),
  remote,
  receivedAt,
});
