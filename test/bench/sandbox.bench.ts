import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { startProgram } from '../support/beside.ts';
import { binary, environment } from '../support/listen-process.ts';
import { measure, median, printTable } from '../support/measure.ts';
import { freshHome } from '../support/run.ts';

const leads = 100_000;
const rounds = 7;

/** User and system time of a process so far, as Linux counts it: in hundredths of a second. */
function cpuMs(pid: number | undefined): number {
  const stat = readFileSync(`/proc/${pid ?? 0}/stat`, 'utf8');
  const [user = '', system = ''] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13);
  return (Number(user) + Number(system)) * 10;
}

it.runIf(existsSync('/proc/self/stat'))(
  'starts at once with 100,000 leads, and serves pages for less than export needs to read them',
  async () => {
    const home = freshHome();
    const starts: number[] = [];
    const serving: number[][] = [[], []];
    const reading: number[][] = [[], []];
    for (let i = 0; i < rounds; i += 1) {
      const began = performance.now();
      const sandbox = startProgram(['sandbox', '--port', '0', '--json', '--leads', String(leads)], home);
      const { url } = JSON.parse(await sandbox.firstLine()) as { url: string };
      starts.push(performance.now() - began);
      const env = {
        ...process.env,
        ...environment(home),
        LEADS_API_KEY: 'sandbox-key',
        LEADS_BASE_URL: url,
      };
      for (const walk of [0, 1]) {
        const before = cpuMs(sandbox.child.pid);
        const measured = await measure(`${process.execPath} ${binary} export -q > /dev/null`, env);
        reading[walk]?.push(measured.cpuMs);
        serving[walk]?.push(cpuMs(sandbox.child.pid) - before);
      }
      sandbox.child.kill('SIGINT');
      await sandbox.done;
    }
    const row = (walk: number, name: string): string[] => {
      const [served, read] = [median(serving[walk] ?? []), median(reading[walk] ?? [])];
      return [name, `${Math.round(served)} ms`, `${Math.round(read)} ms`, (served / read).toFixed(2)];
    };
    printTable(`sandbox: ${leads} leads, pages of 1000, median of ${rounds}`, [
      ['', 'CPU of sandbox', 'CPU of export', 'ratio'],
      row(0, 'first walk, texts are made'),
      row(1, 'second walk'),
      ['start', `${Math.round(median(starts))} ms`, '', ''],
    ]);
    expect(median(starts)).toBeLessThan(2000);
    for (const walk of [0, 1]) {
      expect(median(serving[walk] ?? [])).toBeLessThan(median(reading[walk] ?? []));
    }
  },
);
