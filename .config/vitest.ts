import { availableParallelism } from 'node:os';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { BaseSequencer, type ProjectConfig, type TestSpecification } from 'vitest/node';

/**
 * The tests that `npm test` leaves to `npm run prove`, since they take long or need more: rows of long tables, random inputs,
 * PostgreSQL, kills, other programs, and seconds of waiting.
 */
const proofs = [
  'test/{faults,services,docs,model}/**/*.test.ts',
  'test/inbox/postgres/**/*.test.ts',
  'test/library/{types,package}/**/*.test.ts',
  'test/**/*.fuzz.test.ts',
  'test/{package,platforms}.test.ts',
  'test/simulation/mutants.test.ts',
  'test/doctor/learn-*.test.ts',
  'test/service/{arrivals-and-probes,drawn-histories,sorted-lists,paginations}.test.ts',
  'test/commands/verify/every-fix.test.ts',
  'test/check/{broken-receivers,hostile-answers}.test.ts',
  'test/cli/{completion,files-of-others,github-action,little-memory,man-pages,no-telemetry,no-writable-home,stream-output,waiting}.test.ts',
];

/** Files whose tests use PostgreSQL as well, where the project has one. */
const onBothDatabases = [
  'test/inbox/*.test.ts',
  'test/commands/inbox/database.test.ts',
  'test/commands/listen/{exec,secret-renewal}.test.ts',
  'test/cli/inspect.test.ts',
];

/** Files that take half a minute each: one that began last would run alone. */
const longest = ['docs/walk', 'services/learnt', 'library/types/package-types', 'faults/acknowledged'];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification): boolean =>
      longest.some((name) => moduleId.endsWith(`/test/${name}.test.ts`));
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

const onDemand = 'test/support/postgres/on-demand.ts';
const setup = ['test/support/temporary.ts', 'test/support/build.ts'];

/** What the projects have in common, with `settings` of one of them in its place. */
const project = (name: string, settings: ProjectConfig): TestProjectInlineConfiguration => ({
  extends: true,
  test: {
    environment: 'node',
    pool: 'forks',
    // Loading the modules takes much of a file's time, and no test changes modules that the next file in its process uses.
    isolate: false,
    globalSetup: setup,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // .ci/run runs thousands of tests four times, so there a test must fail twice in a row. Elsewhere the first failure counts.
    retry: process.env['CI'] === undefined ? 0 : 1,
    // A busy machine must not fail a test that waits for something observable.
    expect: { poll: { timeout: 15_000, interval: 20 } },
    name,
    ...settings,
  },
});

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
    sequence: { sequencer: LongestFirst },
    projects: [
      project('unit', {
        include: ['test/**/*.test.ts'],
        exclude: ['test/{bench,browser,oracles,hosts}/**', ...proofs],
      }),
      project('prove', {
        globalSetup: [...setup, onDemand],
        include: [...proofs, ...onBothDatabases],
        testTimeout: 1_800_000,
      }),
      project('browser', {
        // Of ten tabs that are loaded at once, one may get no answer from the browser's network for a while.
        retry: process.env['CI'] === undefined ? 0 : 2,
        include: ['test/browser/*.test.ts'],
        globalSetup: ['test/browser/support/start-chromium.ts', ...setup],
        // The files share one browser, in which times are measured: more at once would only wait for its cores.
        maxWorkers: 2,
        sequence: { groupOrder: 1 },
        testTimeout: 60_000,
      }),
      project('oracles', {
        // Its tests put real libraries in the place of what other tests have instead.
        isolate: true,
        include: ['test/oracles/*.test.ts'],
      }),
      project('bench', {
        isolate: true,
        retry: 0,
        include: ['test/bench/**/*.bench.ts'],
        globalSetup: [...setup, onDemand],
        fileParallelism: false,
        testTimeout: 1_800_000,
      }),
    ],
  },
});
