import { createHash } from 'node:crypto';
import { sanitize } from '../output/terminal/terminal.ts';
import { formatInstant } from '../time/zone.ts';
import type { Cell, Report, Section, TimeChart, Tone } from './report.ts';

/** With this every report begins: by it a file is known as one. */
export const reportBeginning = '<!doctype html>\n<html lang="en" data-made-by="leads">\n';

/**
 * A report as one HTML file: no script, no request, and a policy that allows neither. All texts are escaped, and what could
 * reorder or hide others is drawn as U+FFFD.
 */
export function reportHtml(report: Report): string {
  const { title, program, madeAt, zone, personalData, facts, notices = [], sections } = report;
  const styleDigest = createHash('sha256').update(reportStyle).digest('base64');
  const policy = `default-src 'none'; style-src 'sha256-${styleDigest}'; base-uri 'none'; form-action 'none'`;
  return [
    `${reportBeginning}<head>`,
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    '<meta name="referrer" content="no-referrer">',
    `<title>${escaped(title)}</title>`,
    `<style>${reportStyle}</style>`,
    '</head>\n<body>\n<main>',
    `<h1>${isolated(title)}</h1>`,
    `<dl class="facts">${facts.map(([name, text]) => `<dt>${escaped(name)}</dt><dd>${isolated(text)}</dd>`).join('')}</dl>`,
    ...notices.map((notice) => `<p class="notice" role="note">${isolated(notice)}</p>`),
    ...sections.map(sectionHtml),
    `<footer>Made by ${escaped(program)} on ${escaped(minuteText(madeAt, zone))} ${escaped(zone)}.${personalData === undefined ? '' : ` ${personalDataTexts[personalData]}`}</footer>`,
    '</main>\n</body>\n</html>\n',
  ].join('\n');
}

const personalDataTexts = {
  reduced: 'Names, phone numbers and e-mail addresses are reduced to initials and last digits.',
  whole: 'It holds personal data.',
} as const;

/** `2026-01-31 14:02` */
export const minuteText = (at: number, zone: string): string =>
  formatInstant(at, zone).slice(0, 16).replace('T', ' ');

/** `2026-01-31 14:02:11` */
export const secondText = (at: number, zone: string): string =>
  formatInstant(at, zone).slice(0, 19).replace('T', ' ');

/** `1,234,567` */
export const countText = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ',');

/** Never 0% of something, nor 100% of less than all. */
export function shareText(count: number, total: number): string {
  if (total <= 0) return '';
  const percent = Number(((count / total) * 100).toPrecision(2));
  if (count > 0 && percent < 0.1) return '< 0.1%';
  return percent === 100 && count < total ? '> 99%' : `${percent}%`;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string): string =>
  sanitize(text).replace(/[&<>"']/g, (character) => entities[character] ?? '');

/** A text in another direction does not move what stands beside it. */
const isolated = (text: string): string => `<bdi>${escaped(text)}</bdi>`;

function sectionHtml(section: Section): string {
  return `<section>\n<h2>${escaped(section.title)}</h2>\n${contentOf(section)}\n</section>`;
}

function contentOf(section: Section): string {
  switch (section.kind) {
    case 'figures':
      return figuresHtml(section);
    case 'bars':
      return barsHtml(section);
    case 'time':
      return timeChartHtml(section);
    case 'table':
      return tableHtml(section);
  }
}

function figuresHtml({ figures }: Extract<Section, { kind: 'figures' }>): string {
  const one = ({ name, value, note, tone }: (typeof figures)[number]): string => {
    const more = note === undefined || note === '' ? '' : ` <small>${isolated(note)}</small>`;
    return `<div><dt>${escaped(name)}</dt><dd${classOf(tone)}>${isolated(value)}${more}</dd></div>`;
  };
  return `<dl class="figures">${figures.map(one).join('')}</dl>`;
}

const classOf = (tone: Tone | undefined): string => (tone === undefined ? '' : ` class="${tone}"`);

function barsHtml({ title, heads, total, rows }: Extract<Section, { kind: 'bars' }>): string {
  const most = Math.max(1, ...rows.filter(({ isRest }) => isRest !== true).map(({ count }) => count));
  const hasNotes = rows.some(({ note }) => note !== undefined);
  const head = [
    `<th scope="col">${escaped(heads[0])}</th>`,
    `<th scope="col" class="number">${escaped(heads[1])}</th>`,
    ...(total === undefined ? [] : ['<th scope="col" class="number">Share</th>']),
    ...(hasNotes ? ['<th scope="col">Remark</th>'] : []),
    '<td class="graph"></td>',
  ];
  const lines = rows.map(({ label, count, note = '', tone = 'other', isRest }) => {
    const width = isRest === true ? 0 : Math.max(count > 0 ? 0.5 : 0, (count / most) * 100);
    const bar = `<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect class="${tone}" width="${width.toFixed(2)}" height="10"/></svg>`;
    return [
      `<tr><th scope="row">${isolated(label)}</th><td class="number">${countText(count)}</td>`,
      total === undefined ? '' : `<td class="number soft">${escaped(shareText(count, total))}</td>`,
      hasNotes ? `<td>${isolated(note)}</td>` : '',
      `<td class="graph">${bar}</td></tr>`,
    ].join('');
  });
  return inFrame(
    title,
    `<table class="bars"><thead><tr>${head.join('')}</tr></thead><tbody>${lines.join('\n')}</tbody></table>`,
  );
}

/** Scrolls where it is wider than the screen, by keys as well. */
const inFrame = (label: string, html: string): string =>
  `<div class="wide" tabindex="0" role="region" aria-label="${escaped(label)}">${html}</div>`;

/** Of a chart, in units of its own: it is drawn as wide as there is room. */
const frame = { width: 960, height: 230, left: 56, top: 10, bottom: 26 } as const;
const widestBar = 72;
const plot = { width: frame.width - frame.left, height: frame.height - frame.top - frame.bottom } as const;

function timeChartHtml({ title, stacks, buckets, unknown = 0 }: TimeChart): string {
  const totals = buckets.map(({ counts }) => counts.reduce((sum, count) => sum + count, 0));
  const all = totals.reduce((sum, count) => sum + count, 0);
  if (buckets.length === 0) return '<p class="note">Nothing came in this time.</p>';
  const ticks = countTicks(Math.max(...totals));
  const most = ticks.at(-1) ?? 1;
  const width = plot.width / buckets.length;
  const y = (count: number): number => frame.top + plot.height * (1 - count / most);
  // One bucket alone is not a bar as wide as the chart.
  const bar = Math.min(width - (width > 6 ? 2 : width > 2 ? 0.5 : 0), widestBar);
  const columns = buckets.flatMap(({ counts }, i) => {
    let below = 0;
    return counts.map((count, s) => {
      if (count === 0) return '';
      const bottom = y(below);
      below += count;
      const [x, height] = [frame.left + i * width + (width - bar) / 2, Math.max(0.75, bottom - y(below))];
      return `<rect class="${stacks[s]?.tone ?? 'other'}" x="${x.toFixed(2)}" y="${(bottom - height).toFixed(2)}" width="${bar.toFixed(2)}" height="${height.toFixed(2)}"/>`;
    });
  });
  const scale = ticks.map((tick) => {
    const at = y(tick).toFixed(2);
    return `<line x1="${frame.left}" x2="${frame.width}" y1="${at}" y2="${at}"/><text x="${frame.left - 8}" y="${at}" dy="0.32em" text-anchor="end">${countText(tick)}</text>`;
  });
  const times = timeTicks(buckets.map(({ label }) => label)).map(([i, text]) => {
    const x = frame.left + i * width;
    return `<text x="${x.toFixed(2)}" y="${frame.height - 6}" text-anchor="${x > frame.width - 40 ? 'end' : 'start'}">${escaped(text)}</text>`;
  });
  const summary = `${countText(all)} in ${buckets.length} parts of time; the table below has the numbers`;
  const heads = ['From', ...stacks.map(({ name }) => name)];
  const rows = buckets
    .filter((_, i) => (totals[i] ?? 0) > 0)
    .map(({ label, counts }) => [label, ...counts.map(countText)]);
  return [
    stacks.length < 2
      ? ''
      : `<ul class="legend">${stacks.map(({ name, tone }) => `<li><svg class="mark" viewBox="0 0 10 10" aria-hidden="true"><rect class="${tone}" width="10" height="10" rx="2"/></svg>${escaped(name)}</li>`).join('')}</ul>`,
    inFrame(
      title,
      `<svg class="plot" role="img" aria-label="${escaped(`${title}: ${summary}`)}" viewBox="0 0 ${frame.width} ${frame.height}">${
        unknown > 0
          ? `<rect class="unknown" x="${frame.left}" y="${frame.top}" width="${(unknown * width).toFixed(2)}" height="${plot.height}"/>`
          : ''
      }${[...scale, ...columns, ...times].join('')}</svg>`,
    ),
    `<details><summary>As a table</summary>${inFrame(
      `${title} as a table`,
      tableOf(
        heads.map((name, i) => ({ name, isNumber: i > 0 })),
        rows,
      ),
    )}</details>`,
  ].join('\n');
}

/** Whole numbers from 0 to at least `most`, at most five. */
function countTicks(most: number): number[] {
  const least = Math.max(most, 1) / 4;
  const power = 10 ** Math.max(0, Math.floor(Math.log10(least)));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= least) ?? power * 10;
  return Array.from({ length: Math.ceil(Math.max(most, 1) / step) + 1 }, (_, i) => i * step);
}

/** At most ten of the buckets, evenly, midnight among them where there is one: the date of a midnight, the time of any other. */
function timeTicks(labels: readonly string[]): (readonly [index: number, text: string])[] {
  const isMidnight = (label: string): boolean => label.endsWith(' 00:00');
  const first = Math.max(0, labels.findIndex(isMidnight));
  const perDay = labels.slice(first + 1).findIndex(isMidnight) + 1;
  // A part of a day that divides it, or some days.
  const strides = [
    1,
    2,
    3,
    4,
    6,
    8,
    12,
    ...[1, 2, 3, 4, 7, 14, 28].map((days) => days * Math.max(1, perDay)),
  ];
  const isRound = (stride: number): boolean => perDay === 0 || stride >= perDay || perDay % stride === 0;
  const stride =
    strides.find((one) => labels.length / one <= 10 && isRound(one)) ?? Math.ceil(labels.length / 10);
  return labels.flatMap((label, i) => {
    if ((i - first) % stride !== 0) return [];
    const [date = '', time = '00:00'] = label.split(' ');
    return [[i, time === '00:00' ? date : time] as const];
  });
}

function tableHtml({ title, columns, rows, note }: Extract<Section, { kind: 'table' }>): string {
  const below = note === undefined ? '' : `\n<p class="note">${isolated(note)}</p>`;
  return rows.length === 0 ? below.trimStart() : `${inFrame(title, tableOf(columns, rows))}${below}`;
}

type TableSection = Extract<Section, { kind: 'table' }>;

function tableOf(columns: TableSection['columns'], rows: TableSection['rows']): string {
  const cell = (value: Cell, i: number): string => {
    const [text, tone] = typeof value === 'string' ? [value] : [value.text, value.tone];
    const shown =
      tone === undefined ? isolated(text) : `<span class="verdict ${tone}">${escaped(text)}</span>`;
    const kind =
      columns[i]?.isNumber === true ? 'number' : /^(\d{4}-\d\d-\d\d |…\d)/.test(text) ? 'line' : '';
    return `<td${kind === '' ? '' : ` class="${kind}"`}>${shown}</td>`;
  };
  const heads = columns.map(
    ({ name, isNumber }) =>
      `<th scope="col"${isNumber === true ? ' class="number"' : ''}>${escaped(name)}</th>`,
  );
  return `<table><thead><tr>${heads.join('')}</tr></thead><tbody>\n${rows
    .map((row) => `<tr>${row.map(cell).join('')}</tr>`)
    .join('\n')}\n</tbody></table>`;
}

const light = `--page:#f7f8fa;--surface:#fff;--line:#e3e6eb;--edge:#c9ced7;--text:#16191f;--soft:#545c6b;--accent:#4a40d4;
--good:#0d7242;--plain:#59616f;--doubtful:#8a5200;--bad:#b4231c;--other:#4a40d4;
--good-bar:#2e9e68;--plain-bar:#9aa3b2;--doubtful-bar:#e0a030;--bad-bar:#d9473f;--other-bar:#4a40d4`;
const dark = `--page:#0f1115;--surface:#14171c;--line:#262b34;--edge:#3d4450;--text:#e8eaee;--soft:#9ba3b0;--accent:#a5a3ff;
--good:#5fd098;--plain:#a6aebb;--doubtful:#e9b45c;--bad:#ff8f87;--other:#a5a3ff;
--good-bar:#3fae77;--plain-bar:#6b7483;--doubtful-bar:#c48f35;--bad-bar:#e2625a;--other-bar:#a5a3ff`;

const tones = ['good', 'plain', 'doubtful', 'bad', 'other'];

/** On a screen by its light, on paper always dark on white, with nothing hidden or scrolled. A chart that is scrolled shows its end first. */
const reportStyle = `
:root{color-scheme:light dark;${light}}
@media screen and (prefers-color-scheme:dark){:root{${dark}}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);font:14px/1.45 system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',sans-serif;font-variant-numeric:tabular-nums}
main{max-width:1080px;margin:0 auto;padding:32px 24px 64px}
h1{margin:0;font-size:26px;letter-spacing:-.01em}
h2{margin:0 0 12px;font-size:16px}
p{margin:0}
section{margin-top:24px;padding:18px 20px;border:1px solid var(--line);border-radius:10px;background:var(--surface)}
.facts{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:4px 18px;margin:14px 0 0}
.facts dt{color:var(--soft)}
dd{margin:0;overflow-wrap:anywhere}
.notice{margin-top:18px;padding:10px 14px;border-left:3px solid var(--doubtful);background:var(--surface);color:var(--text)}
.figures{display:flex;flex-wrap:wrap;gap:14px 40px;margin:0}
.figures dt{color:var(--soft);font-size:13px}
.figures dd{font-size:24px;font-weight:600}
.figures small{color:var(--soft);font-size:13px;font-weight:400}
.wide{overflow-x:auto}
.wide:focus-visible,summary:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
table{width:100%;border-collapse:collapse}
th,td{padding:5px 10px 5px 0;border-bottom:1px solid var(--line);text-align:left;vertical-align:top;overflow-wrap:break-word}
td{max-width:18em}
tr:last-child>*{border-bottom:0}
thead th{color:var(--soft);font-size:12.5px;font-weight:500;white-space:nowrap}
tbody th{font-weight:400}
.number{text-align:right;white-space:nowrap;overflow-wrap:normal}
.line{white-space:nowrap}
.bars th[scope=row]{width:28%;min-width:110px}
.bars .graph{width:45%;min-width:90px;padding-right:0;vertical-align:middle}
.soft,.note{color:var(--soft)}
.note{margin-top:10px;font-size:13px}
.legend{display:flex;flex-wrap:wrap;gap:4px 16px;margin:0 0 10px;padding:0;list-style:none;color:var(--soft);font-size:13px}
svg{display:block}
.bar{width:100%;height:10px}
.wide:has(.plot){direction:rtl}
.plot{direction:ltr;width:100%;min-width:640px;height:auto}
.plot text{fill:var(--soft);font-size:12px}
.plot line{stroke:var(--line)}
.unknown{fill:var(--line)}
.mark{display:inline-block;width:10px;height:10px;margin-right:6px}
.verdict{font-weight:550;white-space:nowrap}
${tones.map((tone) => `.${tone}{color:var(--${tone})}\nrect.${tone}{fill:var(--${tone}-bar)}`).join('\n')}
details{margin-top:10px}
summary{width:max-content;color:var(--soft);cursor:pointer}
footer{margin-top:28px;color:var(--soft);font-size:13px}
@page{margin:14mm}
@media print{
:root{--page:#fff}
body{font-size:10pt;print-color-adjust:exact;-webkit-print-color-adjust:exact}
main{max-width:none;padding:0}
section{padding:0 0 4px;border:0;margin-top:18px}
thead{display:table-header-group}
.wide table{font-size:8.5pt}
.wide td{min-width:4em}
th,td{overflow-wrap:anywhere}
.verdict{white-space:normal}
tr,.figures div{break-inside:avoid}
h2{break-after:avoid}
.wide{overflow:visible}
.plot{min-width:0}
details::details-content{content-visibility:visible;display:block;height:auto}
details>summary{display:none}
}
`;
