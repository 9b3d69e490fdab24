import { messageOf } from '../../errors.ts';
import type { Context } from '../../context.ts';
import { openHttpsServer } from '../../http/server/https-server.ts';
import type { HttpServer } from '../../http/server/server-options.ts';
import { openAdminServer } from '../../receiver/admin-server.ts';
import { inboxUp } from '../../receiver/process-metrics.ts';
import { answerForOutcome, rejection } from '../../webhook/delivery-answer.ts';
import { certificateFor } from './certificate.ts';
import type { ListenOptions } from './command.ts';

const closeMs = 500;

/**
 * Answers deliveries and probes with 503 until the function that it resolves to is called. On the addresses that the receiver
 * will have; a port that the system chooses is not known to anybody yet.
 */
export async function answerMeanwhile(
  { host, port, admin, ...flags }: ListenOptions,
  context: Pick<Context, 'paths' | 'clock' | 'messages'>,
  whyNot: () => Promise<string>,
): Promise<() => Promise<void>> {
  const { clock, messages } = context;
  const onError = (error: unknown): void => messages.note('waiting', messageOf(error));
  const refused = rejection('cannot_store', 'the database of the inbox does not answer');
  const servers: HttpServer[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(servers.map((server) => server.close(closeMs)));
  };
  try {
    if (port !== 0) {
      const { tls } = await certificateFor(flags, context);
      const handle = () => Promise.resolve(answerForOutcome(refused));
      servers.push(
        await openHttpsServer({ host, port, tls, clock, checkHead: () => refused, handle, onError }),
      );
    }
    if (admin !== undefined && admin.port !== 0) {
      const metrics = () => Promise.resolve([inboxUp(0)]);
      const options = { ...admin, addressOption: 'admin', readiness: { whyNot }, metrics, clock, onError };
      servers.push(await openAdminServer(options));
    }
  } catch (error) {
    await close();
    throw error;
  }
  return close;
}
