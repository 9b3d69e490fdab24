import { afterAll, describe, expect, it } from 'vitest';
import { JqWorker } from '../../../src/output/jq/jq-worker.ts';
import { renderValues } from '../../../src/output/jq/filtered-output.ts';
import { manualExamples } from './manual-examples.ts';

const worker = new JqWorker();
afterAll(() => worker.stop(new Error('the tests are over')));

describe('the examples of the jq manual', () => {
  it.each(manualExamples)('%s of %s', async (expression, input, lines) => {
    const bytes = Buffer.from(input);
    const ask = {
      kind: 'run',
      program: `(${expression})`,
      bytes,
      ends: [bytes.length],
      apart: false,
    } as const;
    const { out, failures } = await worker.ask(ask);
    const rendering = {
      errorMember: 'none',
      input: () => input,
      isTerminal: false,
      onError: () => undefined,
    };
    expect(failures).toEqual([]);
    expect(renderValues(out, rendering)).toBe(lines.map((line) => `${line}\n`).join(''));
  });
});
