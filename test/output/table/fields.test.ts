import { describe, expect, it } from 'vitest';
import { renderFields } from '../../../src/output/fields.ts';

const fields = [
  ['id', 'lead_1'],
  ['contact.name', 'Zoë \u001b[2J 王小明'],
  ['note', 'long '.repeat(30).trim()],
] as const;

describe('renderFields', () => {
  it('draws a field a line in a pipe, uncut and scrubbed', () => {
    const lines = renderFields(fields, { width: undefined }).trimEnd().split('\n');
    expect(lines).toEqual([
      'id            lead_1',
      'contact.name  Zoë \ufffd[2J 王小明',
      `note          ${'long '.repeat(30).trim()}`,
    ]);
  });

  it('wraps long values on a terminal and loses nothing of them', () => {
    const lines = renderFields(fields, { width: 60 }).trimEnd().split('\n');
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(60);
    expect(lines.join('').replaceAll(' ', '')).toContain('long'.repeat(30));
  });

  it('paints names whole, whatever the width', () => {
    for (const width of [undefined, 30, 60]) {
      const text = renderFields(fields, { width, paintName: (name) => `\u001b[2m${name}\u001b[22m` });
      for (const [name] of fields) expect(text).toContain(`\u001b[2m${name}\u001b[22m`);
      expect(text.replace(/\u001b\[(2|22)m/g, '')).not.toContain('\u001b');
    }
  });
});
