import type { Context } from '../../../context.ts';
import { paletteFor } from '../../../output/terminal/colour.ts';
import type { ListenOptions } from '../options.ts';
import { eventsPrinter } from './events-printer.ts';
import { leadsPrinter } from './leads-printer.ts';
import { prettyPrinter } from './pretty-printer.ts';
import type { Printer } from './printer.ts';

/** The printer for `--format`. */
export async function choosePrinter(
  format: ListenOptions['format'],
  context: Pick<Context, 'stdout' | 'env' | 'globals'>,
): Promise<Printer> {
  const isTerminal = context.stdout.isTTY === true;
  switch (format) {
    case 'events':
      return eventsPrinter(isTerminal);
    case 'leads':
      return leadsPrinter(isTerminal);
    case 'pretty':
      return prettyPrinter(await paletteFor(context.stdout, context));
  }
}
