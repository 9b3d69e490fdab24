import { counted, grouped } from '../../../output/terminal/progress.ts';
import type { DeliveryRunResult } from '../../../sender/delivery-run.ts';
import type { Percentiles } from '../../../sender/latency-histogram.ts';
import type { RunTally } from '../../../sender/run-tally.ts';
import { formatDuration } from '../../../time/duration.ts';
import { formatLatency } from './attempt-line.ts';

interface SendSummary {
  readonly openLoop: boolean;
  /** Leads times repeats, as far as they were started. */
  readonly deliveries: number;
  readonly attempts: number;
  readonly acknowledged: number;
  readonly failed: number;
  readonly byStatus: Readonly<Record<string, number>>;
  readonly latencyMs: Percentiles | null;
  readonly serviceMs: Percentiles | null;
  /** Deliveries a second. */
  readonly achievedRate: number;
  readonly late: number;
}

/** What a run did; its fields are public. */
export function sendSummary(
  tally: RunTally,
  { started, late, elapsedMs }: DeliveryRunResult,
  openLoop: boolean,
): SendSummary {
  const { attempts, acknowledged, failed, byStatus, latency, service } = tally;
  return {
    openLoop,
    deliveries: started,
    attempts,
    acknowledged,
    failed,
    byStatus: Object.fromEntries([...byStatus].sort(([, a], [, b]) => b - a)),
    latencyMs: latency.percentiles() ?? null,
    serviceMs: service.percentiles() ?? null,
    achievedRate: Math.round((started * 1_000_000) / Math.max(elapsedMs, 1)) / 1000,
    late,
  };
}

/** The same for a person, in a few lines. */
export function summaryLines(summary: SendSummary, elapsedMs: number): string[] {
  const { openLoop, deliveries, attempts, acknowledged, failed, achievedRate, late } = summary;
  const unsettled = deliveries - acknowledged - failed;
  const parts = [
    `${grouped(acknowledged)} of ${counted(deliveries, 'delivery', 'deliveries')} acknowledged`,
    ...(attempts > deliveries ? [`in ${counted(attempts, 'attempt', 'attempts')}`] : []),
    ...(unsettled > 0 ? [`${grouped(unsettled)} cut off`] : []),
    `in ${formatDuration(elapsedMs)}`,
    ...(deliveries > 1 ? [`${rateText(achievedRate)}/s, ${openLoop ? 'open' : 'closed'} loop`] : []),
  ];
  const statuses = Object.entries(summary.byStatus).map(([status, count]) => `${status} × ${grouped(count)}`);
  return [
    parts.join(', ').replace(', in', ' in'),
    ...(statuses.length === 0 ? [] : [`status   ${statuses.join(', ')}`]),
    ...percentileLine('latency', summary.latencyMs, openLoop ? ', from the intended start' : ''),
    ...(openLoop ? percentileLine('service', summary.serviceMs, ', from the real one') : []),
    ...(openLoop ? [`late     ${grouped(late)} waited for a free slot`] : []),
  ];
}

function percentileLine(name: string, values: Percentiles | null, remark: string): string[] {
  if (values === null) return [];
  const { p50, p90, p99, max } = values;
  const shown = Object.entries({ p50, p90, p99, max }).map(([key, ms]) => `${key} ${formatLatency(ms)}`);
  return [`${name}  ${shown.join('  ')}${remark}`];
}

const rateText = (rate: number): string => (rate < 10 ? rate.toFixed(1) : grouped(Math.round(rate)));
