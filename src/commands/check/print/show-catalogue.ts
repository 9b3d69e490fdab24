import { groupOf, type Probe } from '../../../check/check-probe.ts';
import type { Context } from '../../../context.ts';
import { renderTable } from '../../../output/table/table.ts';
import { paletteFor } from '../../../output/terminal/colour.ts';
import { terminalWidth } from '../../../output/terminal/terminal-width.ts';
import { write } from '../../../output/write-stream.ts';

/** `--list`: what there is to be asked, one probe a line. */
export async function showCatalogue(
  probes: readonly Probe[],
  asJson: boolean,
  context: Pick<Context, 'stdout' | 'env' | 'globals'>,
): Promise<void> {
  const { stdout } = context;
  if (asJson) {
    const lines = probes.map((probe) => {
      const { name, rule, level, expected } = probe;
      return JSON.stringify({ name, group: groupOf(probe), rule: `specification ${rule}`, level, expected });
    });
    await write(stdout, `${lines.join('\n')}\n`);
    return;
  }
  const rows = probes.map(({ name, level, rule, expected }) => [name, level, rule, expected]);
  const { bold } = await paletteFor(stdout, context);
  const width = terminalWidth(stdout);
  const table = renderTable(['NAME', 'LEVEL', 'SECTION', 'EXPECTED'], rows, {
    width,
    head: bold,
    whole: ['NAME', 'LEVEL'],
    narrowing: [{ drop: 'SECTION' }],
  });
  await write(stdout, table);
}
