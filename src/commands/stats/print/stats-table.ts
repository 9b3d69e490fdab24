import type { Context } from '../../../context.ts';
import { asksForAscii } from '../../../output/terminal/character-set.ts';
import { paletteFor } from '../../../output/terminal/colour.ts';
import { counted, grouped } from '../../../output/terminal/progress.ts';
import { terminalWidth, wrapWidth } from '../../../output/terminal/terminal-width.ts';
import { write } from '../../../output/write-stream.ts';
import { noValue, otherValues } from '../../../stats/value-counts.ts';
import { wrap } from '../../help/layout.ts';
import type { CountedWindows } from '../counted-windows.ts';
import type { Window } from '../stats-plan.ts';
import { type RankedFacet, rankedFacets } from '../ranked-facets.ts';
import { barSection, type ChartStyle } from './bar-section.ts';
import { changeText } from './figure-text.ts';
import { matrixSection } from './matrix-section.ts';
import { receiptsSection } from './receipts-section.ts';
import { seriesSection } from './series-section.ts';

/** Everything that was counted, for a person: sections with bars that fit the terminal, or 80 columns in a pipe. */
export async function printTable(windows: CountedWindows, top: number, context: Context): Promise<void> {
  const { stdout } = context;
  const style: ChartStyle = {
    width: wrapWidth(stdout),
    cutsLabels: terminalWidth(stdout) !== undefined,
    ascii: asksForAscii(context),
    colours: await paletteFor(stdout, context),
  };
  const sections = [
    headLines(windows, style),
    seriesSection(windows, style),
    ...facetSections(windows, top, style),
    matrixSection(windows.current, top, style),
    windows.current.receipts === undefined
      ? []
      : receiptsSection(windows.current.receipts, windows.previous?.receipts, style),
  ].filter((lines) => lines.length > 0);
  const text = sections.map((lines) => lines.map((line) => line.trimEnd()).join('\n')).join('\n\n');
  await write(stdout, `${text}\n`);
}

function headLines({ current, previous }: CountedWindows, { width, colours }: ChartStyle): string[] {
  const { leads, receipts, window } = current;
  const verb = receipts === undefined ? 'created' : 'received';
  const head = `${counted(leads.total, 'lead', 'leads')} ${verb} ${windowText(window)}`;
  const lines = wrap(head, width).map((line) => colours.bold(line));
  if (previous === undefined) return lines;
  const change = changeText(previous.leads.total, leads.total);
  const before = `before: ${grouped(previous.leads.total)} ${windowText(previous.window)}; change: ${change}`;
  return [...lines, ...wrap(before, width)];
}

function windowText({ since, until }: Window): string {
  if (until === undefined) return since === undefined ? 'so far' : `since ${minute(since)} UTC`;
  if (since === undefined) return `before ${minute(until)} UTC`;
  return `from ${minute(since)} to ${minute(until)} UTC`;
}

const minute = (ms: number): string => new Date(ms).toISOString().slice(0, 16).replace('T', ' ');

function facetSections(windows: CountedWindows, top: number, style: ChartStyle): string[][] {
  return rankedFacets(windows, top)
    .filter((facet) => !isAbsent(facet))
    .map(({ title, rows }) =>
      barSection(
        title,
        'LEADS',
        rows.map(({ value, count, before }) => ({
          label: value === '' ? '""' : value,
          count,
          before: windows.previous === undefined ? undefined : before,
          isRest: value === otherValues,
        })),
        windows.current.leads.total,
        style,
      ),
    );
}

/** A field that no lead has says nothing. */
const isAbsent = ({ rows }: RankedFacet): boolean => rows.every(({ value }) => value === noValue);
