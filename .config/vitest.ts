import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

const shared = {
  environment: 'node',
  pool: 'forks',
  // Loading the modules takes much of a file's time, and no test changes what the next one of its process shares.
  isolate: false,
  hookTimeout: 60_000,
  // Thousands of tests run four times in .ci/run: one that fails there fails twice in a row. Elsewhere the first failure counts.
  retry: process.env['CI'] === undefined ? 0 : 1,
  // A busy machine must not fail a test that waits for something observable.
  expect: { poll: { timeout: 15_000, interval: 20 } },
} as const;

/** One test for each row of a long table, each drawn history, each night: what a change elsewhere seldom breaks takes longest. */
const exhaustive = [
  'test/services/**/*.test.ts',
  'test/doctor/learn-*.test.ts',
  'test/service/{arrivals-and-probes,drawn-histories,sorted-lists,paginations}.test.ts',
  'test/commands/export/lone-nights.test.ts',
  'test/commands/verify/every-fix.test.ts',
  'test/check/{broken-receivers,hostile-answers}.test.ts',
];

export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  define: {
    LEADS_VERSION: JSON.stringify('0.0.0-test'),
    LEADS_SINGLE_FILE: 'false',
    // From src/files/embedded/.
    LEADS_PAGE_FOLDER: JSON.stringify('../../../dist/inspect/'),
  },
  test: {
    // Keyed by content and configuration: the projects share what was transformed, and so do the next runs.
    experimental: { fsModuleCache: true },
    // Many tests wait for processes and clocks: one worker more than there are cores keeps these busy.
    maxWorkers: availableParallelism() + 1,
    projects: [
      {
        extends: true,
        test: {
          ...shared,
          name: 'unit',
          globalSetup: ['test/support/temporary.ts', 'test/support/postgres/on-demand.ts'],
          include: ['test/**/*.test.ts'],
          exclude: [
            'test/cli/**',
            'test/library/{package,types}/**',
            'test/faults/**',
            'test/bench/**',
            'test/browser/**',
            'test/oracles/**',
            'test/model/**',
            'test/docs/**',
            'test/hosts/**',
            ...exhaustive,
          ],
          testTimeout: 20_000,
        },
      },
      {
        extends: true,
        test: {
          ...shared,
          name: 'exhaustive',
          globalSetup: ['test/support/temporary.ts'],
          include: exhaustive,
          testTimeout: 120_000,
        },
      },
      {
        extends: true,
        test: {
          ...shared,
          name: 'cli',
          include: ['test/cli/**/*.test.ts', 'test/library/package/**/*.test.ts'],
          globalSetup: [
            'test/support/temporary.ts',
            'test/support/build.ts',
            'test/support/postgres/on-demand.ts',
          ],
          testTimeout: 30_000,
        },
      },
      {
        extends: true,
        test: {
          ...shared,
          name: 'faults',
          include: ['test/faults/**/*.test.ts'],
          globalSetup: [
            'test/support/temporary.ts',
            'test/support/build.ts',
            'test/support/postgres/on-demand.ts',
          ],
          testTimeout: 1_800_000,
        },
      },
      {
        extends: true,
        test: {
          ...shared,
          name: 'docs',
          include: ['test/docs/*.test.ts'],
          globalSetup: [
            'test/support/temporary.ts',
            'test/support/build.ts',
            'test/support/postgres/on-demand.ts',
          ],
          testTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          ...shared,
          name: 'types',
          include: ['test/library/types/**/*.test.ts'],
          globalSetup: ['test/support/temporary.ts', 'test/support/build.ts'],
          testTimeout: 120_000,
        },
      },
      {
        extends: true,
        test: {
          ...shared,
          name: 'browser',
          // Of ten tabs that are loaded at once, one may get no answer from the browser's network for a while.
          retry: process.env['CI'] === undefined ? 0 : 2,
          include: ['test/browser/*.test.ts'],
          globalSetup: [
            'test/browser/support/chromium-path.ts',
            'test/support/temporary.ts',
            'test/support/build.ts',
          ],
          // One browser uses all the cores there are, and times are measured in it.
          fileParallelism: false,
          testTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          ...shared,
          name: 'model',
          include: ['test/model/*.test.ts'],
          globalSetup: ['test/support/temporary.ts'],
          testTimeout: 120_000,
        },
      },
      {
        extends: true,
        test: {
          ...shared,
          name: 'oracles',
          // Its tests put real libraries in the place of what other tests have instead.
          isolate: true,
          include: ['test/oracles/*.test.ts'],
          globalSetup: ['test/support/temporary.ts'],
          testTimeout: 30_000,
        },
      },
      {
        extends: true,
        test: {
          ...shared,
          name: 'bench',
          isolate: true,
          retry: 0,
          include: ['test/bench/**/*.bench.ts'],
          globalSetup: [
            'test/support/temporary.ts',
            'test/support/build.ts',
            'test/support/postgres/on-demand.ts',
          ],
          fileParallelism: false,
          testTimeout: 1_800_000,
        },
      },
    ],
  },
});
