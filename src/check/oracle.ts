import type { Context } from '../context.ts';
import { runCommand } from '../receiver/targets/exec.ts';

/** How many leads of this id the receiver has stored; a text says why that is not known. */
export type AskOracle = (leadId: string) => Promise<number | string>;

/** For one question to the oracle. */
const timeoutMs = 15_000;

/** `--oracle`: a program or shell line that gets `LEAD_ID` and prints a number. It gets none of our own settings. */
export function commandOracle(
  command: string,
  { env, killGroup, signal }: Pick<Context, 'env' | 'killGroup' | 'signal'>,
): AskOracle {
  const foreign = Object.fromEntries(
    Object.entries(env).filter(([name]) => !name.toUpperCase().startsWith('LEADS_')),
  );
  return async (leadId) => {
    const input = new Uint8Array();
    const variables = { ...foreign, LEAD_ID: leadId };
    const end = await runCommand({ command, env: variables, input, timeoutMs, killGroup, signal });
    if (!end.ok) return `the oracle failed: ${end.text}`;
    const count = /^\s*(\d{1,9})\s*$/m.exec(end.output)?.[1];
    return count === undefined ? 'the oracle printed no line with a number' : Number(count);
  };
}
