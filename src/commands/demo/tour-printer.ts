import type { Context } from '../../context.ts';
import { ask } from '../../config/prompt.ts';
import { wrap } from '../help/layout.ts';
import { paletteFor } from '../../output/terminal/colour.ts';
import { sanitize } from '../../output/sanitize.ts';
import { write } from '../../output/stdout.ts';
import { wrapWidth } from '../../output/terminal/terminal-width.ts';
import { truncate } from '../../output/terminal/text-width.ts';

export type TourPrinter = Awaited<ReturnType<typeof createTourPrinter>>;

/**
 * Prints the tour: the same lines on a terminal and in a pipe, except that a terminal's are broken between words.
 * `waitsForEnter`: before each step but the first.
 */
export async function createTourPrinter(context: Context, waitsForEnter = false) {
  const { stdout } = context;
  const colour = await paletteFor(stdout, context);
  const width = wrapWidth(stdout);
  const prose = (text: string): string => (stdout.isTTY === true ? wrap(text, width).join('\n') : text);
  const verdicts = { accepted: colour.green, duplicate: colour.yellow, rejected: colour.red };
  const paint = (line: string): string =>
    line.replace(/(?<=^[\d:]+Z {2})(accepted|duplicate|rejected)/, (word) =>
      verdicts[word as keyof typeof verdicts](word),
    );
  let steps = 0;
  return {
    /** One sentence on what comes next. */
    async step(sentence: string): Promise<void> {
      if (waitsForEnter && steps > 0) await ask('\n(Enter goes on, Ctrl-C ends) ', context);
      steps += 1;
      const lines = prose(`${steps}. ${sentence}`).split('\n');
      await write(stdout, `\n${lines.map((line) => colour.bold(colour.cyan(line))).join('\n')}\n`);
    },
    /** A command as the user would type it. */
    command: (command: string) => write(stdout, `${colour.dim('$')} ${colour.bold(command)}\n`),
    /** What a command printed, each line cut to the terminal's width. */
    async output(lines: readonly string[]): Promise<void> {
      for (const line of lines) await write(stdout, `${paint(truncate(sanitize(line), width))}\n`);
    },
    /** Text of the tour itself. */
    say: (text: string) => write(stdout, `${prose(text)}\n`),
    success: (text: string) => write(stdout, `${prose(`✓ ${text}`).replace('✓', colour.green('✓'))}\n`),
  };
}
