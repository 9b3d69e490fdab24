import { leadBytes } from '../../lead/raw-lead.ts';
import type { Messages } from '../../output/messages.ts';
import { type CommandOptions, runCommand } from './run-command.ts';
import type { Target } from './target.ts';

interface ExecOptions extends Omit<CommandOptions, 'input'> {
  readonly host?: string | undefined;
  readonly messages: Pick<Messages, 'say'>;
}

/** Commands at the same time: a burst of leads must not become a burst of processes. */
const concurrency = 4;

/**
 * Runs a shell command with the lead's own bytes on stdin, and its id (a NUL as U+FFFD, since no variable can hold
 * one) and attempt in `LEAD_ID` and `LEAD_ATTEMPT`; exit 0 means that it took the lead. The command runs `timeoutMs` at
 * most.
 */
export function execTarget({ messages, ...options }: ExecOptions): Target {
  const { command, host, timeoutMs, killGroup, signal } = options;
  // The command gets none of the tool's own settings: some are secrets.
  const settings = Object.entries(options.env).filter(([name]) => !/^LEADS_/i.test(name));
  const env = Object.fromEntries(settings);
  return {
    name: `exec ${host === undefined ? '' : `${host} `}${command}`,
    concurrency,
    // There is one lead: a target that is not `isWhole` gets the leads of a delivery one by one.
    async deliver({ delivery, leads: [lead] }, attempt) {
      const id = lead?.leadId.replaceAll('\0', '\ufffd') ?? '';
      const input = leadBytes(delivery.body, lead?.place);
      const variables = { LEAD_ID: id, LEAD_ATTEMPT: String(attempt) };
      const started = performance.now();
      const run = { command, env: { ...env, ...variables }, input, timeoutMs, killGroup, signal };
      const { ok, text: answer, isInterrupted, output } = await runCommand(run);
      // stdout carries our data alone, so what a command prints goes to stderr with the messages.
      for (const line of output.split('\n')) if (line !== '') messages.say(`  | ${line}`);
      return { to: 'exec', ok, answer, isInterrupted, durationMs: Math.round(performance.now() - started) };
    },
  };
}
