import { UsageError } from '../errors.ts';
import { canForge } from '../sender/sign-request.ts';
import { type Finding, groupOf, type Probe, type Requirement, skipped } from './probe.ts';
import { healthProbes, validDelivery } from './probes/acknowledgement.ts';
import { credentialProbes } from './probes/credential.ts';
import { dedupeProbes, replayProbes, timeProbes } from './probes/repeats.ts';
import { leakProbe } from './probes/leak.ts';
import { bodyProbes, protocolProbes } from './probes/request-forms.ts';
import { type CheckSession, isAcknowledged } from './session.ts';

export const probes: readonly Probe[] = [
  validDelivery,
  ...credentialProbes,
  ...timeProbes,
  ...replayProbes,
  ...dedupeProbes,
  ...bodyProbes,
  ...protocolProbes,
  leakProbe,
  ...healthProbes,
];

export interface ProbeReport {
  readonly probe: Probe;
  readonly finding: Finding;
  readonly ms: number;
}

/**
 * Most probes prove nothing about a receiver that acknowledges no genuine lead, and with a wrong secret it passes every
 * probe that expects a refusal. So `validDelivery` runs first, even where it was not selected, unless nothing may be written.
 */
export const withPrecondition = (selected: readonly Probe[], mayStore: boolean): readonly Probe[] =>
  !mayStore || selected.includes(validDelivery) ? selected : [validDelivery, ...selected];

/**
 * Runs `validDelivery` first: where its delivery is not acknowledged, all others are skipped. Then most probes run at the same time, and
 * at last those with `runsLast`, one by one. The reports are in the order of `selected`. Throws the reason of the session's signal when
 * it is aborted.
 */
export async function runProbes(
  selected: readonly Probe[],
  session: CheckSession,
  onReport: () => void = () => undefined,
): Promise<readonly ProbeReport[]> {
  const reports = new Map<Probe, ProbeReport>();
  let failedPrecondition: string | undefined;
  const run = async (probe: Probe): Promise<void> => {
    const report = await reportOn(probe, session, obstacleTo(probe, session) ?? failedPrecondition);
    session.signal.throwIfAborted();
    reports.set(probe, report);
    onReport();
  };

  if (selected.includes(validDelivery)) {
    await run(validDelivery);
    const exchange = reports.get(validDelivery)?.finding.exchange;
    if (exchange !== undefined && !isAcknowledged(exchange))
      failedPrecondition = `no genuine delivery is acknowledged (${validDelivery.name})`;
  }
  const further = selected.filter((probe) => probe !== validDelivery);
  await Promise.all(further.filter(({ runsLast }) => runsLast !== true).map(run));
  for (const probe of further.filter(({ runsLast }) => runsLast === true)) await run(probe);
  return selected.flatMap((probe) => reports.get(probe) ?? []);
}

async function reportOn(
  probe: Probe,
  session: CheckSession,
  obstacle: string | undefined,
): Promise<ProbeReport> {
  if (obstacle !== undefined) return { probe, finding: skipped(obstacle), ms: 0 };
  const startedAt = session.clock.steady();
  const finding = await probe.run(session);
  const ms = Math.round(session.clock.steady() - startedAt);
  // A probe of level `info` never counts as a failure.
  const result = probe.level === 'info' && finding.result === 'fail' ? 'warn' : finding.result;
  return { probe, finding: { ...finding, result }, ms };
}

/** A probe with a requirement is skipped for the reason that its function returns; false means that it may run. */
const obstacles: Readonly<Record<Requirement, (session: CheckSession) => string | false>> = {
  credential: ({ signer }) => signer.key === undefined && 'no credential is sent (--no-verify)',
  time: ({ signer: { scheme, key } }) =>
    (key === undefined || scheme.toleranceMs === undefined) && `the scheme '${scheme.name}' sends no time`,
  nonce: ({ signer }) =>
    (signer.key === undefined || !canForge(signer, 'reusedNonce')) &&
    `the scheme '${signer.scheme.name}' has no nonce`,
  oracle: ({ oracle }) => oracle === undefined && 'it needs --oracle',
};

function obstacleTo({ requires = [], isHarmless = false }: Probe, session: CheckSession): string | undefined {
  const unmet = requires.map((requirement) => obstacles[requirement](session)).find((text) => text !== false);
  if (unmet !== undefined) return unmet;
  if (session.mayStore || isHarmless) return undefined;
  return 'it stores leads: --allow-writes';
}

/**
 * The probes that `--only` and `--skip` of the command choose: their names, or groups, match one of `only` (all without any) and none of
 * `skip`. In a pattern, `*` stands for any characters and `?` for one. Throws a `UsageError` for a pattern that matches nothing, and when none is left.
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
