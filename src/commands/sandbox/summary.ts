import type { Attempt } from '../../sandbox/deliveries/attempt.ts';
import type { LoggedRequest } from '../../sandbox/api/request-log.ts';
import type { SandboxState } from '../../sandbox/state.ts';

/** What the sandbox did, as a record. */
export function summaryRecord({ leads, requests, deliveries, apiChaos, deliveryChaos }: SandboxState) {
  return {
    type: 'summary',
    leads: leads.size,
    requests: requests.total,
    attempts: deliveries.attempts.length,
    acknowledged: deliveries.acknowledged,
    pending: deliveries.pending,
    faults: {
      api: Object.fromEntries(apiChaos.injected),
      deliveries: Object.fromEntries(deliveryChaos.injected),
    },
  };
}

/** The same as one line. */
export function summary(done: ReturnType<typeof summaryRecord>): string {
  const { leads, requests, attempts, acknowledged, pending } = done;
  const parts = [
    counted(leads, 'lead'),
    counted(requests, 'request'),
    ...(attempts > 0 ? [`${acknowledged} acknowledged in ${counted(attempts, 'attempt')}`] : []),
    ...(pending > 0 ? [`${pending} still pending`] : []),
  ];
  const injected = [...Object.entries(done.faults.api), ...Object.entries(done.faults.deliveries)];
  const faults = injected.map(([name, times]) => `${name} ${times}`).join(', ');
  return `sandbox: ${parts.join(', ')}${faults === '' ? '' : `; faults: ${faults}`}`;
}

export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

/** One request or one attempt, for `--verbose`. */
export function line(happened: LoggedRequest | Attempt): string {
  const faults = happened.faults.length === 0 ? '' : ` (${happened.faults.join(', ')})`;
  if ('method' in happened) {
    const { method, target, status, leads } = happened;
    return `${method} ${target}: ${status ?? 'reset'}, ${counted(leads, 'lead')}${faults}`;
  }
  const { leadId, attempt, target, outcome, status, error, durationMs } = happened;
  const answer = status ?? error ?? '';
  return `POST ${target} ${leadId} attempt ${attempt}: ${outcome} ${answer} in ${durationMs} ms${faults}`;
}
