import { effectiveSettings } from '../../config/effective-settings.ts';
import type { Context } from '../../context.ts';
import { paletteFor } from '../../output/terminal/colour.ts';
import { escapeJson } from '../../output/sanitize.ts';
import { write } from '../../output/stdout.ts';
import { renderTable } from '../../output/table.ts';
import { terminalWidth } from '../../output/terminal/terminal-width.ts';
import type { Outcome } from '../flags/command-spec.ts';
import type { ConfigListOptions } from './options.ts';

export async function run({ format }: ConfigListOptions, context: Context): Promise<Outcome> {
  const { stdout } = context;
  const settings = await effectiveSettings(context);
  if (format === 'json') {
    const json = `${JSON.stringify(settings, null, 2)}\n`;
    await write(stdout, stdout.isTTY === true ? escapeJson(json) : json);
    return 'done';
  }
  const { dim } = await paletteFor(stdout, context);
  const rows = settings.map(({ key, value, from }) => [key, value, from]);
  const width = terminalWidth(stdout);
  const fit = { whole: ['KEY', 'VALUE'], narrowing: [{ drop: 'FROM' }] };
  await write(stdout, renderTable(['KEY', 'VALUE', 'FROM'], rows, { ...fit, width, head: dim }));
  return 'done';
}
