import type { Probe } from '../../../check/check-probe.ts';
import type { Context } from '../../../context.ts';
import { paletteFor } from '../../../output/terminal/colour.ts';
import { withoutCommands } from '../../../output/github/workflow-command.ts';
import { marksFor } from '../../../output/terminal/marks.ts';
import { wrapWidth } from '../../../output/terminal/terminal-width.ts';
import { escapeJson } from '../../../output/sanitize.ts';
import { write } from '../../../output/write-stream.ts';
import type { Summary } from '../summarize.ts';
import type { DescribedReport } from './described-report.ts';
import { PrettyGroups, summaryLines } from './pretty-report.ts';

/** Writes reports to stdout as they come. */
export interface ReportPrinter {
  probe(report: DescribedReport): Promise<void>;
  end(summary: Summary): Promise<void>;
}

type PrintContext = Pick<Context, 'stdout' | 'env' | 'globals'>;

/** `--json`: one object a line, in the order of `probes` however they end; the last one is the summary. */
export function jsonPrinter(
  target: string,
  probes: readonly Probe[],
  { stdout }: Pick<PrintContext, 'stdout'>,
): ReportPrinter {
  const waiting = probes.map(({ name }) => name);
  const ended = new Map<string, DescribedReport>();
  const line = (value: object): Promise<void> => {
    const json = JSON.stringify(value);
    return write(stdout, `${stdout.isTTY === true ? escapeJson(json) : json}\n`);
  };
  return {
    async probe(report) {
      ended.set(report.name, report);
      for (let next = ended.get(waiting[0] ?? ''); next !== undefined; next = ended.get(waiting[0] ?? '')) {
        waiting.shift();
        await line(next);
      }
    },
    end: ({ counts, accepted }) => line({ type: 'summary', target, ...counts, accepted }),
  };
}

/** For people: a line for what passes in a group, and some for each probe that does not. */
export async function prettyPrinter(
  target: string,
  probes: readonly Probe[],
  context: PrintContext,
): Promise<ReportPrinter> {
  const { stdout } = context;
  const colours = await paletteFor(stdout, context);
  const width = wrapWidth(stdout);
  const groups = new PrettyGroups(probes, { colours, marks: marksFor(context), width });
  await write(stdout, `${colours.bold(`checking ${target}`)}\n`);
  return {
    async probe(report) {
      const text = groups.add(report);
      // The runner reads stdout as well, and the receiver's answers are in it.
      if (text !== '') await write(stdout, context.env['GITHUB_ACTIONS'] ? withoutCommands(text) : text);
    },
    end: (summary) => write(stdout, `${summaryLines(summary, colours, width).join('\n')}\n`),
  };
}
