import { messageOf } from '../../errors.ts';
import type { Context } from '../../context.ts';
import type { RejectedRequest } from '../../http/server/server-types.ts';
import { openHttpsServer } from '../../http/server/https-server.ts';
import type { Inbox } from '../../inbox/inbox.ts';
import type { Receiver } from '../../receiver/create-receiver.ts';
import type { ReceiverMetrics } from '../../receiver/metrics/receiver-metrics.ts';
import type { Delivery } from '../../webhook/delivery.ts';
import type { Verifier } from '../../webhook/scheme.ts';
import { certificateFor } from './certificate.ts';
import { renewCertificate } from './certificate-renewal.ts';
import type { ListenOptions } from './options.ts';
import { announce, warnOfExposure } from './print/announce.ts';
import { browserPage } from './print/browser-page.ts';
import type { Listening } from './print/printer.ts';

interface ServedReceiver {
  readonly verifier: Verifier;
  readonly receiver: Receiver;
  readonly inbox: Inbox;
  /** Whether the inbox is removed at the end. */
  readonly isRemoved: boolean;
  /** Counts what goes wrong before a request is a delivery; undefined: nobody asks. */
  readonly metrics: Pick<ReceiverMetrics, 'failed'> | undefined;
  /** Aborted as soon as the run is to stop, which may be before `signal`. */
  readonly stopping: AbortSignal;
  /** Aborted when the run stops. */
  readonly signal: AbortSignal;
}

interface ListenServer {
  readonly listening: Listening;
  /** Connections that are open now. */
  connections(): number;
  /** Lets requests in flight finish for `drainMs` at most. */
  close(drainMs: number): Promise<void>;
}

/** Opens the socket in front of a receiver, and announces its address on stderr. */
export async function openServer(
  flags: ListenOptions,
  context: Context,
  { verifier, receiver, inbox, isRemoved, metrics, stopping, signal }: ServedReceiver,
): Promise<ListenServer> {
  const { clock, messages } = context;
  const certificate = await certificateFor(flags, context);
  const host = flags.host;
  const server = await openHttpsServer({
    host,
    port: flags.port,
    tls: certificate.tls,
    clock,
    page: browserPage,
    checkHead: (head) => receiver.checkHead(head),
    handle: (delivery) => receiver.handle(delivery),
    onError(error) {
      metrics?.failed('internal');
      messages.warn(`a delivery failed and was answered 503: ${messageOf(error)}`);
    },
    onRejected: (refused) =>
      void receiver.handleRejected(asDelivery(refused), { ...refused, kind: 'rejected' }),
    onHandshake({ code, detail, remote }) {
      metrics?.failed('handshake');
      const trust = certificate.caPath === undefined ? '' : ` (to trust: ${certificate.caPath})`;
      const peer = remote === '' ? '' : `${remote}: `;
      messages.note(`handshake ${code}`, `${peer}${detail}${/trust/.test(detail) ? trust : ''}`);
    },
    onFull(connections) {
      metrics?.failed('connection_limit');
      messages.note('full', `${connections} connections are open: further ones are rejected`);
    },
  });
  const listening: Listening = {
    url: server.url,
    path: flags.path,
    scheme: verifier.scheme.name,
    inbox: inbox.location,
    caPath: certificate.caPath,
  };
  warnOfExposure(flags, host, messages);
  announce(listening, flags, isRemoved, messages);
  const read = () => certificateFor(flags, context);
  const renewal = renewCertificate(certificate, { read, use: (pair) => server.renew(pair), signal }, context);
  if (stopping.aborted) server.endConnections();
  else stopping.addEventListener('abort', () => server.endConnections(), { once: true, signal });
  return {
    listening,
    connections: () => server.connections(),
    async close(drainMs) {
      await server.close(drainMs);
      await renewal;
    },
  };
}

/** What is known of a request that was rejected before it was complete. */
const asDelivery = ({ remote, receivedAt, method, path, rawHeaders, body }: RejectedRequest): Delivery => ({
  method: method ?? '',
  path: path ?? '',
  url: '',
  rawHeaders: rawHeaders ?? [],
  body: body ?? new Uint8Array(),
  remote,
  receivedAt,
});
