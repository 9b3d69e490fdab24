import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { renderTable } from '../../src/output/table.ts';
import { measureFor } from '../../src/output/width.ts';

const columns = ['ID', 'NAME', 'EMAIL'];

describe('renderTable', () => {
  it('aligns every column, whatever the script', async () => {
    const rows = [
      ['a', 'Zoë', '1@x'],
      ['b', '王小明', '2@x'],
      ['c', '👩‍👩‍👧 family', '3@x'],
      ['d', 'café with combining', '4@x'],
    ];
    const lines = (await renderTable(columns, rows, { width: undefined })).trimEnd().split('\n');
    const starts = lines.slice(1).map((line) => stringWidth(line.slice(0, line.search(/\d@x/))));
    expect(new Set(starts).size).toBe(1);
  });

  it('fits the terminal by cutting the widest column', async () => {
    const rows = [['a', 'n'.repeat(100), 'short@example.com']];
    const lines = (await renderTable(columns, rows, { width: 60 })).trimEnd().split('\n');
    for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(60);
    expect(lines[1]).toContain('short@example.com');
    expect(lines[1]).toContain('…');
  });

  it('cuts nothing in a pipe', async () => {
    const name = 'n'.repeat(500);
    expect(await renderTable(columns, [['a', name, 'e']], { width: undefined })).toContain(name);
  });

  it('draws no control or bidi character and no line break of a cell', async () => {
    const text = await renderTable(columns, [['a', '\u001b[2Jx\u202ey\r\nz', '\u009b31m']], { width: 80 });
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(text.split('\n')).toHaveLength(3);
  });
});

describe('measureFor', () => {
  it('agrees with string-width on the scripts that it measures itself', async () => {
    const texts = [
      'Zoë Ångström',
      'Ελένη',
      'Дмитрий',
      'מרים',
      'أحمد',
      '王小明',
      'ひらがなカタカナ',
      '김철수',
      'ｆｕｌｌ',
    ];
    const measure = await measureFor(texts);
    expect(texts.map(measure)).toEqual(texts.map((text) => stringWidth(text)));
  });
});
