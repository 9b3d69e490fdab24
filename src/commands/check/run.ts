import { type Endpoint, endpointOf, inTime, openSocket, type TimeLimit } from '../../check/endpoint.ts';
import { groupOf, type Probe } from '../../check/probe.ts';
import { acceptedText, type CheckRun, checkReport } from '../../check/report.ts';
import { type ProbeReport, runProbes, selectProbes, withPrecondition } from '../../check/run-probes.ts';
import { type AskOracle, type CheckSession, createSession } from '../../check/session.ts';
import type { Context, Outcome } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import { randomName } from '../../sender/sender.ts';
import { printReportJson, printReportText } from '../../output/report.ts';
import { writeJson } from '../../output/stdout.ts';
import { writeTable } from '../../output/table.ts';
import { formatSeconds } from '../../time/time-text.ts';
import { readBaseline, rejectForeignFile, writeBaselineFile, writeJunitFile } from './result-files.ts';
import { runCommand } from '../../receiver/targets/exec.ts';
import { resolveSigner } from '../flags/resolve-scheme.ts';
import { notReached, type ResolvedTarget, resolveTarget } from '../flags/delivery-target.ts';
import type { CheckOptions } from './command.ts';

export async function run(options: CheckOptions, context: Context): Promise<Outcome> {
  const selected = selectProbes(options.only, options.skip);
  if (options.list) {
    await listProbes(selected, options.format === 'json', context);
    return 'done';
  }
  const { url, junit, writeBaseline, strict } = options;
  if (url === undefined) {
    throw new UsageError('which receiver?', {
      hint: 'such as: leads check https://localhost:8443/ --token secret',
    });
  }
  const baseline = options.baseline === undefined ? new Set<string>() : await readBaseline(options.baseline);
  if (junit !== undefined) await rejectForeignFile(junit, 'junit');
  if (writeBaseline !== undefined) await rejectForeignFile(writeBaseline, 'write-baseline');

  const checked = await checkReceiver(url, selected, options, context);
  const report = checkReport({ ...checked, baseline, strict });
  const print = options.format === 'json' ? printReportJson : printReportText;
  await print(report, context);
  if (junit !== undefined) await writeJunitFile(junit, report);
  if (!checked.session.mayStore) {
    context.messages.note(
      'writes',
      'no genuine lead was sent, so a wrong token or secret here goes unseen; --allow-writes runs the rest',
    );
  }
  if (writeBaseline === undefined) return report.isInOrder ? 'done' : 'problems';
  await writeBaselineFile(writeBaseline, checked.reports, baseline);
  const failing = checked.reports.filter(({ finding }) => finding.result === 'fail').length;
  context.messages.say(`wrote ${writeBaseline}: ${failing} known to fail`);
  return 'done';
}

async function checkReceiver(
  url: URL,
  selected: readonly Probe[],
  options: CheckOptions,
  context: Context,
): Promise<Omit<CheckRun, 'baseline' | 'strict'>> {
  const { signal, clock, random } = context;
  const { timeoutMs } = await context.settings();
  const target = await resolveTarget(url, options, context);
  const signer = { ...(await resolveSigner(options, context)), headers: options.header };
  const endpoint = endpointOf(url, target.trust, target.proxy);
  await reachReceiver(endpoint, target, { timeoutMs, signal });
  const startedAt = clock.now();
  const session = createSession({
    endpoint,
    signer,
    mayStore: target.isLocal || options.allowWrites,
    runName: randomName(random),
    clock,
    timeoutMs,
    signal,
    oracle: options.oracle === undefined ? undefined : commandOracle(options.oracle, context),
  });
  const reports = await runWithProgress(withPrecondition(selected, session.mayStore), session, context);
  const trust = { caFile: target.caFile, insecure: target.trust.insecure };
  return { reports, session, trust, startedAt };
}

/** Runs the probes. Where the run is interrupted, the user is told which test leads the receiver has acknowledged. */
async function runWithProgress(
  probes: readonly Probe[],
  session: CheckSession,
  { clock, status, messages }: Context,
): Promise<readonly ProbeReport[]> {
  const startedAt = clock.now();
  let completed = 0;
  status?.showProgress((now) => `${completed} of ${probes.length} probes, ${formatSeconds(now - startedAt)}`);
  try {
    return await runProbes(probes, session, () => (completed += 1));
  } catch (error) {
    const accepted = session.accepted();
    if (accepted.length > 0) messages.say(acceptedText(session, accepted));
    throw error;
  } finally {
    status?.showProgress(undefined);
  }
}

/**
 * Connects once, with TLS where the URL says so. Throws a `ServiceError` (exit 5) when that fails, since no probe could show anything
 * then. Through a proxy it does not connect: that would reach the proxy, and only requests show what is behind it.
 */
async function reachReceiver(endpoint: Endpoint, target: ResolvedTarget, limit: TimeLimit): Promise<void> {
  if (target.proxy !== undefined) return;
  const connected = await inTime(limit, (signal) => openSocket(endpoint, signal));
  limit.signal.throwIfAborted();
  if (!connected.ok) throw notReached(connected.code, target);
  connected.value.destroy();
}

const oracleMs = 15_000;

/** `--oracle`: a program or shell line that gets `LEAD_ID` and prints a number. It gets none of our own settings. */
function commandOracle(command: string, { env, killGroup, signal }: Context): AskOracle {
  const foreign = Object.fromEntries(
    Object.entries(env).filter(([name]) => !name.toUpperCase().startsWith('LEADS_')),
  );
  return async (leadId) => {
    const variables = { ...foreign, LEAD_ID: leadId };
    const run = { command, env: variables, input: new Uint8Array(), timeoutMs: oracleMs, killGroup, signal };
    const end = await runCommand(run);
    if (!end.ok) return `the oracle failed: ${end.text}`;
    const count = /^\s*(\d{1,9})\s*$/m.exec(end.output)?.[1];
    return count === undefined ? 'the oracle printed no line with a number' : Number(count);
  };
}

async function listProbes(probes: readonly Probe[], asJson: boolean, context: Context): Promise<void> {
  for (const probe of asJson ? probes : []) {
    const { name, rule, level, expected } = probe;
    const line = { name, group: groupOf(probe), rule: `specification ${rule}`, level, expected };
    await writeJson(context.stdout, line);
  }
  if (asJson) return;
  const rows = probes.map(({ name, level, rule, expected }) => [name, level, rule, expected]);
  const fit = { cutLast: ['NAME', 'LEVEL'], narrowing: [{ drop: 'SECTION' }] };
  await writeTable(['NAME', 'LEVEL', 'SECTION', 'EXPECTED'], rows, fit, context);
}
