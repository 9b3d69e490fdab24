import { expect, it } from 'vitest';
import { oldestFirst } from '../../src/lead/raw-lead.ts';
import { readLead } from '../../src/lead/read-leads.ts';

function order(times: readonly string[]): (string | undefined)[] {
  const leads = times.map((createdAt, i) => {
    const reading = readLead(Buffer.from(JSON.stringify({ id: String(i), createdAt })));
    if (!reading.ok) throw new Error(reading.detail);
    return reading.lead;
  });
  return oldestFirst(leads).map(({ id }) => id);
}

it.each([
  { listed: 'newest first', times: ['2026-01-03', '2026-01-02', '2026-01-01'], ids: ['2', '1', '0'] },
  { listed: 'oldest first', times: ['2026-01-01', '2026-01-02', '2026-01-03'], ids: ['0', '1', '2'] },
  { listed: 'with one time', times: ['2026-01-01', '2026-01-01'], ids: ['1', '0'] },
  { listed: 'with an unreadable time', times: ['2026-01-03', 'soon', '2026-01-01'], ids: ['2', '1', '0'] },
])('leads $listed come oldest first', ({ times, ids }) => {
  expect(order(times)).toEqual(ids);
});
