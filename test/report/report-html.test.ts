import { describe, expect, it } from 'vitest';
import { type Report, type Section } from '../../src/report/report.ts';
import { reportBeginning, reportHtml } from '../../src/report/report-html.ts';

const hostile = `"><script>alert(1)</script><img src=x onerror='alert(1)'>&amp;\u202e\u0000`;

const reportOf = (text: string, sections: readonly Section[] = []): string =>
  reportHtml({
    title: text,
    program: text,
    madeAt: Date.UTC(2026, 0, 31, 14, 2),
    zone: 'UTC',
    facts: [[text, text]],
    notices: [text],
    sections,
  } satisfies Report);

const all = (text: string): readonly Section[] => [
  { kind: 'figures', title: text, figures: [{ name: text, value: text, note: text }] },
  { kind: 'bars', title: text, heads: [text, text], total: 1, rows: [{ label: text, count: 1, note: text }] },
  {
    kind: 'time',
    title: text,
    stacks: [
      { name: text, tone: 'good' },
      { name: text, tone: 'bad' },
    ],
    buckets: [{ label: text, counts: [1, 2] }],
  },
  {
    kind: 'table',
    title: text,
    columns: [{ name: text }],
    rows: [[text], [{ text, tone: 'bad' }]],
    note: text,
  },
];

describe('a report as HTML', () => {
  it('has no element and no attribute that a text from outside wrote', () => {
    const shape = (html: string): string => html.replace(/>[^<]*/g, '>').replace(/"[^"]*"/g, '""');
    const [html, plain] = [reportOf(hostile, all(hostile)), reportOf('text', all('text'))];
    expect(shape(html)).toBe(shape(plain));
    expect(html).not.toMatch(/[\u202e\u0000]/);
    expect(html).toContain('&lt;script&gt;');
  });

  it('allows nothing but its own style, and names no other place', () => {
    const html = reportOf('text', all('text'));
    expect(html.startsWith(reportBeginning)).toBe(true);
    expect(html).toMatch(
      /content="default-src 'none'; style-src 'sha256-[\w+/]{43}='; base-uri 'none'; form-action 'none'"/,
    );
    expect(html).not.toMatch(/<script|<link|<img|\ssrc=|href=|url\(|@import|\sstyle=|https?:/);
  });

  it('draws each count of a chart as high as it is, and where it is not known a ground', () => {
    const chart: Section = {
      kind: 'time',
      title: 'Deliveries',
      stacks: [
        { name: 'accepted', tone: 'good' },
        { name: 'rejected', tone: 'bad' },
      ],
      buckets: [
        { label: '2026-01-30', counts: [0, 0] },
        { label: '2026-01-31', counts: [30, 10] },
      ],
      unknown: 1,
    };
    const html = reportOf('text', [chart]);
    const heights = [
      ...html.matchAll(/<rect class="(good|bad)" x="[\d.]+" y="[\d.]+" width="[\d.]+" height="([\d.]+)"/g),
    ];
    expect(heights.map(([, tone, height]) => [tone, Number(height)])).toEqual([
      ['good', expect.closeTo(145.5, 0)],
      ['bad', expect.closeTo(48.5, 0)],
    ]);
    expect(html).toContain('<rect class="unknown" x="56"');
  });

  it('draws no bar as wide as a chart of one part of time', () => {
    const buckets = [{ label: '2026-01-31', counts: [30] }];
    const stacks = [{ name: 'leads', tone: 'good' as const }];
    const html = reportOf('text', [{ kind: 'time', title: 'Leads', stacks, buckets }]);
    expect(Number(/<rect class="good" x="[\d.]+" y="[\d.]+" width="([\d.]+)"/.exec(html)?.[1])).toBeLessThan(
      100,
    );
  });

  it('never says 0% of something, nor 100% of less than all', () => {
    const shares = (counts: readonly number[], total: number): string[] => {
      const rows = counts.map((count) => ({ label: 'a', count }));
      const html = reportOf('text', [{ kind: 'bars', title: 'a', heads: ['a', 'b'], total, rows }]);
      return [...html.matchAll(/<td class="number soft">([^<]*)</g)].map(([, share = '']) => share);
    };
    expect(shares([1, 99_999, 100_000, 0], 100_000)).toEqual(['&lt; 0.1%', '&gt; 99%', '100%', '0%']);
  });
});

it('puts the times of a chart at whole days where it is of several, and at round hours of one', () => {
  const texts = (buckets: number, hours: number): string[] => {
    const label = (i: number): string =>
      new Date(Date.UTC(2026, 0, 30, 18) + i * hours * 3_600_000)
        .toISOString()
        .slice(0, 16)
        .replace('T', ' ');
    const chart: Section = {
      kind: 'time',
      title: 'a',
      stacks: [{ name: 'a', tone: 'good' }],
      buckets: Array.from({ length: buckets }, (_, i) => ({ label: label(i), counts: [1] })),
    };
    const html = reportOf('text', [chart]);
    return [...html.matchAll(/text-anchor="(?:start|end)">([\d: -]{5,})</g)].map(([, text = '']) => text);
  };
  expect(texts(24, 1)).toEqual(['18:00', '21:00', '2026-01-31', '03:00', '06:00', '09:00', '12:00', '15:00']);
  expect(texts(80, 3).slice(0, 3)).toEqual(['2026-01-31', '2026-02-01', '2026-02-02']);
  expect(texts(90, 6).slice(0, 3)).toEqual(['2026-01-31', '2026-02-03', '2026-02-06']);
});
