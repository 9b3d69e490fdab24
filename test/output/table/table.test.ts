import { describe, expect, it } from 'vitest';
import { renderTable } from '../../../src/output/table.ts';
import { textWidth } from '../../../src/output/text-width.ts';

const columns = ['ID', 'NAME', 'EMAIL'];

describe('renderTable', () => {
  it('aligns every column, whatever the script', () => {
    const rows = [
      ['a', 'Zoë', '1@x'],
      ['b', '王小明', '2@x'],
      ['c', '👩‍👩‍👧 family', '3@x'],
      ['d', 'café with combining', '4@x'],
    ];
    const lines = renderTable(columns, rows, { width: undefined }).trimEnd().split('\n');
    const starts = lines.slice(1).map((line) => textWidth(line.slice(0, line.search(/\d@x/))));
    expect(new Set(starts).size).toBe(1);
  });

  it('fits the terminal by cutting the widest column', () => {
    const rows = [['a', 'n'.repeat(100), 'short@example.com']];
    const lines = renderTable(columns, rows, { width: 60 }).trimEnd().split('\n');
    for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(60);
    expect(lines[1]).toContain('short@example.com');
    expect(lines[1]).toContain('…');
  });

  it('keeps whole what must be whole and leaves out what may be left out, in that order', () => {
    const heads = ['ID', 'NAME', 'EMAIL', 'PHONE', 'SOURCE'];
    const rows = [['lead_0123456789', 'n'.repeat(40), 'e'.repeat(40), 'p'.repeat(20), 's'.repeat(20)]];
    const at = (width: number): string[] =>
      renderTable(heads, rows, {
        width,
        cutLast: ['ID'],
        narrowing: [{ drop: 'PHONE' }, { drop: 'SOURCE' }],
      }).split('\n');
    expect(at(200)[0]).toMatch(/^ID +NAME +EMAIL +PHONE +SOURCE$/);
    expect(at(60)[0]).toMatch(/^ID +NAME +EMAIL +SOURCE$/);
    const narrow = at(48);
    expect(narrow[0]).toMatch(/^ID +NAME +EMAIL$/);
    expect(narrow[1]).toContain('lead_0123456789');
    expect(narrow[1]?.length).toBeLessThanOrEqual(48);
  });

  it('shortens times before it leaves out what comes later, and says what it left out', () => {
    const rows = [
      ['lead_01', '2026-01-31T10:00:00Z', 'n'.repeat(12)],
      ['lead_02', '2026-01-31T11:30:00Z', 'm'.repeat(12)],
    ];
    let dropped: readonly string[] = [];
    const at = (width: number): string =>
      renderTable(['ID', 'CREATED', 'NAME'], rows, {
        width,
        cutLast: ['ID', 'CREATED'],
        narrowing: [{ shorten: 'CREATED' }, { drop: 'NAME' }],
        onDrop: (heads) => (dropped = heads),
      });
    expect(at(43)).toContain('2026-01-31T10:00:00Z');
    expect(at(42)).toContain('lead_01  01-31 10:00:00  nnnnnnnnnnnn\n');
    expect(dropped).toEqual([]);
    expect(at(30)).toBe('ID       CREATED\nlead_01  01-31 10:00:00\nlead_02  01-31 11:30:00\n');
    expect(dropped).toEqual(['NAME']);
  });

  it('draws heads and cells with the given colours and nothing else', () => {
    const paint = (...given: unknown[]): string => `<${given.join('|')}>`;
    const text = renderTable(['A', 'B'], [['1', '2']], { width: 80, head: paint, cell: paint });
    expect(text).toBe('<A>  <B>\n<1|0|A>  <2|0|B>\n');
  });

  it('cuts nothing in a pipe', () => {
    const name = 'n'.repeat(500);
    expect(renderTable(columns, [['a', name, 'e']], { width: undefined })).toContain(name);
  });

  it('draws no control or bidi character and no line break of a cell', () => {
    const text = renderTable(columns, [['a', '\u001b[2Jx\u202ey\r\nz', '\u009b31m']], { width: 80 });
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(text.split('\n')).toHaveLength(3);
  });
});
