import { describe, expect, it } from 'vitest';
import { escapeJson, sanitize } from '../../../src/output/terminal/terminal.ts';

const dangerous = [
  '\u001b',
  '\u0007',
  '\r',
  '\u0000',
  '\u007f',
  '\u009b',
  '\u009d',
  '\u202e',
  '\u2066',
  '\u200f',
  '\ufeff',
  '\u2028',
];

describe('scrub', () => {
  it.each(dangerous)('leaves nothing of %j', (character) => {
    expect(sanitize(`a${character}b`)).toBe('a\ufffdb');
  });

  it('replaces lone surrogates and keeps whole characters, joiners included', () => {
    expect(sanitize('a\ud800b')).toBe('a\ufffdb');
    expect(sanitize('👩‍👩‍👧 王 é')).toBe('👩‍👩‍👧 王 é');
  });

  it('keeps one line one line', () => {
    expect(sanitize('a\nb\tc')).toBe('a b c');
  });
});

describe('escapeJson', () => {
  it.each(dangerous)('writes %j as an escape of the same value', (character) => {
    const json = JSON.stringify({ name: `a${character}b` });
    const shown = escapeJson(json);
    expect(shown).not.toContain(character);
    expect(JSON.parse(shown)).toEqual(JSON.parse(json));
  });

  it('escapes characters beyond the basic plane as surrogate pairs', () => {
    const json = JSON.stringify('x\u{e0041}y');
    expect(escapeJson(json)).toBe('"x\\udb40\\udc41y"');
    expect(JSON.parse(escapeJson(json))).toBe('x\u{e0041}y');
  });
});
