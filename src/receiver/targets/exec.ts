import type { Context } from '../../context.ts';
import { leadBytes } from '../../inbox/lead-bytes.ts';
import type { Messages } from '../../output/messages.ts';
import { ConcurrencyLimit } from './concurrency-limit.ts';
import { runCommand } from './exec-child.ts';
import type { AttemptedLead, Target, TargetResult } from './target.ts';

interface ExecOptions {
  readonly command: string;
  /** Of this process; the command gets it without our own settings. */
  readonly env: Context['env'];
  readonly timeoutMs: number;
  readonly bestEffort: boolean;
  readonly messages: Pick<Messages, 'say'>;
  readonly killGroup: Context['killGroup'];
  /** Kills the commands that run. */
  readonly signal: AbortSignal;
}

/** Commands at the same time: a burst of leads must not become a burst of processes. */
const concurrency = 4;

/**
 * `--exec`: runs a shell command with the lead's own bytes on stdin, and its id (a NUL as U+FFFD, since no variable can hold
 * one) and attempt in `LEAD_ID` and `LEAD_ATTEMPT`; exit 0 means that it took the lead. A lead waits
 * `timeoutMs` at most until a command may start, and the command runs as long at most.
 */
export function execTarget(options: ExecOptions): Target {
  const { command, timeoutMs, bestEffort, messages, killGroup, signal } = options;
  const env = withoutSettings(options.env);
  const limit = new ConcurrencyLimit(concurrency);
  const run = async (body: Uint8Array, { leadId, place, attempt }: AttemptedLead): Promise<TargetResult> => {
    const queued = performance.now();
    if (!(await limit.acquire(timeoutMs, signal))) {
      const durationMs = Math.round(performance.now() - queued);
      return { to: 'exec', ok: false, answer: 'others were still running', durationMs };
    }
    const started = performance.now();
    try {
      const lead = { LEAD_ID: leadId.replaceAll('\0', '\ufffd'), LEAD_ATTEMPT: String(attempt) };
      const end = await runCommand({
        command,
        env: { ...env, ...lead },
        input: leadBytes(body, place),
        timeoutMs,
        killGroup,
        signal,
      });
      // stdout carries our data alone, so what a command prints goes to stderr with the messages.
      for (const line of end.output.split('\n')) if (line !== '') messages.say(`  | ${line}`);
      const durationMs = Math.round(performance.now() - started);
      return { to: 'exec', ok: end.ok, answer: end.text, durationMs };
    } finally {
      limit.release();
    }
  };
  return {
    name: `exec ${command}`,
    longestMs: 2 * timeoutMs + 1000,
    bestEffort,
    concurrency,
    deliver: ({ delivery }, leads) => leads.map((lead) => run(delivery.body, lead)),
  };
}

/** A child has no need for the tool's own settings, some of which are secrets. */
const withoutSettings = (env: ExecOptions['env']): ExecOptions['env'] =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !name.toUpperCase().startsWith('LEADS_')));
