import { UsageError } from '../errors.ts';
import { canForge } from '../sender/forge-request.ts';
import { type Finding, groupOf, type Probe, type Requirement, skipped } from './probe.ts';
import { healthProbes, validDelivery } from './probes/acknowledgement.ts';
import { bodyProbes } from './probes/body.ts';
import { credentialProbes } from './probes/credential.ts';
import { dedupeProbes } from './probes/dedupe.ts';
import { leakProbes } from './probes/leak.ts';
import { protocolProbes, tlsProbes } from './probes/protocol.ts';
import { replayProbes, timeProbes } from './probes/replay.ts';
import { type CheckSession, isAcknowledged } from './session.ts';

export const probes: readonly Probe[] = [
  validDelivery,
  ...credentialProbes,
  ...timeProbes,
  ...replayProbes,
  ...dedupeProbes,
  ...bodyProbes,
  ...protocolProbes,
  ...tlsProbes,
  ...leakProbes,
  ...healthProbes,
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
  options: RunOptions,
): Promise<readonly ProbeReport[]> {
  const { session, signal, onReport } = options;
  const reports = new Map<Probe, ProbeReport>();
  let unacknowledged: string | undefined;
  const run = async (probe: Probe): Promise<ProbeReport> => {
    const obstacle =
      obstacleTo(probe, session) ?? (probe.isIndependent === true ? undefined : unacknowledged);
    const report = await reportOn(probe, obstacle, options);
    signal.throwIfAborted();
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

async function reportOn(
  probe: Probe,
  obstacle: string | undefined,
  { session, isOver }: RunOptions,
): Promise<ProbeReport> {
  const startedAt = session.clock.steady();
  const outcome = obstacle === undefined ? await findingInTime(probe, session, isOver) : skipped(obstacle);
  const finding = outcome ?? skipped('the time of the whole run was up');
  // A probe of level `info` never counts as a failure.
  const result = probe.level === 'info' && finding.result === 'fail' ? 'warn' : finding.result;
  const ms = result === 'skip' ? 0 : Math.round(session.clock.steady() - startedAt);
  return { probe, finding: { ...finding, result }, ms, isCut: outcome === undefined };
}

/** Undefined where the time of the whole run is up: its end aborts requests, so a finding may not be about the receiver. */
async function findingInTime(
  probe: Probe,
  session: CheckSession,
  isOver: () => boolean,
): Promise<Finding | undefined> {
  // A review sends nothing: it judges the answers that came in time.
  const isTimeUp = (): boolean => probe.phase !== 'review' && isOver();
  if (isTimeUp()) return undefined;
  try {
    const finding = await probe.run(session);
    return isTimeUp() ? undefined : finding;
  } catch (error) {
    if (session.wire.signal.aborted) return undefined;
    throw error;
  }
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

function obstacleTo({ requires = [], isHarmless = false }: Probe, session: CheckSession): string | undefined {
  const unmet = requires.map((requirement) => obstacles[requirement](session)).find((text) => text !== false);
  if (unmet !== undefined) return unmet;
  if (session.mayWrite || isHarmless) return undefined;
  return 'it stores leads, or may stop a weak receiver: --allow-writes';
}

/**
 * The probes whose names, or groups, match one of `only` (all without any) and none of `skip`. In a pattern, `*` stands
 * for any characters and `?` for one. Throws a `UsageError` for a pattern that matches nothing, and when none is left.
 */
export function selectProbes(only: readonly string[], skip: readonly string[]): readonly Probe[] {
  const included = only.length === 0 ? probes : only.flatMap((pattern) => matching('only', pattern));
  const excluded = skip.flatMap((pattern) => matching('skip', pattern));
  const selected = probes.filter((probe) => included.includes(probe) && !excluded.includes(probe));
  if (selected.length > 0) return selected;
  throw new UsageError('--only and --skip leave no probe');
}

function matching(option: string, pattern: string): readonly Probe[] {
  const escaped = pattern.replace(/[^\w*?]/g, String.raw`\$&`);
  const expression = new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`);
  const matches = probes.filter((probe) => expression.test(probe.name) || expression.test(groupOf(probe)));
  if (matches.length > 0) return matches;
  throw new UsageError(`--${option} '${pattern}' matches no probe`, {
    hint: "'leads check --list' shows their names",
  });
}
