import { expect, it } from 'vitest';
import { median, printTable } from '../support/measure.ts';
import { startMovingService, type Style, styles } from '../support/moving-service.ts';
import { leads } from '../support/run.ts';

const count = 5000;
const cap = 100;
const rounds = 3;
/** Lists whose last page is short, and whose last page is full: then its end shows only behind it. */
const lists = [count - 50, count] as const;

/** Of a list that is sorted newest first, which `export` reads with fewer looks at its borders. */
const sortedRecord = (id: string): object => ({
  id,
  createdAt: new Date(Date.UTC(2026, 0, 15) - Number(id.slice('lead_'.length)) * 60_000).toISOString(),
});

interface Cost {
  readonly requests: number;
  readonly wallMs: number;
}

/** The median of some exports of a list that does not change. */
async function exportCost(style: Style, length: number, record?: (id: string) => object): Promise<Cost> {
  const requests: number[] = [];
  const times: number[] = [];
  for (let i = 0; i < rounds; i += 1) {
    const service = await startMovingService({
      ...{ style, leads: length, cap, change: 'nothing', changes: 0, random: () => 0.5 },
      ...(record && { record }),
    });
    const began = performance.now();
    const { exitCode, stdout } = await leads(['export', '-q'], {
      env: { LEADS_API_KEY: 'key', LEADS_BASE_URL: service.url },
    });
    times.push(performance.now() - began);
    requests.push(service.requests.length);
    await service.close();
    expect([style, exitCode, stdout.split('\n').length - 1]).toEqual([style, 0, length]);
  }
  return { requests: median(requests), wallMs: median(times) };
}

it('shows what the proof of completeness costs', async () => {
  const minimum = Math.ceil(count / cap);
  const rows: string[][] = [];
  for (const style of styles) {
    const short = await exportCost(style, lists[0], sortedRecord);
    const full = await exportCost(style, lists[1], sortedRecord);
    const unsorted = await exportCost(style, lists[0]);
    const each = (short.wallMs / short.requests).toFixed(1);
    const extra = ((short.requests / minimum - 1) * 100).toFixed(0);
    rows.push([
      ...[
        style,
        String(minimum),
        String(short.requests),
        `+${extra}%`,
        String(full.requests),
        String(unsorted.requests),
      ],
      ...[`${Math.round(short.wallMs)} ms`, `${each} ms`],
    ]);
    // One look at borders in eight pages, and at most five requests to find out how the list is paged and that it ends.
    expect.soft([style, short.requests <= minimum * 1.15 + 5]).toEqual([style, true]);
    // A walk back over everything, or a request a page, is the most that a proof may cost.
    expect.soft([style, unsorted.requests <= minimum * 2 + 8]).toEqual([style, true]);
  }
  printTable(`export: ${count} leads, ${cap} a page, nothing changes, median of ${rounds}`, [
    ['', 'pages', 'requests', 'more', 'last page full', 'with one time', 'time', 'a request'],
    ...rows,
  ]);
});
