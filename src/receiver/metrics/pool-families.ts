import type { ConnectionPool } from '../../inbox/inbox-monitor.ts';
import { gauge, type MetricFamily } from '../../output/openmetrics/metric-family.ts';

/** The connections to a store on another machine. */
export const poolFamilies = ({ open, busy, waiting, errors }: ConnectionPool): MetricFamily[] => [
  gauge({ name: 'leads_inbox_connections', help: 'Connections to the database.' }, [
    [{ state: 'busy' }, busy],
    [{ state: 'idle' }, Math.max(0, open - busy)],
  ]),
  gauge({ name: 'leads_inbox_waiting', help: 'Statements that wait for a connection.' }, waiting),
  {
    name: 'leads_inbox_connection_errors',
    type: 'counter',
    help: 'Connections and statements that failed.',
    samples: [{ suffix: '_total', labels: {}, value: errors }],
  },
];
