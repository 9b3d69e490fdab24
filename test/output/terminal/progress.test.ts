import { afterEach, describe, expect, it, vi } from 'vitest';
import { progressLine, showProgress, summaryLine } from '../../../src/output/terminal/progress.ts';
import { StatusLine } from '../../../src/output/terminal/status-line.ts';
import { FakeClock } from '../../support/clock.ts';
import { memory } from '../../support/run.ts';

describe('progress', () => {
  afterEach(() => void vi.useRealTimers());

  it('shows count, rate, time and, when the total is known, the share and what is left', () => {
    expect(progressLine({ leads: 12_345, earlierLeads: 0, total: undefined, elapsedMs: 1000 })).toBe(
      '12,345 leads, 12,345/s, 1s',
    );
    expect(progressLine({ leads: 2000, earlierLeads: 0, total: 10_000, elapsedMs: 4000 })).toBe(
      '2,000 of 10,000 leads, 20%, 500/s, 4s, about 16s left',
    );
  });

  it('leaves out of the rate what an earlier attempt wrote', () => {
    expect(progressLine({ leads: 5000, earlierLeads: 4000, total: 6000, elapsedMs: 2000 })).toBe(
      '5,000 of 6,000 leads, 83%, 500/s, 2s, about 2s left',
    );
  });

  it('shows no share of a total that has been passed', () => {
    expect(progressLine({ leads: 12, earlierLeads: 0, total: 10, elapsedMs: 1000 })).toBe(
      '12 of 10 leads, 12/s, 1s',
    );
  });

  it('is in the status line until it is cleared, and nothing where there is none', () => {
    const clock = new FakeClock();
    const stderr = memory(40);
    vi.useFakeTimers();
    const status = new StatusLine(stderr, clock);
    const progress = showProgress(status, clock);
    clock.advance(500);
    progress.update(2, undefined);
    progress.update(3, undefined);
    vi.runOnlyPendingTimers();
    expect(stderr.text()).toBe('\r\u001b[K3 leads, 6/s, 1s');
    progress.clear();
    expect(stderr.text().endsWith('1s\r\u001b[K')).toBe(true);
    showProgress(undefined, clock).update(2, undefined);
  });
});

describe('summary', () => {
  const tally = {
    leads: 1,
    earlierLeads: 0,
    durationMs: 500,
    retries: 0,
    duplicates: 0,
    withoutId: 0,
  };

  it('counts in words that fit', () => {
    expect(summaryLine(tally)).toBe('1 lead in 500ms (2/s), 0 retries, 0 duplicates dropped');
    expect(
      summaryLine({ ...tally, leads: 1500, earlierLeads: 500, retries: 1, duplicates: 1 }, ' to x'),
    ).toBe('1,500 leads to x in 500ms (2,000/s), 1 retry, 1 duplicate dropped, 500 of them from before');
  });

  it('has no rate where nothing came', () => {
    expect(summaryLine({ ...tally, leads: 210, earlierLeads: 210 })).toBe(
      '210 leads in 500ms, 0 retries, 0 duplicates dropped, 210 of them from before',
    );
  });

  it('says what cannot be ruled out', () => {
    expect(summaryLine({ ...tally, withoutId: 2 })).toContain('2 without id');
  });
});
