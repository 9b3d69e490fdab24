import { UsageError } from '../errors.ts';
import { formatDuration } from '../time/time-text.ts';
import { slept } from '../time/clock.ts';
import { canForge } from '../sender/forge-request.ts';
import { hasSignature, withoutCredential } from './credential.ts';
import { type Finding, groupOf, isAcknowledged, type Probe, type Requirement, skipped } from './probe.ts';
import { answerProbes } from './probes/answers.ts';
import { bodyProbes } from './probes/body.ts';
import { credentialProbes } from './probes/credential.ts';
import { deliveryProbes, repeatProbes, validDelivery } from './probes/delivery.ts';
import { protocolProbes } from './probes/protocol.ts';
import type { CheckSession } from './session.ts';

/** Every probe, in the order in which they are shown: group by group. */
export const probes: readonly Probe[] = [
  ...deliveryProbes,
  ...credentialProbes,
  ...repeatProbes,
  ...bodyProbes,
  ...protocolProbes,
  ...answerProbes,
];

/** A probe with its finding. */
export interface ProbeReport {
  readonly probe: Probe;
  readonly finding: Finding;
  /** In milliseconds; 0 when it was skipped. */
  readonly ms: number;
  /** It was skipped because other probes had taken the time of the whole run. */
  readonly isCut: boolean;
}

interface RunOptions {
  readonly session: CheckSession;
  /** Leads may be stored by the receiver. */
  readonly mayWrite: boolean;
  /** Whether the time of the whole run is up; the session's own signal is then aborted. */
  readonly isOver: () => boolean;
  /** The user's: work ends with its reason. */
  readonly signal: AbortSignal;
  readonly onReport: (report: ProbeReport) => void;
}

/** Enough probes at the same time to wait for slow answers together, and few enough for a small server. */
const usualWidth = 8;

/** A receiver whose first answer takes longer, in ms, is asked everything at once, or the run would take minutes. */
const slowMs = 2000;

/** Runs light probes together, heavy ones one by one, then the last ones; the reports are in the order of `selected`. */
export async function runProbes(
  selected: readonly Probe[],
  options: RunOptions,
): Promise<readonly ProbeReport[]> {
  const { session, mayWrite, isOver, signal, onReport } = options;
  const reports = new Map<Probe, ProbeReport>();
  let unacknowledged: string | undefined;
  const obstacle = (probe: Probe): string | undefined =>
    unmetRequirement(probe, session) ??
    (mayWrite || probe.isHarmless === true
      ? undefined
      : 'it stores leads, or may stop a weak receiver: --allow-writes') ??
    (probe.isIndependent === true ? undefined : unacknowledged);
  const add = (report: ProbeReport): ProbeReport => {
    reports.set(report.probe, report);
    onReport(report);
    return report;
  };
  const skip = (probe: Probe, reason: string, isCut = false): ProbeReport =>
    add({ probe, finding: skipped(reason), ms: 0, isCut });
  const run = async (probe: Probe, judge = findingOf): Promise<ProbeReport> => {
    const reason = obstacle(probe);
    if (reason !== undefined) return skip(probe, reason);
    const startedAt = session.clock.steady();
    const mayRun = (): boolean => probe.isReview === true || !isOver();
    const finding = mayRun() ? await judge(probe, session) : undefined;
    signal.throwIfAborted();
    if (finding === undefined || !mayRun()) return skip(probe, 'the time of the whole run was up', true);
    // A probe of level `info` never counts as a failure.
    const result = probe.level === 'info' && finding.result === 'fail' ? 'warn' : finding.result;
    const ms = Math.round(session.clock.steady() - startedAt);
    return add({ probe, finding: { ...finding, result }, ms, isCut: false });
  };

  let firstMs = 0;
  if (selected.includes(validDelivery)) {
    const { finding, ms } = await run(validDelivery);
    firstMs = ms;
    if (finding.exchange !== undefined && !isAcknowledged(finding.exchange))
      unacknowledged = `no genuine delivery is acknowledged (${validDelivery.name})`;
  }
  const light = selected.filter((probe) => probe !== validDelivery && !probe.isHeavy && !probe.isLast);
  await atMost(firstMs > slowMs ? light.length : usualWidth, light, run);

  const heavy = selected.filter(({ isHeavy }) => isHeavy);
  const withLead = mayWrite && unacknowledged === undefined;
  // The first look comes before the first probe that may stop the receiver, which is not blamed for an earlier end.
  const isAsked = heavy.some((probe) => obstacle(probe) === undefined) && !isOver();
  let ended = isAsked ? failureOf(await healthOf(session, withLead)) : undefined;
  signal.throwIfAborted();
  for (const probe of heavy) {
    if (ended !== undefined) skip(probe, ended);
    else {
      await run(probe, async () => {
        const finding = await findingOf(probe, session);
        const health = await healthOf(session, withLead);
        ended = failureOf(health, probe.name);
        const failure =
          failureOf(health) ?? (health === 'restarted' ? 'the receiver was away, and came back' : undefined);
        return failure === undefined ? finding : { ...finding, result: 'fail', seen: failure };
      });
    }
  }
  for (const probe of selected.filter(({ isLast }) => isLast)) await run(probe);
  return selected.flatMap((probe) => reports.get(probe) ?? []);
}

/** Why a requirement is not met; undefined where it is. */
const obstacles: Readonly<Record<Requirement, (session: CheckSession) => string | false>> = {
  credential: ({ signer }) => signer.key === undefined && 'no credential is sent (--no-verify)',
  signature: (session) =>
    !hasSignature(session) && `the scheme '${session.signer.scheme.name}' signs nothing`,
  time: ({ signer: { scheme, key } }) =>
    (key === undefined || scheme.toleranceMs === undefined) && `the scheme '${scheme.name}' sends no time`,
  nonce: ({ signer }) =>
    (signer.key === undefined || !canForge(signer, 'reusedNonce')) &&
    `the scheme '${signer.scheme.name}' has no nonce`,
  oracle: ({ oracle }) => oracle === undefined && 'it needs --oracle',
  tls: ({ endpoint }) => !endpoint.isSecure && 'the URL is plain HTTP',
  direct: ({ endpoint }) => endpoint.proxy !== undefined && 'the receiver is reached through a proxy',
};

/** Why the probe does not apply here; undefined where it does. */
function unmetRequirement({ requires = [] }: Probe, session: CheckSession): string | undefined {
  for (const requirement of requires) {
    const obstacle = obstacles[requirement](session);
    if (obstacle !== false) return obstacle;
  }
  return undefined;
}

async function findingOf(probe: Probe, session: CheckSession): Promise<Finding> {
  try {
    return await probe.run(session);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const { signal, timeoutMs } = session.wire;
    if (signal.aborted) return { result: 'fail', seen: `it took longer than ${formatDuration(timeoutMs)}` };
    if (code === undefined || !/^(E[A-Z]+$|ERR_SSL|ERR_TLS|CERT_|UNABLE_)/.test(code)) throw error;
    return { result: 'fail', seen: `the connection failed (${code})` };
  }
}

async function atMost<T>(
  width: number,
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const waiting = [...items];
  const worker = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, worker));
}

/** The state of a receiver after a request that may have stopped it; `failing`: it answers a genuine lead with 5xx. */
type Health = 'alive' | 'restarted' | 'failing' | 'dead';

/** `since` is the probe that did it. */
function failureOf(health: Health, since?: string): string | undefined {
  const suffix = since === undefined ? '' : ` since ${since}`;
  if (health === 'dead') return `the receiver no longer answers${suffix}`;
  return health === 'failing' ? `the receiver answers a genuine lead with an error${suffix}` : undefined;
}

/** For a supervisor to restart a receiver that crashed, in milliseconds. */
const patienceMs = 3000;
const betweenMs = 250;

/**
 * Asks for a few seconds until the answer is no 5xx, which a proxy gives for a receiver that is away. With `withLead` it
 * sends a genuine lead; otherwise nothing that a receiver which takes unsigned deliveries could store.
 */
async function healthOf(session: CheckSession, withLead: boolean): Promise<Health> {
  const { clock, wire } = session;
  const until = clock.steady() + patienceMs;
  for (let health: Health = 'alive'; ; health = 'restarted') {
    const { answer } = await session.send(
      withLead
        ? session.deliveryOf(session.newLead())
        : withoutCredential(session, session.deliveryOfBody('')),
    );
    if (answer.answered && answer.status < 500) return health;
    // Without a lead, any answer shows that it lives.
    if (answer.answered && !withLead) return health;
    const end = answer.answered ? 'failing' : 'dead';
    // A receiver that takes the whole time for one answer is not asked again.
    if (clock.steady() > until || wire.signal.aborted) return end;
    if (!(await slept(clock, betweenMs, wire.signal))) return end;
  }
}

/**
 * The probes whose names, or groups, match one of `only` (all without any) and none of `skip`. In a pattern, `*` stands
 * for any characters and `?` for one. Throws a `UsageError` for a pattern that matches nothing, and when none is left.
 */
export function selectProbes(only: readonly string[], skip: readonly string[]): readonly Probe[] {
  const matching = (option: string, patterns: readonly string[]): ReadonlySet<Probe> =>
    new Set(
      patterns.flatMap((pattern) => {
        const expression = globExpression(pattern);
        const matches = probes.filter(
          (probe) => expression.test(probe.name) || expression.test(groupOf(probe)),
        );
        if (matches.length > 0) return matches;
        throw new UsageError(`--${option} '${pattern}' matches no probe`, {
          hint: "'leads check --list' shows their names",
        });
      }),
    );
  const included = matching('only', only);
  const excluded = matching('skip', skip);
  const selected = probes.filter(
    (probe) => (only.length === 0 || included.has(probe)) && !excluded.has(probe),
  );
  if (selected.length > 0) return selected;
  throw new UsageError('--only and --skip leave no probe');
}

function globExpression(pattern: string): RegExp {
  const escaped = pattern.replace(/[^\w*?]/g, String.raw`\$&`);
  return new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`);
}
