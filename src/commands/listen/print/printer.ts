import type { Context } from '../../../context.ts';
import { paletteFor } from '../../../output/terminal/colour.ts';
import type { ListenOptions } from '../options.ts';
import { eventsPrinter } from './events.ts';
import { leadsPrinter } from './leads.ts';
import { prettyPrinter } from './pretty.ts';
import type { Printer } from '../../../receiver/events.ts';

export async function printerFor(format: ListenOptions['format'], context: Context): Promise<Printer> {
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
