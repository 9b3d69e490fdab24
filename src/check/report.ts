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
  const unproven = reports.filter(({ finding }, i) => finding.isUnproven && findings[i]?.isReasonToFail);
  const healed = reports
    .filter(({ probe, finding }) => finding.result === 'pass' && baseline.has(probe.name))
    .map(({ probe }) => probe.name);
  const failed = reports.filter(({ finding }) => finding.result === 'fail').map(({ probe }) => probe.level);
  const byLevel = levels
    .filter((level) => failed.includes(level))
    .map((level) => `${failed.filter((failedLevel) => failedLevel === level).length} ${level}`);
  const ms = session.clock.now() - startedAt;
  const remarks = [
    cut > 0 && `the receiver took so long that ${counted(cut, 'probe', 'probes')} did not run`,
    unproven.length > 0 &&
      `${counted(unproven.length, 'probe was', 'probes were')} answered 429: what must hold there is not known to hold`,
    healed.length > 0 && `pass now, and are in the baseline: ${healed.join(', ')}`,
    acceptedText(session, accepted),
  ];
  return {
    title: `checking ${target}`,
    findings,
    remarks: remarks.filter((remark) => remark !== false),
    conclusion: [
      `${counts.pass} passed`,
      `${counts.fail} failed${failed.length === 0 ? '' : ` (${byLevel.join(', ')})`}`,
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

const longestAnswer = 1000;
const longestLine = 200;

function describeProbe({ probe, finding, ms }: ProbeReport, run: CheckRun): Finding {
  const { session, baseline, strict } = run;
  const { name, rule, level, expected } = probe;
  const { result, exchange } = finding;
  const group = groupOf(probe);
  const answer = exchange?.answer;
  const status = answer?.answered === true ? answer.status : null;
  // The secrets are removed before the text is cut, since a part of a secret would stay.
  const answerText =
    answer?.answered === true ? withoutSensitive(session, answer.body.toString('utf8')) : null;
  const shownAnswer = answerText === null ? null : cut(answerText, longestAnswer);
  const observation = result === 'skip' ? null : { status, ms: answer?.ms ?? ms, answer: shownAnswer };
  const detail = withoutSensitive(session, finding.seen);
  const hint = result === 'fail' || result === 'warn' ? (finding.hint ?? probe.hint) : null;
  const command =
    result === 'fail' && exchange !== undefined ? curlLine(session, exchange.request, run.trust) : null;
  const isKnown = result === 'fail' && baseline.has(name);
  const counts = level === 'must' || (strict && level === 'should');
  const [line = ''] = (observation?.answer ?? '').trim().split('\n');
  const took = status === null ? '' : ` after ${formatDuration(observation?.ms ?? 0)}`;
  return {
    outcome: result,
    group,
    name: name.slice(group.length + 1),
    level: isKnown ? `${level}, known` : level,
    expected,
    detail,
    evidence: took + (line === '' ? '' : `: ${cut(line, longestLine)}`),
    hint,
    command,
    isReasonToFail: (result === 'fail' || finding.isUnproven === true) && counts && !baseline.has(name),
    ms: observation?.ms ?? 0,
    record: {
      type: 'probe',
      ...{ name, group, rule: `specification ${rule}`, level, result, expected },
      ...{ seen: observation, detail, hint, curl: command },
      ...(isKnown ? { known: true } : {}),
    },
  };
}

const cut = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length)}…` : text;

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
      ...[shellValue ?? []].flat().map(({ text, expression }) => variable(text, expression)),
      ...(token === undefined ? [] : tokenVariables(token.reveal())),
      // The user's own headers may hold credentials too: `Authorization` is written as `$AUTHORIZATION`.
      ...(signer.headers ?? []).map(([name, value]) => ({
        ...variable(value, name.toUpperCase().replace(/[^A-Z0-9]/g, '_')),
        isWhole: true,
      })),
    ],
    ...trust,
  });
}

const variable = (text: string, name: string): SecretVariable => ({
  secret: new Secret(text),
  variable: name,
});

/** A header holds the token as it is, and a URL holds it encoded. */
const tokenVariables = (token: string): readonly SecretVariable[] =>
  [token, new URL(`http://localhost/?${encodeURIComponent(token)}`).search.slice(1)].map((text) =>
    variable(text, 'LEADS_WEBHOOK_TOKEN'),
  );

export function acceptedText({ idPrefix }: CheckSession, accepted: readonly string[]): string {
  if (accepted.length === 0) return 'no test lead was accepted';
  const ids = accepted.length === 1 ? accepted[0] : `their ids begin with ${idPrefix}`;
  return `${counted(accepted.length, 'test lead was', 'test leads were')} accepted: ${ids}`;
}
