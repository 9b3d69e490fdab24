import { healthOf } from './health/alive.ts';
import { isAcknowledged } from './delivery/valid-delivery.ts';
import { type Probe, skipped, type Stage } from './check-probe.ts';
import { type ProbeReport, runOne, type RunOptions, withinTime } from './run-one.ts';

/** At the same time: enough to wait for slow answers together, and few enough for a small server. */
const usualWidth = 8;

/** Of a first answer: a receiver that takes longer is asked everything at once, or the run would take minutes. */
const slowMs = 2000;

/** Runs the probes stage by stage, and gives their reports in the order of `probes`. */
export async function runProbes(probes: readonly Probe[], options: RunOptions): Promise<ProbeReport[]> {
  const reports = new Map<Probe, ProbeReport>();
  const publish = async (report: ProbeReport): Promise<void> => {
    reports.set(report.probe, report);
    await options.onReport(report);
  };
  const ofStage = (stage: Stage): Probe[] => probes.filter((probe) => (probe.stage ?? 'together') === stage);
  let firstMs = 0;
  /** Why a probe that needs a receiver which takes genuine leads says nothing. */
  let unacknowledged: string | undefined;

  const run = (probe: Probe): Promise<ProbeReport> => {
    const reason = reasonToSkip(probe, options, unacknowledged);
    return reason === undefined ? runOne(probe, options) : Promise.resolve(withReason(probe, reason));
  };
  for (const probe of ofStage('first')) {
    const report = await run(probe);
    await publish(report);
    const { exchange } = report.finding;
    firstMs = report.ms;
    if (exchange !== undefined && !isAcknowledged(exchange)) {
      unacknowledged = `no genuine delivery is acknowledged (${probe.name})`;
    }
  }
  const together = ofStage('together').sort((a, b) => Number(b.isSlow ?? false) - Number(a.isSlow ?? false));
  const width = firstMs > slowMs ? together.length : usualWidth;
  await atMost(width, together, async (probe) => publish(await run(probe)));
  const withLead = options.mayWrite && unacknowledged === undefined;
  let death = ofStage('alone').some((probe) => reasonToSkip(probe, options, unacknowledged) === undefined)
    ? await deathOf(options, withLead)
    : undefined;
  for (const probe of ofStage('alone')) {
    const report = death === undefined ? await run(probe) : withReason(probe, death);
    const survival =
      report.finding.result === 'skip' ? report : await seenToSurvive(report, options, withLead);
    if (survival !== report && survival.finding.seen !== restarted) {
      death = `${survival.finding.seen} since ${probe.name}`;
    }
    await publish(survival);
  }
  for (const probe of ofStage('last')) await publish(await run(probe));
  return probes.flatMap((probe) => reports.get(probe) ?? []);
}

const restarted = 'the receiver was away, and came back';

const deaths = {
  dead: 'the receiver no longer answers',
  failing: 'the receiver answers a genuine lead with an error',
} as const;

/** Asked before the first probe that may stop the receiver, so that it is not blamed for what was so before. */
async function deathOf(options: RunOptions, withLead: boolean): Promise<string | undefined> {
  const health = await withinTime(options, (session) => healthOf(session, withLead));
  return health === 'dead' || health === 'failing' ? deaths[health] : undefined;
}

/** The report, or one that says what the probe did to the receiver; `withLead`: it takes genuine leads. */
async function seenToSurvive(
  report: ProbeReport,
  options: RunOptions,
  withLead: boolean,
): Promise<ProbeReport> {
  const health = await withinTime(options, (session) => healthOf(session, withLead));
  if (health === undefined || health === 'alive') return report;
  const seen = health === 'restarted' ? restarted : deaths[health];
  return { ...report, finding: { ...report.finding, result: 'fail', seen } };
}

function reasonToSkip(
  probe: Probe,
  { session, mayWrite }: RunOptions,
  unacknowledged: string | undefined,
): string | undefined {
  const reason = probe.inapplicable?.(session);
  if (reason !== undefined) return reason;
  if (!mayWrite && probe.isHarmless !== true)
    return 'it stores leads, or may stop a weak receiver: --allow-writes';
  return probe.needsAcknowledgement === true ? unacknowledged : undefined;
}

const withReason = (probe: Probe, reason: string): ProbeReport => ({
  probe,
  finding: skipped(reason),
  ms: 0,
  isCut: false,
});

async function atMost<T>(
  width: number,
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  const rest = [...items];
  const worker = async (): Promise<void> => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, worker));
}
