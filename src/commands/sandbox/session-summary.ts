import type { LoggedRequest } from '../../sandbox/api/request-log.ts';
import type { RecordedAttempt } from '../../sandbox/deliveries/recorded-attempt.ts';
import type { SandboxState } from '../../sandbox/sandbox-state.ts';

/** What the sandbox did, as a record. */
export function summaryRecord({ leads, requests, deliveries, apiInjector, deliveryInjector }: SandboxState) {
  return {
    type: 'summary',
    leads: leads.size,
    requests: requests.total,
    attempts: deliveries.attempts.length,
    acknowledged: deliveries.acknowledged,
    pending: deliveries.pending,
    faults: {
      api: Object.fromEntries(apiInjector.injected),
      deliveries: Object.fromEntries(deliveryInjector.injected),
    },
  };
}

/** The same as one line. */
export function summaryLine(record: ReturnType<typeof summaryRecord>): string {
  const { leads, requests, attempts, acknowledged, pending } = record;
  const parts = [
    counted(leads, 'lead'),
    counted(requests, 'request'),
    ...(attempts > 0 ? [`${acknowledged} acknowledged in ${counted(attempts, 'attempt')}`] : []),
    ...(pending > 0 ? [`${pending} still pending`] : []),
  ];
  const injected = [...Object.entries(record.faults.api), ...Object.entries(record.faults.deliveries)];
  const faults = injected.map(([name, times]) => `${name} ${times}`).join(', ');
  return `sandbox: ${parts.join(', ')}${faults === '' ? '' : `; faults: ${faults}`}`;
}

export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** One request or one attempt, for `--verbose`. */
export function eventLine(event: LoggedRequest | RecordedAttempt): string {
  const faults = event.faults.length === 0 ? '' : ` (${event.faults.join(', ')})`;
  if ('method' in event) {
    const { method, target, status, leads } = event;
    return `${method} ${target}: ${status ?? 'reset'}, ${counted(leads, 'lead')}${faults}`;
  }
  const { leadId, attempt, target, outcome, status, error, durationMs } = event;
  const answer = status ?? error ?? '';
  return `POST ${target} ${leadId} attempt ${attempt}: ${outcome} ${answer} in ${durationMs} ms${faults}`;
}
