import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { activityLine, StatusLine } from '../../../src/output/terminal/status-line.ts';
import { FakeClock } from '../../support/clock.ts';
import { memory } from '../../support/run.ts';

const idle = { progress: undefined, waits: [], openRequests: 0, lastHeardAt: 0 };

describe('what a run does at the moment', () => {
  it('is a wait with its reason, counted down', () => {
    const waits = [{ until: 20_000, reason: 'rate limited, retry 1 of 5' }];
    expect(activityLine({ ...idle, waits }, 0)).toBe('waiting 20s: rate limited, retry 1 of 5');
    expect(activityLine({ ...idle, waits }, 12_900)).toBe('waiting 7s: rate limited, retry 1 of 5');
  });

  it('is the longest of several waits', () => {
    const waits = [
      { until: 5000, reason: 'a' },
      { until: 200_000, reason: 'b' },
      { until: 9000, reason: 'c' },
    ];
    expect(activityLine({ ...idle, waits }, 0)).toBe('waiting 3m 20s: b');
  });

  it('is that it asks, after a second of silence', () => {
    expect(activityLine({ ...idle, openRequests: 1, lastHeardAt: 5000 }, 5900)).toBe('');
    expect(activityLine({ ...idle, openRequests: 1, lastHeardAt: 5000 }, 8000)).toBe('asking … 3s');
  });

  it('stands behind what it has done so far', () => {
    const progress = (now: number): string => `${now / 1000} leads`;
    expect(activityLine({ ...idle, progress, openRequests: 1 }, 2000)).toBe('2 leads, asking … 2s');
    expect(activityLine({ ...idle, progress }, 2000)).toBe('2 leads');
  });
});

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A line whose timer is the test's. */
function lineOn(columns: number) {
  const clock = new FakeClock(0);
  const stderr = memory(columns);
  const line = new StatusLine(stderr, clock);
  const tick = (ms: number): string => {
    const before = stderr.text().length;
    clock.advance(ms);
    vi.runOnlyPendingTimers();
    return stderr.text().slice(before);
  };
  return { line, stderr, tick, isDrawing: () => vi.getTimerCount() > 0 };
}

describe('the status line', () => {
  it('is drawn again only where it has changed, and erased at the end', () => {
    const { line, stderr, tick, isDrawing } = lineOn(80);
    const end = line.addWait(20_000, 'rate limited');
    expect(tick(200)).toBe('\r\u001b[Kwaiting 20s: rate limited');
    expect(tick(200)).toBe('');
    expect(tick(1000)).toBe('\r\u001b[Kwaiting 19s: rate limited');
    end();
    expect(stderr.text().endsWith('rate limited\r\u001b[K')).toBe(true);
    expect(isDrawing()).toBe(false);
  });

  it('shows a stall within a second', () => {
    const { line, tick } = lineOn(80);
    line.showProgress((now) => `7 leads, ${Math.floor(now / 1000)}s`);
    expect(tick(200)).toContain('7 leads, 0s');
    line.addRequest();
    expect(tick(800)).toContain('7 leads, 1s');
    expect(tick(200)).toContain('asking … 1s');
  });

  it('makes room for every other text, and comes back below it', () => {
    const { line, stderr, tick } = lineOn(80);
    const shared = line.sharedWith(stderr);
    line.addWait(9000, 'x');
    tick(200);
    shared.write('note: one\n');
    expect(stderr.text()).toBe('\r\u001b[Kwaiting 9s: x\r\u001b[Knote: one\n');
    expect(tick(1000)).toBe('\r\u001b[Kwaiting 8s: x');
    expect(shared.columns).toBe(80);
  });

  it('waits for the end of a line that somebody else has begun', () => {
    const { line, stderr, tick } = lineOn(80);
    const shared = line.sharedWith(stderr);
    line.addWait(9000, 'x');
    shared.write('API key: ');
    expect(tick(1000)).toBe('');
    shared.write(Buffer.from('\n'));
    expect(tick(1000)).toContain('waiting 7s');
  });

  it('fits the terminal, and draws nothing that came from outside', () => {
    const { line, tick } = lineOn(20);
    line.addWait(9000, 'evil \u001b[2J \u202e and quite long');
    const drawn = tick(200).replace('\r\u001b[K', '');
    expect(drawn).toHaveLength(19);
    expect(drawn).not.toMatch(/[\u001b\u202e]/);
  });

  it('counts a request as answered once', () => {
    const { line, isDrawing } = lineOn(80);
    const first = line.addRequest();
    const second = line.addRequest();
    first();
    first();
    expect(isDrawing()).toBe(true);
    second();
    expect(isDrawing()).toBe(false);
  });
});
