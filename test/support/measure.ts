import { spawn } from 'node:child_process';
import { readFileSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Measure {
  readonly wallMs: number;
  /** User and system time of every process that the command line started. */
  readonly cpuMs: number;
}

/** Runs a shell command line and measures all its processes. Throws when it fails. */
export async function measure(commandLine: string, env: NodeJS.ProcessEnv = process.env): Promise<Measure> {
  const times = join(mkdtempSync(join(tmpdir(), 'leads-bench-')), 'times');
  const script = `set -o pipefail; TIMEFORMAT='%R %U %S'; { time { ${commandLine}; } 2>&3; } 3>&2 2>${times}`;
  const child = spawn('bash', ['-c', script], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  if (code !== 0) throw new Error(`${commandLine} ended with ${String(code)}: ${said}`);
  const [wall = 0, user = 0, system = 0] = readFileSync(times, 'utf8').trim().split(' ').map(Number);
  return { wallMs: wall * 1000, cpuMs: (user + system) * 1000 };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

/** Aligned columns, the first to the left, for a bench to print. */
export function printTable(title: string, rows: readonly (readonly string[])[]): void {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  const lines = rows.map((row) =>
    row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join('  '),
  );
  process.stdout.write(`\n${title}\n${lines.join('\n')}\n`);
}
