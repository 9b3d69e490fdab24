import { gauge, type MetricFamily } from '../../output/openmetrics/metric-family.ts';

/** What a process has used; it starts at some time in milliseconds since the epoch. */
export interface ResourceUsage {
  readonly startedAt: number;
  /** User and system time. */
  readonly cpuSeconds: number;
  readonly residentBytes: number;
  readonly heapBytes: number;
}

/** Under the names that every Prometheus client uses. */
export function processFamilies(usage: ResourceUsage): MetricFamily[] {
  const { startedAt, cpuSeconds, residentBytes, heapBytes } = usage;
  return [
    {
      name: 'process_cpu_seconds',
      type: 'counter',
      unit: 'seconds',
      help: 'User and system time.',
      samples: [{ suffix: '_total', labels: {}, value: cpuSeconds }],
    },
    gauge(
      { name: 'process_resident_memory_bytes', unit: 'bytes', help: 'Memory that the process takes.' },
      residentBytes,
    ),
    gauge({ name: 'nodejs_heap_size_used_bytes', unit: 'bytes', help: 'JavaScript heap in use.' }, heapBytes),
    gauge(
      { name: 'process_start_time_seconds', unit: 'seconds', help: 'When it started, since the epoch.' },
      startedAt / 1000,
    ),
  ];
}
