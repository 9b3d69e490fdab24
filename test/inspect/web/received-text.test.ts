import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { firstLines, jsonTokens, visibleParts } from '../../../src/inspect/web/text.ts';

const seen = (text: string): string =>
  visibleParts(text)
    .map((part) => (part.isHidden ? `[${part.text}]` : part.text))
    .join('');

describe('hidden characters', () => {
  it.each([
    ['abc\u202egnp.exe', 'abc[U+202E]gnp.exe'],
    ['\u2066x\u2069', '[U+2066]x[U+2069]'],
    ['\u0000\u0007\u001b[31m', '[U+0000][U+0007][U+001B][31m'],
    ['lone \ud800 half', 'lone [U+D800] half'],
    ['\ufeffmark', '[U+FEFF]mark'],
    ['tag \u{e0041}', 'tag [U+E0041]'],
    ['line\r\nline\n\ttab', 'line\r\nline\n\ttab'],
    ['alone\rreturn', 'alone[U+000D]return'],
    ['👩‍👧 und می‌خواهم', '👩‍👧 und می‌خواهم'],
    ['', ''],
  ])('are named in place: %j', (text, expected) => {
    expect(seen(text)).toBe(expected);
  });
});

describe('a long text', () => {
  it.each([
    ['as many lines as are shown', 'x\n'.repeat(1_999), 2_000, false],
    ['short lines, of which there are too many', '1,\n'.repeat(5_000), 2_000, true],
    ['one line that is too long', 'x'.repeat(60_001), 1, true],
  ])('is known to be cut or not: %s', (_, text, lineCount, isCut) => {
    const beginning = firstLines(text);
    expect([beginning.lines.length, beginning.isCut]).toEqual([lineCount, isCut]);
  });
});

describe('the colours of a line of JSON', () => {
  it('leave each character where it was, whatever the line is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (line) => {
        expect(
          jsonTokens(line)
            .map(({ text }) => text)
            .join(''),
        ).toBe(line);
      }),
    );
  });

  it('tell names, strings, numbers and words apart', () => {
    const kinds = jsonTokens('  "a\\"b": [12345678901234567890, 1e400, "x: 1", true],').map(
      ({ kind, text }) => `${kind} ${text}`,
    );
    expect(kinds).toContain('name "a\\"b"');
    expect(kinds).toContain('number 12345678901234567890');
    expect(kinds).toContain('number 1e400');
    expect(kinds).toContain('string "x: 1"');
    expect(kinds).toContain('word true');
  });

  it('take no longer than the line is long', () => {
    const line = `"${'\\'.repeat(200_000)}`;
    const startedAt = performance.now();
    jsonTokens(line);
    jsonTokens('"'.repeat(200_000));
    jsonTokens(`"${'\\"'.repeat(100_000)}`);
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });
});
