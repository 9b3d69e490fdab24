import type { Context } from '../../context.ts';
import {
  type Palette,
  paletteFor,
  terminalWidth,
  escapeJson,
  sanitize,
} from '../../output/terminal/terminal.ts';
import { counted, grouped } from '../../output/terminal/progress.ts';
import { truncate } from '../../output/table.ts';
import type { DeliveryRunResult, Percentiles, RunTally, TimedAttempt } from '../../sender/delivery-run.ts';
import type { Attempt } from '../../sender/sender.ts';
import { formatDuration } from '../../time/time-text.ts';
import type { Secret } from '../../secret.ts';
import { parseProblem, problemText } from '../../service/client/problem-text.ts';
import { explainFailure } from '../../sender/explain-failure.ts';

/** Makes the text of stdout, whole lines. */
interface AttemptPrinter {
  attempt(timed: TimedAttempt): string;
  summary(summary: SendSummary, elapsedMs: number): string;
}

/** The printer for `--format`. */
export async function attemptPrinter(
  format: 'pretty' | 'json',
  answerText: (attempt: Attempt) => string,
  context: Pick<Context, 'stdout' | 'env' | 'globals'>,
): Promise<AttemptPrinter> {
  const { stdout } = context;
  if (format === 'json') {
    const line = (record: object): string => {
      const json = JSON.stringify(record);
      return `${stdout.isTTY === true ? escapeJson(json) : json}\n`;
    };
    return {
      attempt: ({ attempt, latencyMs }) => line(attemptRecord(attempt, latencyMs, answerText(attempt))),
      summary: line,
    };
  }
  const colours = await paletteFor(stdout, context);
  return {
    attempt: ({ attempt }) =>
      attemptLine(attempt, answerText(attempt), { colours, width: terminalWidth(stdout) }),
    summary: (summary, elapsedMs) => `\n${summaryLines(summary, elapsedMs).join('\n')}\n`,
  };
}

function attemptRecord(attempt: TimedAttempt['attempt'], latencyMs: number, answer: string) {
  const { delivery, number, result, retryInMs } = attempt;
  return {
    type: 'attempt',
    id: delivery.leadId === '' ? null : delivery.leadId,
    attempt: number,
    status: result.ok ? result.status : null,
    latencyMs: rounded(latencyMs),
    serviceMs: rounded(result.durationMs),
    answer,
    ...(result.ok ? {} : { error: result.code }),
    ...(retryInMs === undefined ? {} : { retryInMs }),
  };
}

const rounded = (ms: number): number => Math.round(ms * 1000) / 1000;

interface AttemptLineOptions {
  readonly colours: Palette;
  /** Columns of the terminal; undefined: lines are not cut. */
  readonly width: number | undefined;
}

/** `200   41ms  lead_1  {"status":"accepted"}`, with what comes next where the attempt is repeated. */
function attemptLine(
  { delivery, outcome, result, retryInMs }: Attempt,
  answer: string,
  { colours, width }: AttemptLineOptions,
): string {
  const status = result.ok ? String(result.status) : '---';
  const paint = outcome === 'acknowledged' ? colours.green : colours.red;
  const time = formatLatency(result.durationMs).padStart(6);
  const retry = retryInMs === undefined ? [] : [`retry in ${formatDuration(retryInMs)}`];
  const texts = [sanitize(delivery.leadId), ...retry, sanitize(answer)];
  const details = texts.filter((text) => text !== '').join('  ');
  const fitting = width === undefined ? details : truncate(details, Math.max(20, width - 13));
  return `${paint(status)}  ${time}  ${fitting}\n`;
}

/** `0.8ms`, `41ms`, `1.2s`. */
const formatLatency = (ms: number): string => (ms < 9.95 ? `${ms.toFixed(1)}ms` : formatDuration(ms));

type SendSummary = ReturnType<typeof sendSummary>;

export function sendSummary(
  tally: RunTally,
  { started, late, startingMs }: DeliveryRunResult,
  openLoop: boolean,
) {
  const { attempts, acknowledged, failed, byStatus, latency, service } = tally;
  return {
    type: 'summary',
    openLoop,
    deliveries: started,
    attempts,
    acknowledged,
    failed,
    byStatus: Object.fromEntries([...byStatus].sort(([, a], [, b]) => b - a)),
    latencyMs: latency.percentiles() ?? null,
    serviceMs: service.percentiles() ?? null,
    achievedRate: Math.round((started * 1_000_000) / Math.max(startingMs, 1)) / 1000,
    late,
  };
}

/** The same for a person, in a few lines. */
function summaryLines(summary: SendSummary, elapsedMs: number): string[] {
  const { openLoop, deliveries, attempts, acknowledged, failed, achievedRate, late } = summary;
  const cutOff = deliveries - acknowledged - failed;
  const parts = [
    `${grouped(acknowledged)} of ${counted(deliveries, 'delivery', 'deliveries')} acknowledged`,
    ...(attempts > deliveries ? [`in ${counted(attempts, 'attempt', 'attempts')}`] : []),
    ...(cutOff > 0 ? [`${grouped(cutOff)} cut off`] : []),
    `in ${formatDuration(elapsedMs)}`,
    ...(deliveries > 1 ? [`${rateText(achievedRate)}/s, ${openLoop ? 'open' : 'closed'} loop`] : []),
  ];
  const statuses = Object.entries(summary.byStatus).map(([status, count]) => `${status} × ${grouped(count)}`);
  return [
    parts.join(', ').replace(', in', ' in'),
    ...(statuses.length === 0 ? [] : [`status   ${statuses.join(', ')}`]),
    ...percentileLine('latency', summary.latencyMs, openLoop ? ', from the intended start' : ''),
    ...(openLoop ? percentileLine('service', summary.serviceMs, ', from the real one') : []),
    ...(openLoop ? [`late     ${grouped(late)} waited for a free slot`] : []),
  ];
}

function percentileLine(name: string, percentiles: Percentiles | null, remark: string): string[] {
  if (percentiles === null) return [];
  const { p50, p90, p99, max } = percentiles;
  const values = Object.entries({ p50, p90, p99, max }).map(([key, ms]) => `${key} ${formatLatency(ms)}`);
  return [`${name}  ${values.join('  ')}${remark}`];
}

const rateText = (rate: number): string => (rate < 10 ? rate.toFixed(1) : grouped(Math.round(rate)));

/** In characters: what is shown of an answer's first line. */
const longestLine = 1000;
/** A shorter secret may be an ordinary word: it is replaced where it stands alone. */
const shortSecret = 10;
/** Parts of a credential header from this length on are taken for the signature. */
const shortestSignature = 20;

interface AnswerTextOptions {
  readonly secrets: readonly Secret[];
  /** Lower-case names of the headers that hold a credential. */
  readonly credentialHeaders: readonly string[];
  /** The words of a receiver about its failure are read for a person. */
  readonly isForPeople: boolean;
}

/**
 * Gives what the receiver answered, or what happened instead. A receiver may send back what it was sent: secrets and the
 * signature of this attempt are replaced.
 */
export function answerReader({ secrets, credentialHeaders, isForPeople }: AnswerTextOptions) {
  const hidden = secrets.flatMap((secret) => patternsOf(secret.reveal()));
  const redacted = (answer: string, { headers }: Attempt['request']): string => {
    let text = answer;
    for (const pattern of hidden) text = text.replace(pattern, '[redacted]');
    if (text.length < shortestSignature) return text;
    for (const [name, value] of headers) {
      if (value.length < shortestSignature || !credentialHeaders.includes(name.toLowerCase())) continue;
      // Most answers hold nothing of it, and the end of a signature is quickly looked for.
      if (!text.includes(value.slice(-8).replace(/[^\w+]+$/, ''))) continue;
      for (const part of value.match(/[\w+/]{20,}/g) ?? []) text = text.replaceAll(part, '[redacted]');
    }
    return text;
  };
  return ({ result, request }: Pick<Attempt, 'result' | 'request'>): string => {
    if (!result.ok) return explainFailure({ error: result.code });
    if (result.body.length === 0) return '';
    // A secret that is cut would not be found any more, so that the text is cut last.
    const answer = redacted(result.body.toString('utf8'), request);
    const isFailure = isForPeople && result.status >= 300;
    return (isFailure ? problemText(parseProblem(answer), (text) => text) : undefined) ?? firstLine(answer);
  };
}

function firstLine(body: string): string {
  const start = body.slice(0, longestLine).trimStart();
  const end = start.search(/[\r\n]/);
  if (end !== -1) return start.slice(0, end);
  return body.length > longestLine ? `${start}…` : start;
}

/** The secret as it is, and as a URL holds it. */
function patternsOf(secret: string): RegExp[] {
  const forms = [...new Set([secret, encodeURIComponent(secret)])].filter((form) => form !== '');
  return forms.map((form) => {
    const literal = form.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
    return new RegExp(secret.length < shortSecret ? `(?<![\\w-])${literal}(?![\\w-])` : literal, 'g');
  });
}
