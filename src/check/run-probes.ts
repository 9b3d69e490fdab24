import { UsageError } from '../errors.ts';
import { canForge } from '../sender/forge-request.ts';
import { type Finding, groupOf, isAcknowledged, type Probe, type Requirement, skipped } from './probe.ts';
import { answerProbes } from './probes/answers.ts';
import { bodyProbes } from './probes/body.ts';
import { credentialProbes } from './probes/credential.ts';
import { repeatProbes, validDelivery } from './probes/delivery.ts';
import { protocolProbes } from './probes/protocol.ts';
import type { CheckSession } from './session.ts';

export const probes: readonly Probe[] = [
  validDelivery,
  ...credentialProbes,
  ...repeatProbes,
  ...bodyProbes,
  ...protocolProbes,
  ...answerProbes,
];

export interface ProbeReport {
  readonly probe: Probe;
  readonly finding: Finding;
  readonly ms: number;
  /** It was skipped because other probes had taken the time of the whole run. */
  readonly isCut: boolean;
}

interface RunOptions {
  readonly session: CheckSession;
  /** Whether the time of the whole run is up, which skips probes. The session's own signal is then aborted, and ends requests. */
  readonly isOver: () => boolean;
  /** It is aborted when the user interrupts: then `runProbes` throws, and there is no report. */
  readonly signal: AbortSignal;
  readonly onReport: () => void;
}

/** A receiver whose first answer takes longer, in ms, is asked everything at once, or the run would take minutes. */
const slowMs = 2000;

/** Runs the probes phase by phase; the reports are in the order of `selected`. */
export async function runProbes(
  selected: readonly Probe[],
  { session, isOver, signal, onReport }: RunOptions,
): Promise<readonly ProbeReport[]> {
  const reports = new Map<Probe, ProbeReport>();
  let unacknowledged: string | undefined;
  const findingInTime = async (probe: Probe): Promise<Finding | undefined> => {
    const reason = obstacleTo(probe, session) ?? (probe.isIndependent === true ? undefined : unacknowledged);
    if (reason !== undefined) return skipped(reason);
    // A review sends nothing: it judges the answers that came in time.
    const isTimeUp = (): boolean => probe.phase !== 'review' && isOver();
    if (isTimeUp()) return undefined;
    const finding = await findingOf(probe, session);
    // The end of the time aborts requests, so that the finding may be about them and not about the receiver.
    return isTimeUp() ? undefined : finding;
  };
  const run = async (probe: Probe): Promise<ProbeReport> => {
    const startedAt = session.clock.steady();
    const outcome = await findingInTime(probe);
    signal.throwIfAborted();
    const isCut = outcome === undefined;
    const finding = outcome ?? skipped('the time of the whole run was up');
    // A probe of level `info` never counts as a failure.
    const result = probe.level === 'info' && finding.result === 'fail' ? 'warn' : finding.result;
    const ms = result === 'skip' ? 0 : Math.round(session.clock.steady() - startedAt);
    const report = { probe, finding: { ...finding, result }, ms, isCut };
    reports.set(probe, report);
    onReport();
    return report;
  };

  // It runs first and alone: the others depend on how long the receiver takes, and on whether it acknowledges.
  if (selected.includes(validDelivery)) {
    const { finding, ms } = await run(validDelivery);
    if (ms > slowMs) session.mostOpen = Infinity;
    if (finding.exchange !== undefined && !isAcknowledged(finding.exchange))
      unacknowledged = `no genuine delivery is acknowledged (${validDelivery.name})`;
  }
  const inPhase = (phase: Probe['phase']): readonly Probe[] =>
    selected.filter((probe) => probe !== validDelivery && probe.phase === phase);
  await Promise.all(inPhase(undefined).map(run));
  for (const probe of [...inPhase('alone'), ...inPhase('end'), ...inPhase('review')]) await run(probe);
  return selected.flatMap((probe) => reports.get(probe) ?? []);
}

const obstacles: Readonly<Record<Requirement, (session: CheckSession) => string | false>> = {
  credential: ({ signer }) => signer.key === undefined && 'no credential is sent (--no-verify)',
  time: ({ signer: { scheme, key } }) =>
    (key === undefined || scheme.toleranceMs === undefined) && `the scheme '${scheme.name}' sends no time`,
  nonce: ({ signer }) =>
    (signer.key === undefined || !canForge(signer, 'reusedNonce')) &&
    `the scheme '${signer.scheme.name}' has no nonce`,
  oracle: ({ oracle }) => oracle === undefined && 'it needs --oracle',
  tls: ({ endpoint }) => !endpoint.isSecure && 'the URL is plain HTTP',
  direct: ({ endpoint }) => endpoint.proxy !== undefined && 'the receiver is reached through a proxy',
};

const obstacleTo = (
  { requires = [], isHarmless = false }: Probe,
  session: CheckSession,
): string | undefined =>
  requires
    .map((requirement) => obstacles[requirement](session))
    .find((obstacle): obstacle is string => obstacle !== false) ??
  (session.mayWrite || isHarmless
    ? undefined
    : 'it stores leads, or may stop a weak receiver: --allow-writes');

async function findingOf(probe: Probe, session: CheckSession): Promise<Finding | undefined> {
  try {
    return await probe.run(session);
  } catch (error) {
    if (session.wire.signal.aborted) return undefined;
    throw error;
  }
}

/**
 * The probes whose names, or groups, match one of `only` (all without any) and none of `skip`. In a pattern, `*` stands
 * for any characters and `?` for one. Throws a `UsageError` for a pattern that matches nothing, and when none is left.
 */
export function selectProbes(only: readonly string[], skip: readonly string[]): readonly Probe[] {
  const matching = (option: string, patterns: readonly string[]): readonly Probe[] =>
    patterns.flatMap((pattern) => {
      const escaped = pattern.replace(/[^\w*?]/g, String.raw`\$&`);
      const expression = new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`);
      const matches = probes.filter((probe) =>
        [probe.name, groupOf(probe)].some((name) => expression.test(name)),
      );
      if (matches.length > 0) return matches;
      throw new UsageError(`--${option} '${pattern}' matches no probe`, {
        hint: "'leads check --list' shows their names",
      });
    });
  const included = only.length === 0 ? probes : matching('only', only);
  const excluded = matching('skip', skip);
  const selected = probes.filter((probe) => included.includes(probe) && !excluded.includes(probe));
  if (selected.length > 0) return selected;
  throw new UsageError('--only and --skip leave no probe');
}
