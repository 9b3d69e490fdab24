import { curlCommand, type SecretVariable } from '../output/curl-command.ts';
import type { Finding, Report } from '../output/report.ts';
import { counted } from '../output/terminal/progress.ts';
import { Secret } from '../secret.ts';
import { formatDuration } from '../time/time-text.ts';
import type { Answer } from './exchange.ts';
import { groupOf, levels } from './probe.ts';
import { redactSensitive } from './probes/leak.ts';
import type { ProbeReport } from './run-probes.ts';
import type { CheckRequest, CheckSession } from './session.ts';

interface CurlTrust {
  readonly caFile: string | undefined;
  readonly insecure: boolean;
}

export interface CheckRun {
  readonly reports: readonly ProbeReport[];
  readonly session: CheckSession;
  readonly trust: CurlTrust;
  /** Names of probes whose failure is no reason for exit 7. */
  readonly baseline: ReadonlySet<string>;
  readonly strict: boolean;
  readonly startedAt: number;
}

export function checkReport(run: CheckRun): Report {
  const { reports, session, startedAt } = run;
  const findings = reports.map((report) => describeProbe(report, run));
  const target = session.endpoint.url.href;
  const accepted = session.accepted();
  const count = (outcome: string): number => findings.filter((finding) => finding.outcome === outcome).length;
  const counts = { pass: count('pass'), fail: count('fail'), warn: count('warn'), skip: count('skip') };
  const ms = session.clock.now() - startedAt;
  return {
    title: `checking ${target}`,
    findings,
    remarks: remarksOn(run, accepted),
    conclusion: [
      `${counts.pass} passed`,
      `${counts.fail} failed${failedLevels(reports)}`,
      counted(counts.warn, 'warning', 'warnings'),
      `${counts.skip} skipped in ${formatDuration(ms)}`,
    ].join(', '),
    isInOrder: findings.every(({ isReasonToFail }) => !isReasonToFail),
    summary: { type: 'summary', target, ...counts, accepted },
    startedAt,
    ms,
  };
}

function remarksOn({ reports, session, baseline }: CheckRun, accepted: readonly string[]): string[] {
  const healed = reports.filter(
    ({ probe, finding }) => finding.result === 'pass' && baseline.has(probe.name),
  );
  const names = healed.map(({ probe }) => probe.name).join(', ');
  return [
    ...(names === '' ? [] : [`pass now, and are in the baseline: ${names}`]),
    acceptedText(session, accepted),
  ];
}

/** ` (1 must, 2 should)`; empty where nothing failed. */
function failedLevels(reports: readonly ProbeReport[]): string {
  const failed = reports.filter(({ finding }) => finding.result === 'fail');
  const texts = levels.flatMap((level) => {
    const count = failed.filter(({ probe }) => probe.level === level).length;
    return count === 0 ? [] : [`${count} ${level}`];
  });
  return texts.length === 0 ? '' : ` (${texts.join(', ')})`;
}

const mostOfAnswer = 1000;
const mostOfLine = 200;

function describeProbe({ probe, finding, ms }: ProbeReport, run: CheckRun): Finding {
  const { session, baseline, strict, trust } = run;
  const { name, rule, level, expected } = probe;
  const { result, exchange } = finding;
  const group = groupOf(probe);
  const hasFailed = result === 'fail';
  const isKnown = hasFailed && baseline.has(name);
  const detail = redactSensitive(session, finding.seen);
  const hint = hasFailed || result === 'warn' ? (finding.hint ?? probe.hint) : null;
  const command = hasFailed && exchange !== undefined ? curlLine(session, exchange.request, trust) : null;
  const observation = result === 'skip' ? null : observationOf(session, exchange?.answer, ms);
  return {
    outcome: result,
    group,
    name: name.slice(group.length + 1),
    level: isKnown ? `${level}, known` : level,
    expected,
    detail,
    evidence: evidenceOf(observation),
    hint,
    command,
    isReasonToFail: hasFailed && !isKnown && (level === 'must' || (strict && level === 'should')),
    ms: observation?.ms ?? 0,
    record: {
      type: 'probe',
      ...{ name, group, rule: `specification ${rule}`, level, result, expected },
      ...{ seen: observation, detail, hint, curl: command },
      ...(isKnown ? { known: true } : {}),
    },
  };
}

/** It is `seen` in a line of JSON; status and answer are null where no answer came. */
interface Observation {
  readonly status: number | null;
  readonly ms: number;
  readonly answer: string | null;
}

function observationOf(session: CheckSession, answer: Answer | undefined, ms: number): Observation {
  if (answer?.status === undefined) return { status: null, ms: answer?.ms ?? ms, answer: null };
  // The secrets are removed before the text is cut, since a part of a secret would stay.
  const text = redactSensitive(session, answer.body.toString('utf8'));
  return { status: answer.status, ms: answer.ms, answer: cut(text, mostOfAnswer) };
}

/** Completes the sentence of a finding: ` after 3ms: {"status":500}`. */
function evidenceOf(observation: Observation | null): string {
  if (observation?.status == null) return '';
  const [line = ''] = (observation.answer ?? '').trim().split('\n');
  return ` after ${formatDuration(observation.ms)}${line === '' ? '' : `: ${cut(line, mostOfLine)}`}`;
}

const cut = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length)}…` : text;

/** A command line that sends the request again; a variable stands for each secret in it. */
function curlLine(session: CheckSession, request: CheckRequest, trust: CurlTrust): string {
  const { method, isChunked, body } = request;
  return curlCommand({
    method,
    url: session.endpoint.url.href,
    headers: isChunked === true ? [...request.headers, ['Transfer-Encoding', 'chunked']] : request.headers,
    body,
    secrets: secretVariables(session, request),
    ...trust,
  });
}

function secretVariables({ signer }: CheckSession, { shellValue }: CheckRequest): SecretVariable[] {
  const variable = (text: string, name: string): SecretVariable => ({
    secret: new Secret(text),
    variable: name,
  });
  const token = signer.key?.secret.reveal() ?? '';
  // The user's own headers may hold credentials too: `Authorization` is written as `$AUTHORIZATION`.
  const ownHeaders = (signer.headers ?? []).map(([name, value]) => ({
    ...variable(value, name.toUpperCase().replace(/[^A-Z0-9]/g, '_')),
    isWhole: true,
  }));
  return [
    ...(shellValue === undefined ? [] : [variable(shellValue.text, shellValue.expression)]),
    variable(token, 'LEADS_WEBHOOK_TOKEN'),
    ...ownHeaders,
  ];
}

export function acceptedText({ idPrefix }: CheckSession, accepted: readonly string[]): string {
  if (accepted.length === 0) return 'no test lead was accepted';
  const ids = accepted.length === 1 ? accepted[0] : `their ids begin with ${idPrefix}`;
  return `${counted(accepted.length, 'test lead was', 'test leads were')} accepted: ${ids}`;
}
