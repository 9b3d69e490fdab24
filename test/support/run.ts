import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PassThrough, Readable } from 'node:stream';
import { killGroup, type Host, type Output } from '../../src/host.ts';
import { type Clock } from '../../src/time/clock.ts';
import type { ExitCode } from '../../src/exit-codes.ts';
import { main } from '../../src/main.ts';
import { FakeClock } from './clock.ts';
import { requireValidJson } from './valid-json.ts';

export interface RunOptions {
  readonly stdin?: string | Readable;
  readonly env?: Readonly<Record<string, string>>;
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly signal?: AbortSignal;
  /** Streams that say they are terminals, this many columns wide. */
  readonly terminal?: number;
  /** Config and data directories; a fresh one by default. */
  readonly home?: string;
  /** Default linux. */
  readonly platform?: string;
}

export interface Run {
  readonly exitCode: ExitCode;
  readonly stdout: string;
  readonly stderr: string;
}

export interface LiveRun {
  /** What was written so far, growing while the command runs. */
  readonly stdout: Output & { text(): string; bytes(): Buffer };
  readonly stderr: Output & { text(): string };
  readonly done: Promise<Run>;
  readonly abort: (reason: Error) => void;
  /** As SIGHUP does where there is no terminal. */
  readonly hangUp: () => void;
  readonly home: string;
}

export const freshHome = (): string => mkdtempSync(join(tmpdir(), 'leads-test-'));

/** With these settings in the default profile, as they are stored. */
export function homeWith(profile: object): string {
  const home = freshHome();
  mkdirSync(join(home, 'config'), { mode: 0o700 });
  const config = JSON.stringify({ profiles: { default: profile } });
  writeFileSync(join(home, 'config', 'config.json'), config, { mode: 0o600 });
  return home;
}

/** Runs the program in this process to its end, with memory streams and, unless given, a clock that hurries. */
export function leads(argv: readonly string[], options: RunOptions = {}): Promise<Run> {
  return startLeads(argv, options).done;
}

/** The same, for commands that go on until they are stopped. */
export function startLeads(argv: readonly string[], options: RunOptions = {}): LiveRun {
  const stdout = memory(options.terminal);
  const stderr = memory(options.terminal);
  const stopper = new AbortController();
  const hangups = new Set<() => void>();
  const home = options.home ?? freshHome();
  const stdin =
    typeof options.stdin === 'object' ? options.stdin : Readable.from(options.stdin ? [options.stdin] : []);
  const host: Host = {
    stdin: Object.assign(stdin, options.terminal === undefined ? {} : { isTTY: true }),
    stdout,
    stderr,
    env: {
      HOME: home,
      LEADS_CONFIG_DIR: join(home, 'config'),
      LEADS_DATA_DIR: join(home, 'data'),
      ...options.env,
    },
    // Today's date: certificates are issued by it, and real TLS clients check them.
    clock: options.clock ?? new FakeClock(Date.now(), { hasty: true }),
    random: options.random ?? (() => 0.5),
    signal: options.signal ? AbortSignal.any([options.signal, stopper.signal]) : stopper.signal,
    onHangup(listener) {
      hangups.add(listener);
      return () => void hangups.delete(listener);
    },
    platform: options.platform ?? 'linux',
    pid: process.pid,
    killGroup,
    program: [process.execPath, fileURLToPath(new URL('../../bin/leads.js', import.meta.url))],
  };
  const done = main(argv, host).then((exitCode) => {
    const run = { exitCode, stdout: stdout.text(), stderr: stderr.text() };
    requireValidJson(argv, run.stdout, run.stderr);
    return run;
  });
  return {
    stdout,
    stderr,
    done,
    home,
    abort: (reason) => stopper.abort(reason),
    hangUp: () => hangups.forEach((listener) => listener()),
  };
}

export function memory(columns: number | undefined): Output & { text(): string; bytes(): Buffer } {
  const chunks: Buffer[] = [];
  const stream = new PassThrough();
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  return Object.assign(stream, {
    ...(columns === undefined ? {} : { isTTY: true, columns }),
    bytes: () => Buffer.concat(chunks),
    text: () => Buffer.concat(chunks).toString('utf8'),
  });
}
