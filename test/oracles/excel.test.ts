import { join } from 'node:path';
import ExcelJS from 'exceljs';
import { expect, it, onTestFinished } from 'vitest';
import { startSandbox } from '../../src/sandbox/start-sandbox.ts';
import { systemClock } from '../../src/time/clock.ts';
import { inTerminal } from '../docs/terminal.ts';
import { binary, environment } from '../support/listen-process.ts';
import { freshHome } from '../support/run.ts';

/** A sandbox that lists these leads; resolves to its address. */
async function sandboxOf(leads: readonly object[]): Promise<string> {
  const records = leads.map((lead) => Buffer.from(JSON.stringify(lead)));
  const sandbox = await startSandbox({ records }, { clock: systemClock });
  onTestFinished(() => sandbox.close());
  return sandbox.url;
}

it('gives a person the leads of October in Excel, with three commands', { timeout: 60_000 }, async () => {
  const times = [
    '2026-09-30T21:59:59Z',
    '2026-09-30T22:00:00Z',
    '2026-10-25T00:30:00Z',
    '2026-10-31T23:00:00Z',
  ];
  const leads = times.map((createdAt, i) => ({
    id: `00${i}`,
    contact: { name: i === 1 ? '=HYPERLINK("http://x")' : 'José', phone: '+34600112233' },
    score: i === 1 ? 0.5 : Number.MAX_SAFE_INTEGER,
    createdAt,
  }));
  const home = freshHome();
  const place = { cwd: home, env: { ...(process.env as Record<string, string>), ...environment(home) } };
  const commands = [
    `login --base-url ${await sandboxOf(leads)}`,
    'config set zone Europe/Madrid',
    'export --in 2026-10 --fields score -o october.xlsx',
  ];
  for (const command of commands) {
    const line = `${process.execPath} ${binary} ${command}`;
    const { exitCode, text } = await inTerminal(line, {
      ...place,
      answers: [[/API key: /, () => 'sandbox-key\r']],
    });
    expect(exitCode, text).toBe(0);
  }

  const book = new ExcelJS.Workbook();
  await book.xlsx.readFile(join(home, 'october.xlsx'));
  const [sheet] = book.worksheets;
  expect(sheet?.views).toMatchObject([{ state: 'frozen', ySplit: 1 }]);
  expect(sheet?.getRow(1).values).toEqual([
    undefined,
    ...['id', 'category', 'contact.name', 'contact.email', 'contact.phone', 'metadata.source'],
    ...['createdAt (Europe/Madrid)', 'score', 'other'],
  ]);
  const cells = [2, 3].map((row) => [1, 3, 5, 8, 7].map((column) => sheet?.getRow(row).getCell(column)));
  const [texts, dates] = [ExcelJS.ValueType.String, ExcelJS.ValueType.Date];
  expect(cells.map((row) => row.map((cell) => cell?.value)).sort()).toEqual([
    ['001', '=HYPERLINK("http://x")', '+34600112233', 0.5, new Date('2026-10-01T00:00:00Z')],
    ['002', 'José', '+34600112233', String(Number.MAX_SAFE_INTEGER), new Date('2026-10-25T02:30:00Z')],
  ]);
  expect(cells[0]?.map((cell) => cell?.type).filter((type) => type !== ExcelJS.ValueType.Number)).toEqual(
    expect.arrayContaining([texts, texts, texts, dates]),
  );
  expect(cells[0]?.[4]?.numFmt).toBe('yyyy-mm-dd hh:mm:ss');
  expect(sheet?.getColumn(7).width).toBeGreaterThan(20);
  expect(sheet?.rowCount).toBe(3);
});
