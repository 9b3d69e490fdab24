import type { Context } from '../../context.ts';
import { messageOf } from '../../errors.ts';
import type { Inbox } from '../../inbox/inbox.ts';
import { gauge, type MetricFamily } from '../../output/openmetrics.ts';
import { isLoopbackAddress, openAdminServer, Readiness } from '../../receiver/admin-server.ts';
import {
  BacklogCache,
  backlogFamilies,
  EventLoopDelay,
  poolFamilies,
  processFamilies,
} from '../../receiver/process-metrics.ts';
import type { ReceiverMetrics } from '../../receiver/receiver-metrics.ts';
import type { Target } from '../../receiver/targets/target.ts';
import type { AdminAddress } from './options.ts';

interface AdminParts {
  readonly address: AdminAddress;
  readonly metrics: ReceiverMetrics;
  readonly inbox: Inbox;
  readonly targets: readonly Target[];
  /** Aborted as soon as the run is to end. */
  readonly stopping: AbortSignal;
}

export interface Admin {
  readonly url: string;
  /** The server for deliveries is open. */
  serving(server: { connections(): number }): void;
  close(): Promise<void>;
}

/** Answers that are under way get so long at the end, in milliseconds. */
const lastAnswersMs = 500;

/** `--admin`: opens its socket and says where, and measures until it is closed. */
export async function startAdmin(
  { address, metrics, inbox, targets, stopping }: AdminParts,
  context: Pick<Context, 'clock' | 'messages' | 'resources'>,
): Promise<Admin> {
  const { clock, messages, resources } = context;
  const end = new AbortController();
  const delay = new EventLoopDelay();
  const readiness = new Readiness({ inbox, clock, stopping });
  const backlog = new BacklogCache(inbox, clock);
  const names = targets.map(({ name }) => name);
  let connections = (): number => 0;
  const readBacklog = async (): Promise<MetricFamily[]> => {
    try {
      return backlogFamilies(await backlog.read(), names, clock.now());
    } catch (error) {
      messages.note('backlog', `the metrics lack what is outstanding: ${messageOf(error)}`);
      return [];
    }
  };
  const server = await openAdminServer({
    ...address,
    readiness,
    clock,
    onError: (error) => messages.note('admin', `a request to --admin failed: ${messageOf(error)}`),
    metrics: async () => [
      { name: 'leads_build', type: 'info', help: 'This program.', samples: [build] },
      ...metrics.families(),
      ...(await readBacklog()),
      gauge({ name: 'leads_connections', help: 'Open connections of senders.' }, connections()),
      ...(inbox.pool === undefined ? [] : poolFamilies(inbox.pool())),
      delay.family(),
      ...processFamilies(resources()),
    ],
  });
  const measured = delay.measure(clock, end.signal);
  return {
    url: server.url,
    serving(open) {
      connections = () => open.connections();
      readiness.serving();
      messages.say(`admin on ${server.url}: /livez, /readyz, /metrics`);
      if (!isLoopbackAddress(address.host)) {
        messages.warn(`--admin is bound to ${address.host}: other machines can read its state and metrics`);
      }
    },
    async close() {
      end.abort();
      await measured;
      await server.close(lastAnswersMs);
    },
  };
}

const build = { suffix: '_info', labels: { version: LEADS_VERSION }, value: 1 } as const;
