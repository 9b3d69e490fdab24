import { type Baseline, baselineText, readBaseline } from '../../check/baseline.ts';
import { type Endpoint, endpointOf, openSocket } from '../../check/endpoint.ts';
import type { ExchangeOptions } from '../../check/raw-request.ts';
import { commandOracle } from '../../check/oracle.ts';
import type { Probe } from '../../check/probe.ts';
import { validDelivery } from '../../check/probes/delivery.ts';
import { runProbes, selectProbes, probes as allProbes } from '../../check/run-probes.ts';
import { CheckSession } from '../../check/session.ts';
import type { Context, Outcome } from '../../context.ts';
import { ServiceError } from '../../errors.ts';
import { limitTime } from '../../http/client/limit-time.ts';
import type { TestCase } from '../../output/junit.ts';
import { writeWhole } from '../../files/replace.ts';
import { explainFailure } from '../../sender/explain-failure.ts';
import { formatSeconds } from '../../time/time-text.ts';
import { unverified } from '../../webhook/scheme.ts';
import { checkReportPlace, writeJunitFile } from '../flags/report-file.ts';
import { resolveScheme } from '../flags/resolve-scheme.ts';
import { resolveTarget } from '../flags/resolve-target.ts';
import { type CheckOptions, rejectContradictions } from './options.ts';
import { acceptedText, jsonPrinter, prettyPrinter, showCatalogue, inOrderOf } from './print.ts';
import { type DescribedReport, describeReport, summarize, type Summary } from './report.ts';

/** No receiver holds a run for longer than this beyond the time-out of one probe, in milliseconds. */
const wholeRunMs = 60_000;

export async function run(options: CheckOptions, context: Context): Promise<Outcome> {
  rejectContradictions(options);
  const selected = selectProbes(allProbes, options.only, options.skip);
  const { url } = options;
  if (options.list || url === undefined) {
    await showCatalogue(selected, options.format === 'json', context);
    return 'done';
  }
  const { signal, clock, random } = context;
  const settings = await context.settings();
  const target = await resolveTarget(url, options, context);
  const { scheme, keys } = await resolveScheme(options, settings, context, 'sends');
  const baseline = options.baseline === undefined ? undefined : await readBaseline(options.baseline);
  if (options.junit !== undefined) await checkReportPlace(options.junit, 'junit');
  if (options.writeBaseline !== undefined) await checkReportPlace(options.writeBaseline, 'write-baseline');
  const mayWrite = target.isLocal || options.allowWrites;
  const probes = withPrecondition(selected, mayWrite);
  const { timeoutMs } = settings;
  const endpoint = endpointOf(url, target.trust, target.proxy);
  await reachReceiver(endpoint, { timeoutMs, signal, clock });

  const whole = limitTime(timeoutMs + wholeRunMs, signal);
  const session = new CheckSession({
    endpoint,
    signer: { scheme: keys.length > 0 ? scheme : unverified, key: keys[0], headers: options.header },
    run: runName(random),
    clock,
    timeoutMs,
    signal: whole.signal,
    oracle: options.oracle === undefined ? undefined : commandOracle(options.oracle, context),
  });
  const described = new Map<string, DescribedReport>();
  const printer =
    options.format === 'json'
      ? jsonPrinter(url.href, context)
      : await prettyPrinter(url.href, probes, context);
  const print = inOrderOf(probes, (report) => printer.probe(report));
  const startedAt = clock.now();
  context.status?.showProgress(
    (now) => `${described.size} of ${probes.length} probes, ${formatSeconds(now - startedAt)}`,
  );
  try {
    const reports = await runProbes(probes, {
      session,
      mayWrite,
      timeoutMs,
      isOver: () => whole.reason() === 'timeout',
      signal,
      async onReport(report) {
        const trust = { caFile: target.caFile, insecure: target.trust.insecure };
        const isKnown = baseline?.failing.has(report.probe.name) === true;
        const one = describeReport(report, session, trust, isKnown);
        described.set(one.name, one);
        await print(one);
      },
    });
    context.status?.showProgress(undefined);
    const summary = summarize(reports, { baseline, strict: options.strict, session, startedAt });
    const inOrder = probes.flatMap(({ name }) => described.get(name) ?? []);
    await printer.end(summary);
    await writeResults(summary, inOrder, options, baseline, context);
    if (!mayWrite) noteWhatIsOpen(context.messages);
    return summary.isInOrder || options.writeBaseline !== undefined ? 'done' : 'problems';
  } catch (error) {
    context.status?.showProgress(undefined);
    if (session.accepted().length > 0) context.messages.say(acceptedText(session.accepted()));
    throw error;
  } finally {
    whole.clear();
  }
}

/** Said where a receiver on another host passes everything. */
function noteWhatIsOpen(messages: Pick<Context['messages'], 'note'>): void {
  messages.note(
    'writes',
    'no genuine lead was sent, so a wrong token or secret here goes unseen; --allow-writes runs the rest',
  );
}

/**
 * Most probes prove nothing about a receiver that accepts no genuine lead, and with a wrong secret it passes every probe
 * that expects a refusal: so whether it accepts one is checked first.
 */
function withPrecondition(selected: readonly Probe[], mayWrite: boolean): readonly Probe[] {
  const needsIt = ({ needsAcknowledgement, expectsRefusal }: Probe): boolean =>
    needsAcknowledgement === true || expectsRefusal === true;
  const isMissing = mayWrite && !selected.includes(validDelivery) && selected.some(needsIt);
  return isMissing ? [validDelivery, ...selected] : selected;
}

/** Six random letters and digits, which two runs at one receiver rarely share. */
const runName = (random: () => number): string =>
  Array.from({ length: 6 }, () => Math.floor(random() * 36).toString(36)).join('');

/** The files that were asked for. Throws an `OutputError`. */
async function writeResults(
  summary: Summary,
  described: readonly DescribedReport[],
  { junit, writeBaseline }: CheckOptions,
  baseline: Baseline | undefined,
  { messages }: Pick<Context, 'messages'>,
): Promise<void> {
  if (junit !== undefined) {
    const { startedAt, ms } = summary;
    const cases = junitCases(summary, described);
    await writeJunitFile(junit, { name: 'leads check', startedAt, ms, cases });
  }
  if (writeBaseline !== undefined) {
    await checkReportPlace(writeBaseline, 'write-baseline');
    await writeWhole(writeBaseline, baselineText(summary.reports, baseline));
    messages.say(`wrote ${writeBaseline}: ${summary.counts.fail} known to fail`);
  }
}

/**
 * Connects once, with TLS where the URL says so. Throws a `ServiceError` (exit 5) when that fails: then no probe would say
 * anything. What is behind a proxy is found out by the probes.
 */
async function reachReceiver(endpoint: Endpoint, { timeoutMs, signal }: ExchangeOptions): Promise<void> {
  if (endpoint.proxy !== undefined) return;
  const limit = limitTime(timeoutMs, signal);
  try {
    const socket = await openSocket(endpoint, limit.signal);
    socket.destroy();
  } catch (cause) {
    signal.throwIfAborted();
    const { code, name } = cause as NodeJS.ErrnoException;
    const error = limit.reason() ?? code ?? name;
    throw new ServiceError(`cannot reach ${endpoint.url.origin}: ${explainFailure({ error })}`, {
      hint: hintFor(error),
      cause,
    });
  } finally {
    limit.clear();
  }
}

function hintFor(code: string): string | undefined {
  if (/CERT|SIGNATURE|ISSUER/.test(code)) {
    return 'name its authority with --ca FILE; --insecure takes any certificate of a receiver on this machine';
  }
  return code === 'ECONNREFUSED' ? "start the receiver first, or 'leads listen' to try this out" : undefined;
}

/**
 * Reports as tests: what is a reason for exit 7 fails; what is not, so that no pipeline stops for it, is skipped with what
 * was found.
 */
function junitCases(summary: Summary, described: readonly DescribedReport[]): TestCase[] {
  const failing = new Set(summary.failures.map(({ probe }) => probe.name));
  return described.map((report) => {
    const { name, group, expected, level, detail, result, seen } = report;
    return {
      className: `leads.check.${group}`,
      name: name.slice(group.length + 1),
      ms: seen?.ms ?? 0,
      outcome: failing.has(name)
        ? { kind: 'failed', type: level, message: `expected ${expected}; ${detail}`, text: textOf(report) }
        : result === 'pass'
          ? { kind: 'passed' }
          : { kind: 'skipped', message: result === 'skip' ? detail : `${result}: ${detail}` },
    };
  });
}

const textOf = ({ expected, detail, seen, hint, curl, rule }: DescribedReport): string =>
  [
    `expected: ${expected} (${rule})`,
    `seen: ${detail}`,
    ...(seen?.answer ? [`answer: ${seen.answer}`] : []),
    ...(hint === null ? [] : [`hint: ${hint}`]),
    ...(curl === null ? [] : [curl]),
  ].join('\n');
