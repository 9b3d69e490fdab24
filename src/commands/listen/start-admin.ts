import { messageOf } from '../../errors.ts';
import { isLoopbackAddress } from '../../config/base-url.ts';
import type { HttpServer } from '../../http/server/server-options.ts';
import type { MetricFamily } from '../../output/openmetrics.ts';
import { openAdminServer, readiness } from '../../receiver/admin-server.ts';
import { backlogCache, backlogFamilies, inboxUp } from '../../receiver/backlog-metrics.ts';
import type { ListenSession } from './session.ts';

/** `--admin`: opens the port for probes and metrics, and prints its address. Undefined without the flag. */
export async function startAdmin(session: ListenSession): Promise<HttpServer | undefined> {
  const { flags, context, metrics, inbox, targets, stop } = session;
  const { admin: address } = flags;
  if (address === undefined || metrics === undefined) return undefined;
  const { clock, messages } = context;
  const backlog = backlogCache(inbox, clock);
  const names = targets.map(({ name }) => name);
  const readBacklog = async (): Promise<MetricFamily[]> => {
    try {
      return [inboxUp(1), ...backlogFamilies(await backlog(), names, clock.now())];
    } catch (error) {
      messages.note('backlog', `the metrics lack what is outstanding: ${messageOf(error)}`);
      return [inboxUp(0)];
    }
  };
  const server = await openAdminServer({
    ...address,
    addressOption: 'admin',
    whyNotReady: readiness(inbox, clock, stop.stopping),
    clock,
    onError: (error) => messages.note('admin', `a request to --admin failed: ${messageOf(error)}`),
    metrics: async () => [...metrics.families(), ...(await readBacklog())],
  });
  messages.say(`admin on ${server.url}: /livez, /readyz, /metrics`);
  if (!isLoopbackAddress(address.host)) {
    messages.warn(`--admin is bound to ${address.host}: other machines can read its state and metrics`);
  }
  return server;
}
