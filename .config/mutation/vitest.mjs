import '../wasm.mjs';
import { defineConfig } from 'vitest/config';

// The tests that a mutation run repeats. Without those of random inputs, the score is the same each time.
export default defineConfig({
  root: new URL('../..', import.meta.url).pathname,
  test: {
    include: ['test/webhook/**/*.test.ts'],
    exclude: ['test/webhook/check-delivery.fuzz.test.ts', 'test/webhook/round-trip.test.ts'],
    globalSetup: 'test/support/temporary.ts',
    isolate: false,
    testTimeout: 20_000,
  },
});
