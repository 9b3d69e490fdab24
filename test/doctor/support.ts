import { expect } from 'vitest';
import { readConfig } from '../../src/config/read-config.ts';
import type { Dialect } from '../../src/config/dialect.ts';
import { dialectOf } from '../../src/config/load-settings.ts';
import { type SandboxOptions, type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.ts';
import type { Clock } from '../../src/time/clock.ts';
import { FakeClock } from '../support/clock.ts';
import { freshHome, leads, type Run } from '../support/run.ts';
import { type Scripted, scripted, sendJson } from '../support/service.ts';
import { join } from 'node:path';

interface Line {
  readonly type: 'check' | 'learnt' | 'summary';
  readonly name?: string;
  readonly result?: string;
  readonly detail?: string;
  readonly hint?: string | null;
  readonly key?: string;
  readonly value?: unknown;
  readonly old?: unknown;
  readonly evidence?: string;
  readonly requests?: number;
}

export interface Diagnosis extends Run {
  readonly lines: readonly Line[];
  readonly home: string;
  /** What the profile holds afterwards. */
  readonly dialect: Dialect;
  check(name: string): Line | undefined;
  /** A check in one line: `warn: …; hint: …`. */
  said(name: string): string;
  learnt(key: string): unknown;
}

interface Place {
  readonly url: string;
  readonly key?: string;
  readonly home?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly clock?: Clock;
}

const envOf = ({ url, key, env }: Place) => ({
  LEADS_BASE_URL: url,
  LEADS_API_KEY: key ?? 'sandbox-key',
  ...env,
});

/** Runs `leads doctor --json` with more words. */
export async function diagnose(place: Place, ...words: readonly string[]): Promise<Diagnosis> {
  const home = place.home ?? freshHome();
  const run = await leads(['doctor', '--json', ...words], {
    home,
    env: envOf(place),
    ...(place.clock && { clock: place.clock }),
  });
  const lines = run.stdout
    .trimEnd()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);
  const check = (name: string) => lines.find((line) => line.name === name);
  return {
    ...run,
    lines,
    home,
    dialect: dialectOf(readConfig(join(home, 'config')).profiles?.['default'] ?? {}),
    check,
    said(name) {
      const { result = 'not there', detail = '', hint } = check(name) ?? {};
      return `${result}: ${detail}; hint: ${hint ?? ''}`;
    },
    learnt: (key) => lines.find((line) => line.key === `api.${key}`)?.value,
  };
}

/** `--learn` says that it cannot know how the service pages, with a hint, writes nothing of that, and keeps to its requests. */
export async function expectUndecidedPagination(service: Scripted, hint: string): Promise<void> {
  const found = await diagnose({ url: service.url }, '--learn');
  expect(service.requests.length).toBeLessThanOrEqual(25);
  await service.close();
  expect(found.learnt('pagination')).toBeUndefined();
  expect(found.check('dialect.pagination')).toMatchObject({
    result: 'warn',
    hint: expect.stringContaining(hint) as string,
  });
}

/** The ids of a fresh export with what the profile holds; it has to be complete. */
export async function exportedIds(
  place: Place,
  home: string,
  ...words: readonly string[]
): Promise<string[]> {
  const { exitCode, stdout, stderr } = await leads(['export', ...words], { home, env: envOf(place) });
  expect([exitCode, stderr]).toEqual([0, expect.any(String)]);
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { id: string }).id);
}

export const sandboxWith = (
  options: SandboxOptions,
  clock: Clock = new FakeClock(Date.now(), { hasty: true }),
): Promise<Sandbox> => startSandbox({ leads: 300, ...options }, { clock });

export interface Lead {
  readonly id?: string;
  readonly [name: string]: unknown;
}

export const records = (count: number): Lead[] =>
  Array.from({ length: count }, (_, i) => ({
    id: `lead_${i}`,
    category: ['solar', 'roofing'][i % 2],
    createdAt: new Date(Date.UTC(2026, 0, 1) + i * 3_600_000).toISOString(),
  }));

/** A service that answers a query with what `answer` gives. */
export const serving = (answer: (query: URLSearchParams) => unknown): Promise<Scripted> =>
  scripted((request, response) => {
    const body = answer(new URL(request.url ?? '/', 'http://localhost').searchParams);
    if (typeof body === 'number')
      response.writeHead(body, { 'content-type': 'application/json' }).end('{"error":"no"}');
    else sendJson(response, body);
  });
