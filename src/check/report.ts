import * as z from 'zod/mini';
import { DataError } from '../errors.ts';
import { readJsonState } from '../files/json-state.ts';
import { curlCommand, type SecretVariable } from '../output/curl-command.ts';
import type { Finding, Report } from '../output/report.ts';
import { counted } from '../output/terminal/progress.ts';
import { Secret } from '../secret.ts';
import { formatDuration } from '../time/time-text.ts';
import { withoutSensitive } from './disclosure.ts';
import { withQuery } from './exchange.ts';
import { groupOf, levels } from './probe.ts';
import type { ProbeReport } from './run-probes.ts';
import type { CheckRequest, CheckSession } from './session.ts';

export type Baseline = ReadonlySet<string>;

/** A file that a person wrote may leave the version out. */
const baselineSchema = z.object({ version: z.optional(z.literal(1)), failing: z.array(z.string()) });

/** Throws a `DataError` for a file that is missing or was not written by this program. */
export async function readBaseline(path: string): Promise<Baseline> {
  const stored = await readJsonState(path, baselineSchema, 'baseline');
  if (stored !== undefined) return new Set(stored.failing);
  throw new DataError(`there is no baseline in ${path}`, {
    hint: `write it with --write-baseline ${path}`,
  });
}

/** The file for these reports; probes that did not run stay as they were in `previous`. */
export function baselineText(reports: readonly ProbeReport[], previous: Baseline): string {
  const completed = reports.filter(({ finding }) => finding.result !== 'skip');
  const names = new Set(completed.map(({ probe }) => probe.name));
  const failing = [
    ...completed.filter(({ finding }) => finding.result === 'fail').map(({ probe }) => probe.name),
    ...[...previous].filter((name) => !names.has(name)),
  ];
  return `${JSON.stringify({ version: 1, failing: failing.sort() }, undefined, 2)}\n`;
}

interface CurlTrust {
  readonly caFile: string | undefined;
  readonly insecure: boolean;
}

export interface CheckRun {
  readonly reports: readonly ProbeReport[];
  readonly session: CheckSession;
  readonly trust: CurlTrust;
  readonly baseline: Baseline;
  /** A `should` is a reason for exit 7 as well. */
  readonly strict: boolean;
  readonly startedAt: number;
}

export function checkReport(run: CheckRun): Report {
  const { reports, session, baseline, startedAt } = run;
  const findings = reports.map((report) => describeProbe(report, run));
  const target = session.endpoint.url.href;
  const accepted = session.accepted();
  const count = (outcome: string): number => findings.filter((finding) => finding.outcome === outcome).length;
  const counts = { pass: count('pass'), fail: count('fail'), warn: count('warn'), skip: count('skip') };
  const cut = reports.filter(({ isCut }) => isCut).length;
  const unproven = reports.filter(
    (report, i) => report.finding.isUnproven && findings[i]?.isReasonToFail,
  ).length;
  const healed = reports
    .filter(({ probe, finding }) => finding.result === 'pass' && baseline.has(probe.name))
    .map(({ probe }) => probe.name);
  const ms = session.clock.now() - startedAt;
  return {
    title: `checking ${target}`,
    findings,
    remarks: [
      ...(cut === 0 ? [] : [`the receiver took so long that ${counted(cut, 'probe', 'probes')} did not run`]),
      ...(unproven === 0
        ? []
        : [
            `${counted(unproven, 'probe was', 'probes were')} answered 429: what must hold there is not known to hold`,
          ]),
      ...(healed.length === 0 ? [] : [`pass now, and are in the baseline: ${healed.join(', ')}`]),
      acceptedText(session, accepted),
    ],
    conclusion: [
      `${counts.pass} passed`,
      `${counts.fail} failed${levelsText(reports)}`,
      counted(counts.warn, 'warning', 'warnings'),
      `${counts.skip} skipped in ${formatDuration(ms)}`,
    ].join(', '),
    // A `must` that there was no time to check is not known to hold.
    isInOrder: cut === 0 && findings.every(({ isReasonToFail }) => !isReasonToFail),
    summary: { type: 'summary', target, ...counts, accepted },
    startedAt,
    ms,
  };
}

const shownAnswer = 1000;
const shownLine = 200;

function describeProbe({ probe, finding, ms }: ProbeReport, run: CheckRun): Finding {
  const { session, baseline, strict } = run;
  const { name, rule, level, expected } = probe;
  const { result, exchange } = finding;
  const group = groupOf(probe);
  const answer = exchange?.answer;
  const status = answer?.answered === true ? answer.status : null;
  const observed =
    result === 'skip' ? null : { status, ms: answer?.ms ?? ms, answer: answerText(session, exchange) };
  const detail = withoutSensitive(session, finding.seen);
  const hint = result === 'fail' || result === 'warn' ? (finding.hint ?? probe.hint) : null;
  const command =
    result === 'fail' && exchange !== undefined ? curlLine(session, exchange.request, run.trust) : null;
  const isKnown = result === 'fail' && baseline.has(name);
  const counts = level === 'must' || (strict && level === 'should');
  const [line = ''] = (observed?.answer ?? '').trim().split('\n');
  const took = status === null ? '' : ` after ${formatDuration(observed?.ms ?? 0)}`;
  return {
    outcome: result,
    group,
    name: name.slice(group.length + 1),
    level: isKnown ? `${level}, known` : level,
    expected,
    detail,
    evidence: took + (line === '' ? '' : `: ${cut(line, shownLine)}`),
    hint,
    command,
    isReasonToFail: (result === 'fail' || finding.isUnproven === true) && counts && !baseline.has(name),
    ms: observed?.ms ?? 0,
    record: {
      type: 'probe',
      ...{ name, group, rule: `specification ${rule}`, level, result, expected },
      ...{ seen: observed, detail, hint, curl: command },
      ...(isKnown ? { known: true } : {}),
    },
  };
}

const cut = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length)}…` : text;

/** The secrets are removed before the text is cut, since a part of a secret would stay. */
function answerText(session: CheckSession, exchange: ProbeReport['finding']['exchange']): string | null {
  const answer = exchange?.answer;
  return answer?.answered === true
    ? cut(withoutSensitive(session, answer.body.toString('utf8')), shownAnswer)
    : null;
}

/** A command line that sends the request again; a variable stands for each secret in it. */
function curlLine({ endpoint, signer }: CheckSession, request: CheckRequest, trust: CurlTrust): string {
  const { method, query, isChunked, sentWithinMs, body, bodyCommand, shellValue } = request;
  const token = signer.key?.secret;
  return curlCommand({
    method,
    url: withQuery(endpoint.url, query).href,
    headers: isChunked === true ? [...request.headers, ['Transfer-Encoding', 'chunked']] : request.headers,
    body,
    bodyCommand,
    bytesPerSecond: sentWithinMs === undefined ? undefined : Math.ceil((body.length * 1000) / sentWithinMs),
    secrets: [
      ...(shellValue === undefined
        ? []
        : [{ secret: new Secret(shellValue.text), variable: shellValue.expression }]),
      ...(token === undefined ? [] : tokenVariables(token)),
      // The user's own headers may hold credentials too: `Authorization` is written as `$AUTHORIZATION`.
      ...(signer.headers ?? []).map(([name, value]) => ({
        secret: new Secret(value),
        variable: name.toUpperCase().replace(/[^A-Z0-9]/g, '_'),
        isWhole: true,
      })),
    ],
    ...trust,
  });
}

function tokenVariables(token: Secret): readonly SecretVariable[] {
  const { search } = new URL(`http://localhost/?${encodeURIComponent(token.reveal())}`);
  return [token, new Secret(search.slice(1))].map((secret) => ({ secret, variable: 'LEADS_WEBHOOK_TOKEN' }));
}

export function acceptedText({ idPrefix }: CheckSession, accepted: readonly string[]): string {
  if (accepted.length === 0) return 'no test lead was accepted';
  const ids = accepted.length === 1 ? accepted[0] : `their ids begin with ${idPrefix}`;
  return `${counted(accepted.length, 'test lead was', 'test leads were')} accepted: ${ids}`;
}

function levelsText(reports: readonly ProbeReport[]): string {
  const failed = reports.filter(({ finding }) => finding.result === 'fail').map(({ probe }) => probe.level);
  const texts = levels
    .map((level) => [level, failed.filter((failedLevel) => failedLevel === level).length] as const)
    .filter(([, count]) => count > 0)
    .map(([level, count]) => `${count} ${level}`);
  return texts.length === 0 ? '' : ` (${texts.join(', ')})`;
}
