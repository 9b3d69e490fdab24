import type { Attempt } from '../../sandbox/deliveries/truth.ts';
import type { LoggedRequest } from '../../sandbox/request-log.ts';
import type { SandboxState } from '../../sandbox/state.ts';

/** One line on what the sandbox did. */
export function summary(state: SandboxState): string {
  const { requests, deliveries, leads } = state;
  const { pending } = deliveries;
  const parts = [
    `${leads.size} leads`,
    `${requests.total} requests`,
    ...(deliveries.attempts.length + pending > 0
      ? [
          `${deliveries.acknowledged} acknowledged in ${deliveries.attempts.length} attempts`,
          ...(pending > 0 ? [`${pending} still pending`] : []),
        ]
      : []),
  ];
  const injected = [...state.apiChaos.injected, ...state.deliveryChaos.injected];
  const faults = injected.map(([name, times]) => `${name} ${times}`).join(', ');
  return `sandbox: ${parts.join(', ')}${faults === '' ? '' : `; faults: ${faults}`}`;
}

/** One request or one attempt, for `--verbose`. */
export function line(happened: LoggedRequest | Attempt): string {
  const faults = happened.faults.length === 0 ? '' : ` (${happened.faults.join(', ')})`;
  if ('method' in happened) {
    const { method, target, status, leads } = happened;
    return `${method} ${target}: ${status ?? 'reset'}, ${leads} leads${faults}`;
  }
  const { leadId, attempt, target, outcome, status, error, durationMs } = happened;
  const answer = status ?? error ?? '';
  return `POST ${target} ${leadId} attempt ${attempt}: ${outcome} ${answer} in ${durationMs} ms${faults}`;
}
