import type { Context } from '../../context.ts';
import { paletteFor } from '../../output/colour.ts';
import { sanitize } from '../../output/sanitize.ts';
import { write } from '../../output/sink.ts';
import { truncate } from '../../output/width.ts';

/** How the tour looks: the same lines on a terminal and in a pipe. */
export interface Stage {
  /** One sentence on what comes next. */
  step(sentence: string): Promise<void>;
  /** A command as the user would type it. */
  typed(command: string): Promise<void>;
  /** What it printed, each line cut to the width. */
  shown(lines: readonly string[]): Promise<void>;
  /** What the tour itself has to say. */
  said(text: string): Promise<void>;
  good(text: string): Promise<void>;
}

export async function openStage(context: Context): Promise<Stage> {
  const { stdout } = context;
  const colour = await paletteFor(stdout, context);
  const width = stdout.columns ?? 80;
  const verdicts = { accepted: colour.green, duplicate: colour.yellow, rejected: colour.red };
  const paint = (line: string): string =>
    line.replace(/(?<=^[\d:]+Z {2})(accepted|duplicate|rejected)/, (word) =>
      verdicts[word as keyof typeof verdicts](word),
    );
  let steps = 0;
  return {
    async step(sentence) {
      steps += 1;
      await write(stdout, `\n${colour.bold(colour.cyan(`${steps}. ${sentence}`))}\n`);
    },
    typed: (command) => write(stdout, `${colour.dim('$')} ${colour.bold(command)}\n`),
    async shown(lines) {
      for (const line of lines) await write(stdout, `${paint(truncate(sanitize(line), width))}\n`);
    },
    said: (text) => write(stdout, `${text}\n`),
    good: (text) => write(stdout, `${colour.green('✓')} ${text}\n`),
  };
}
