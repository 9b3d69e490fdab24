import type { Context } from '../../../context.ts';
import { escapeJson } from '../../../output/sanitize.ts';
import { paletteFor } from '../../../output/terminal/colour.ts';
import { terminalWidth } from '../../../output/terminal/terminal-width.ts';
import type { TimedAttempt } from '../../../sender/delivery-run.ts';
import type { Attempt } from '../../../sender/attempt.ts';
import { attemptLine } from './attempt-line.ts';
import type { sendSummary } from './send-summary.ts';
import { summaryLines } from './send-summary.ts';

/** Makes the text of stdout, whole lines. */
interface AttemptPrinter {
  attempt(timed: TimedAttempt): string;
  summary(summary: ReturnType<typeof sendSummary>, elapsedMs: number): string;
}

/** The printer for `--format`. */
export async function attemptPrinter(
  format: 'pretty' | 'json',
  {
    answerText,
    showAnswer,
  }: { readonly answerText: (attempt: Attempt) => string; readonly showAnswer: boolean },
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
      summary: (summary) => line({ type: 'summary', ...summary }),
    };
  }
  const colours = await paletteFor(stdout, context);
  return {
    attempt: ({ attempt }) =>
      attemptLine(attempt, answerText(attempt), {
        colours,
        width: terminalWidth(stdout),
        showAnswer,
      }),
    summary: (summary, elapsedMs) => `\n${summaryLines(summary, elapsedMs).join('\n')}\n`,
  };
}

/** Its fields are public. */
function attemptRecord(attempt: TimedAttempt['attempt'], latencyMs: number, answer: string): object {
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
