import type { Backlog } from '../../inbox/inbox-monitor.ts';
import { targetLabel } from '../../inbox/target-name.ts';
import { gauge, type MetricFamily } from '../../output/openmetrics/metric-family.ts';

/** For all targets of other runs together: they may be many. */
const otherTargets = 'other';

/** Leads that wait for each target of this run, none included, and the age of the oldest. `targets`: their names. */
export function backlogFamilies(
  backlog: readonly Backlog[],
  targets: readonly string[],
  now: number,
): MetricFamily[] {
  const found = new Map<string, Omit<Backlog, 'target'>>();
  for (const label of [...targets.map(targetLabel), otherTargets]) {
    found.set(label, { leads: 0, oldestAt: Number.POSITIVE_INFINITY });
  }
  for (const { target, leads, oldestAt } of backlog) {
    const label = target !== undefined && found.has(target) ? target : otherTargets;
    const before = found.get(label);
    found.set(label, {
      leads: (before?.leads ?? 0) + leads,
      oldestAt: Math.min(before?.oldestAt ?? oldestAt, oldestAt),
    });
  }
  const waiting = [...found].map(([target, { leads, oldestAt }]) => ({
    labels: { target },
    leads,
    seconds: leads === 0 ? 0 : Math.max(0, now - oldestAt) / 1000,
  }));
  return [
    gauge(
      {
        name: 'leads_pending',
        help: "Leads that a target has not had; 'other' are targets of other runs.",
      },
      waiting.map(({ labels, leads }) => [labels, leads]),
    ),
    gauge(
      {
        name: 'leads_pending_oldest_age_seconds',
        unit: 'seconds',
        help: 'Since the oldest of them was first received; 0 when there is none.',
      },
      waiting.map(({ labels, seconds }) => [labels, seconds]),
    ),
  ];
}
