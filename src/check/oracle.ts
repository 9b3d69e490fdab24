import { runCommand } from '../receiver/targets/exec.ts';
import type { Context } from '../context.ts';

/** How many leads of this id the receiver has stored; a text says why that is not known. */
export type AskOracle = (leadId: string) => Promise<number | string>;

/** One question at a time would be slow, and many at once may be too much for a small database. */
const timeoutMs = 15_000;

/** `--oracle`: a program or shell line that gets `LEAD_ID` and prints a number. It gets none of our own settings. */
export function commandOracle(
  command: string,
  { env, killGroup, signal }: Pick<Context, 'env' | 'killGroup' | 'signal'>,
): AskOracle {
  const own = Object.entries(env).filter(([name]) => !name.toUpperCase().startsWith('LEADS_'));
  return async (leadId) => {
    const end = await runCommand({
      command,
      env: { ...Object.fromEntries(own), LEAD_ID: leadId },
      input: new Uint8Array(),
      timeoutMs,
      killGroup,
      signal,
    });
    if (!end.ok) return `the oracle failed: ${end.text}`;
    const count = /^\s*(\d{1,9})\s*$/m.exec(end.output)?.[1];
    return count === undefined ? 'the oracle printed no line with a number' : Number(count);
  };
}
