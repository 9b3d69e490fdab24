import { describe, expect, it } from 'vitest';
import { describe as describeError } from '../../../src/messages/command-line.ts';
import { rejectionOf } from '../../support/said.ts';
import { memory } from '../../support/run.ts';
import { openFilteredOutput } from '../../../src/output/jq/filtered-output.ts';
import { write } from '../../../src/output/stdout.ts';

interface Filtered {
  readonly out: string;
  readonly error: string | undefined;
  readonly said: readonly string[];
}

async function filter(
  expression: string,
  input: string | readonly (string | Uint8Array)[],
  columns?: number,
): Promise<Filtered> {
  const stdout = memory(columns);
  const said: string[] = [];
  const say = (text: string): void => void said.push(text);
  const messages = {
    say,
    warn: say,
    note: say,
    verbose: say,
    waiting: () => Promise.reject(new Error('it waits for nothing')),
    asking: () => say,
  };
  const output = await openFilteredOutput(expression, {
    stdout,
    signal: new AbortController().signal,
    messages: messages,
  });
  try {
    for (const chunk of typeof input === 'string' ? [input] : input) await write(output, chunk);
    const error = await output.finish().then(
      () => undefined,
      (thrown: unknown) => describeError(thrown).message,
    );
    return { out: stdout.text(), error, said };
  } finally {
    await output.close();
  }
}

describe('a filtered output', () => {
  it('gives what the filter makes of each document, in order, at any cut of the chunks', async () => {
    const text = '{"a":1}\n{"a":"x\\"}{"} [2,{"a":3}]4 "five"true\n{"a":\n6}null';
    const expected = [
      '{"a":1}',
      '{"a":"x\\"}{"}',
      '[2,{"a":3}]',
      '4',
      'five',
      'true',
      '{"a":6}',
      'null',
      '',
    ].join('\n');
    for (const size of [1, 3, text.length]) {
      const chunks = Array.from({ length: Math.ceil(text.length / size) }, (_, i) =>
        text.slice(i * size, (i + 1) * size),
      );
      expect(await filter('.', chunks)).toEqual({ out: expected, error: undefined, said: [] });
    }
  });

  it.each([
    ['12345678901234567890', '12345678901234567890'],
    ['1e400', '1e400'],
    ['-1E-400', '-1E-400'],
    ['1.10', '1.10'],
    ['[0.00000001,1.50,{"n":1e2,"m":"1E+2"}]', '[0.00000001,1.50,{"n":1e2,"m":"1E+2"}]'],
    ['-0', '-0'],
    ['123456789.123456789123456789', '123456789.123456789123456789'],
  ])('keeps the digits of %s, which a filter only moves', async (input, output) => {
    expect((await filter('[.] | .[0]', input)).out).toBe(`${output}\n`);
    expect((await filter('[.] | .[0]', `1 ${input} 2`)).out).toBe(`1\n${output}\n2\n`);
  });

  it('rounds what it computes as jq does', async () => {
    expect((await filter('. + 0, .', '12345678901234567890')).out).toBe(
      '12345678901234567000\n12345678901234567890\n',
    );
    expect((await filter('. * 10', '1e400')).out).toBe('1.7976931348623157e+308\n');
  });

  it('does not take a text for a number', async () => {
    expect((await filter('.[0], .', '["1E+2",1e2]')).out).toBe('1E+2\n["1E+2",1e2]\n');
  });

  it('goes on behind an error, and says it at the end', async () => {
    const one = await filter('.a', '{"a":1}\n[1]\n{"a":2}');
    expect(one).toEqual({ out: '1\n2\n', error: 'jq: Cannot index array with string "a"', said: [] });
    const several = await filter('.[] | 1 / .', ['[1,0]\n', '[1]\n[0]\n']);
    const first = 'jq: number (1) and number (0) cannot be divided because the divisor is zero';
    expect(several.out).toBe('1\n1\n');
    expect(several.error).toBe(`${first} (and 1 more of 3 documents failed)`);
    expect(several.said).toEqual([first]);
    expect((await filter('error({a:1})', '1')).error).toBe('jq: error (not a text): {"a":1}');
  });

  it('sees one document at a time, also with input and halt', async () => {
    expect((await filter('[., input?]', '1 2 3')).out).toBe('[1]\n[2]\n[3]\n');
    expect((await filter('[inputs]', '1 2')).out).toBe('[]\n[]\n');
    expect((await filter('., halt', '1 2')).out).toBe('1\n2\n');
    expect(await filter('"x", ("bad" | halt_error)', '1')).toMatchObject({ error: 'jq: bad' });
  });

  it('shows what debug prints, and what is no JSON', async () => {
    expect(await filter('debug | . + 1', '1')).toEqual({
      out: '2\n',
      error: undefined,
      said: ['jq: ["DEBUG:",1]'],
    });
    const broken = await filter('.', '1\n<html>\n2\n');
    expect(broken.out).toBe('1\n2\n');
    expect(broken.error).toMatch(/^jq: what the filter is to read is not JSON: /);
    expect((await filter('.', '{"a":[1')).error).toMatch(/is not JSON: Unfinished/);
  });

  it.each([
    ['.a |', /^--jq: syntax error, unexpected end of file$/],
    ['foo', /^--jq: foo\/0 is not defined$/],
    ['.) , (.', /^--jq: syntax error, unexpected/],
    ['.a\n| bar', /^--jq: bar\/0 is not defined \(line 2\)$/],
    ['import "a" as a; .', /^--jq: /],
  ])('refuses %j, which does not compile', async (expression, message) => {
    const [text = ''] = (await rejectionOf(filter(expression, '1'))).split('; the language');
    expect(text).toMatch(message);
  });

  it('runs nothing to check an expression, and takes a comment at its end', async () => {
    expect((await filter('last(range(infinite))?', '')).out).toBe('');
    expect((await filter('-1 # why', '1')).out).toBe('-1\n');
  });

  it('lets nothing drive a terminal', async () => {
    const input = '"a\\u001b]0;x\\u0007\\nb\\u202e" ["\\u009b"]';
    expect((await filter('.', input, 80)).out).toBe('a\ufffd]0;x\ufffd\nb\ufffd\n["\\u009b"]\n');
    expect((await filter('.', input)).out).toBe('a\u001b]0;x\u0007\nb\u202e\n["\u009b"]\n');
  });

  it('keeps many documents in order over many batches', async () => {
    const lines = Array.from({ length: 20_000 }, (_, i) => `{"id":"${i}","pad":"${'x'.repeat(80)}"}\n`);
    const chunks = Array.from({ length: 20 }, (_, i) => lines.slice(i * 1000, i * 1000 + 1000).join(''));
    const { out, error } = await filter('.id', chunks);
    expect(error).toBeUndefined();
    expect(out).toBe(Array.from({ length: 20_000 }, (_, i) => `${i}\n`).join(''));
  });
});
