import type { Context } from '../../context.ts';
import { openHttpsServer } from '../../http/server/https-server.ts';
import type { HttpServer } from '../../http/server/server-options.ts';
import { DatabaseUnavailableError } from '../../inbox/postgres/connection/database-errors.ts';
import { sentenceOf } from '../../messages/find-message.ts';
import { openAdminServer } from '../../receiver/admin-server.ts';
import { answerForOutcome, rejection } from '../../webhook/rejection.ts';
import { gauge } from '../../output/openmetrics.ts';
import { certificateFor } from './open-server.ts';
import { inboxUp } from './start-admin.ts';
import type { ListenOptions } from './options.ts';

type WaitingContext = Pick<Context, 'paths' | 'clock' | 'signal' | 'messages'>;

/** Between two tries, in milliseconds: a receiver is ready within seconds of its database. */
const firstPauseMs = 250;
const longestPauseMs = 2000;

const closeMs = 500;

/**
 * Opens an inbox whose database may be started after its receiver. Until it answers, deliveries and probes are answered 503.
 * Throws what waiting cannot mend, and the signal's reason.
 */
export async function openOnceAvailable<T>(
  open: () => Promise<T>,
  flags: ListenOptions,
  context: WaitingContext,
): Promise<T> {
  const { clock, messages, signal } = context;
  let why = await open().catch(unavailable);
  if (!(why instanceof DatabaseUnavailableError)) return why;
  messages.warn(`waits for the database, and answers 503 meanwhile: ${sentenceOf(why)}`);
  const close = await answerMeanwhile(flags, context, () => Promise.resolve(sentenceOf(why)));
  try {
    for (let pauseMs = firstPauseMs; why instanceof DatabaseUnavailableError;) {
      await clock.sleep(pauseMs, signal);
      pauseMs = Math.min(2 * pauseMs, longestPauseMs);
      why = await open().catch(unavailable);
    }
    messages.say('the database answers');
    return why;
  } finally {
    await close();
  }
}

function unavailable(error: unknown): DatabaseUnavailableError {
  if (error instanceof DatabaseUnavailableError) return error;
  throw error;
}

/** On the addresses that the receiver will have; a port that the system chooses is not known to anybody yet. */
async function answerMeanwhile(
  { host, port, admin, ...flags }: ListenOptions,
  context: WaitingContext,
  whyNot: () => Promise<string>,
): Promise<() => Promise<void>> {
  const { clock, messages } = context;
  const onError = (error: unknown): void => messages.note('waiting', sentenceOf(error));
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
      const metrics = () => Promise.resolve([gauge(inboxUp, 0)]);
      const options = { ...admin, addressOption: 'admin', readiness: { whyNot }, metrics, clock, onError };
      servers.push(await openAdminServer(options));
    }
  } catch (error) {
    await close();
    throw error;
  }
  return close;
}
