import type { TargetCount } from '../../src/inbox/inbox.ts';
import { describe, expect, it } from 'vitest';
import { openMetricsText } from '../../src/output/openmetrics.ts';
import type { AnsweredDelivery } from '../../src/receiver/receiver-events.ts';
import { backlogCache, backlogFamilies, ReceiverMetrics } from '../../src/receiver/receiver-metrics.ts';
import type { TargetResult } from '../../src/receiver/targets/target.ts';
import { FakeClock } from '../support/clock.ts';
import { parseOpenMetrics, valueOf } from '../support/open-metrics.ts';

const targets = [{ name: 'forward https://user:password@app.test/hook?key=1' }, { name: 'exec mail me' }];

const event = (parts: Partial<AnsweredDelivery>): AnsweredDelivery =>
  ({ verdict: 'accepted', source: 'push', ...parts }) as AnsweredDelivery;

describe('the metrics of a receiver', () => {
  it('count deliveries by verdict, reason and source, and start at zero', () => {
    const metrics = new ReceiverMetrics([]);
    const read = () => parseOpenMetrics(openMetricsText(metrics.families()));
    expect(valueOf(read(), 'leads_deliveries_total', { reason: 'wrong_credential' })).toBe(0);
    metrics.delivered(event({}));
    metrics.delivered(event({ source: 'backfill' }));
    metrics.delivered(event({ verdict: 'rejected', reason: 'wrong_credential' }));
    metrics.delivered(event({ verdict: 'rejected', reason: 'cannot_store', source: 'backfill' }));
    const of = (labels: Record<string, string>) => valueOf(read(), 'leads_deliveries_total', labels);
    expect(of({})).toBe(4);
    expect(of({ verdict: 'accepted', source: 'push' })).toBe(1);
    expect(of({ verdict: 'accepted', source: 'backfill' })).toBe(1);
    expect(of({ verdict: 'rejected', reason: 'wrong_credential' })).toBe(1);
    expect(of({ reason: 'cannot_store', source: 'backfill' })).toBe(1);
  });

  it('name targets without their credentials, and their results by kind', () => {
    const metrics = new ReceiverMetrics(targets);
    const attempted = (target: string, result: Partial<TargetResult>): void =>
      metrics.forwarded({
        ...{ at: 1, leadId: 'a', target, attempt: 1, state: 'waiting', retryInMs: 1 },
        result: { to: 'forward', ok: false, answer: 'x', durationMs: 1, ...result },
      });
    for (const status of [301, 404, 410, 500, undefined]) attempted('forward https://app.test', { status });
    attempted('exec', { to: 'exec' });
    attempted('forward https://app.test', { ok: true, status: 204 });
    const text = openMetricsText(metrics.families());
    expect(text).not.toMatch(/password|key=1|mail/);
    const of = (target: string, kind: string) =>
      valueOf(parseOpenMetrics(text), 'leads_forwards_total', { target, result: kind });
    const app = 'forward https://app.test';
    expect(['ok', 'http_3xx', 'http_4xx', 'http_5xx', 'failed'].map((kind) => of(app, kind))).toEqual([
      1, 1, 2, 1, 1,
    ]);
    expect([of('exec', 'ok'), of('exec', 'failed')]).toEqual([0, 1]);
  });

  it('show what waits for each target of this run, and for all others together', () => {
    const backlog = [
      { target: 'exec', waiting: 2, dead: 3, oldestAt: 40_000, isOwn: true },
      { target: 'exec', waiting: 3, dead: 0, oldestAt: 20_000, isOwn: false },
      { target: 'output a', waiting: 4, dead: 0, oldestAt: 10_000, isOwn: false },
    ];
    const families = parseOpenMetrics(
      openMetricsText(
        backlogFamilies(
          { backlog, ageMs: 1500 },
          targets.map(({ name }) => name),
          100_000,
        ),
      ),
    );
    const of = (target: string) => [
      valueOf(families, 'leads_waiting', { target }),
      valueOf(families, 'leads_dead', { target }),
      valueOf(families, 'leads_waiting_oldest_age_seconds', { target }),
    ];
    expect(of('forward https://app.test')).toEqual([0, 0, 0]);
    expect(of('exec')).toEqual([2, 3, 60]);
    expect(of('other')).toEqual([7, 0, 90]);
    expect(families[0]?.samples).toHaveLength(3);
  });
});

describe('what waits', () => {
  it('is read once for all who ask in the same second, and more seldom where reading takes long', async () => {
    const clock = new FakeClock();
    let readings = 0;
    let takes = 0;
    const inbox = {
      targetCounts() {
        readings += 1;
        clock.advance(takes);
        return Promise.resolve([]);
      },
    };
    const cache = backlogCache(inbox, clock);
    await Promise.all([cache(), cache()]);
    clock.advance(999);
    await cache();
    expect(readings).toBe(1);
    takes = 400;
    clock.advance(1);
    await cache();
    expect(readings).toBe(2);
    clock.advance(19_999);
    await cache();
    expect(readings).toBe(2);
    clock.advance(1);
    await cache();
    expect(readings).toBe(3);
  });

  it('is read again after a reading that failed', async () => {
    const clock = new FakeClock();
    let readings = 0;
    const backlog = () => Promise.reject(new Error(`reading ${(readings += 1)}`));
    const cache = backlogCache({ targetCounts: backlog }, clock);
    await expect(cache()).rejects.toThrow('reading 1');
    clock.advance(1000);
    await expect(cache()).rejects.toThrow('reading 2');
  });

  it('keeps nobody waiting who asks for metrics, and says how old it is', async () => {
    const clock = new FakeClock();
    const answers: ((backlog: readonly TargetCount[]) => void)[] = [];
    const backlog = (): Promise<readonly TargetCount[]> => new Promise((resolve) => answers.push(resolve));
    const cache = backlogCache({ targetCounts: backlog }, clock);
    const after = async (ms: number) => {
      const asked = cache().catch((error: unknown) => String(error));
      clock.advance(ms);
      return asked;
    };
    expect(await after(500)).toMatch('has not answered yet');
    answers[0]?.([]);
    expect(await cache()).toEqual({ backlog: [], ageMs: 500 });
    clock.advance(25_000);
    expect(await after(500)).toEqual({ backlog: [], ageMs: 26_000 });
    clock.advance(1000);
    expect(await after(500)).toMatch('has not answered yet');
    answers[1]?.([]);
    expect(await cache()).toEqual({ backlog: [], ageMs: 2000 });
  });
});
