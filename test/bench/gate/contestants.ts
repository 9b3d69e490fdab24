import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { type Listening, startReady } from '../../support/listening.ts';
import { measure } from '../../support/measure.ts';
import { onCore } from '../../support/on-core.ts';
import { cursorPrefix, type PageService, servePages } from '../../support/page-service.ts';
import { buildProgram } from '../../support/program.ts';
import type { Measurement } from '../../support/ratios.ts';
import { type Driven, driveLoad, startServer } from '../listen/drive-load.ts';

/** Something that the program does, and what its CPU time is compared with. */
export interface Contestant {
  readonly name: string;
  readonly yardstick: string;
  /** CPU milliseconds of a fixed amount of work, by the program that was built in a folder. */
  readonly cpuOf: (folder: string) => Measurement;
  readonly cpuOfYardstick: Measurement;
}

/** Enough that the start of the program is a small part of an export, and of what reads an inbox as well. */
const exportedLeads = 200_000;
const receivedLeads = 40_000;
const starts = 4;
const deliveries = 2000;
const secret = 'bench-secret';

const home = mkdtempSync(join(tmpdir(), 'leads-bench-'));

/** All of them, and what ends the services that they ask. `folder`: the program that is in the tree. */
export async function openContestants(
  folder: string,
): Promise<{ contestants: readonly Contestant[]; close: () => Promise<unknown> }> {
  const few = await servePages({ leads: 20, pageSize: 20, pagination: 'cursor' });
  const many = await servePages({ leads: receivedLeads, pageSize: 1000, pagination: 'cursor' });
  const cursors = await servePages({ leads: exportedLeads, pageSize: 1000, pagination: 'cursor' });
  const numbers = await servePages({ leads: exportedLeads, pageSize: 1000, pagination: 'page' });
  return {
    contestants: [
      ...startContestants(few),
      ...exportContestants(cursors, numbers),
      ...inboxContestants(many, folder),
      ...(await pushContestants(folder)),
    ],
    close: () => Promise.all([few, many, cursors, numbers].map((service) => service.close())),
  };
}

/** Two builds that share a cache of compiled code would each start without it. */
const program = (folder: string): string =>
  `NODE_COMPILE_CACHE=${join(folder, '.cache/compiled')} ${process.execPath} ${folder}/bin/leads.js`;

function environment(url: string): NodeJS.ProcessEnv {
  const { PATH } = process.env;
  return { PATH, HOME: home, LEADS_BASE_URL: url, LEADS_API_KEY: 'bench-key-0123456789' };
}

const cpuOfLine =
  (line: string, url: string): Measurement =>
  async () =>
    (await measure(line, environment(url))).cpuMs;

function startContestants({ url }: PageService): Contestant[] {
  const several = (line: string): Measurement =>
    cpuOfLine(`for ((i = 0; i < ${starts}; i++)); do ${line} > /dev/null; done`, url);
  return ['--version', '--help', 'list'].map((words) => ({
    name: `leads ${words}`,
    yardstick: 'node -e 0',
    cpuOf: (folder) => several(`${program(folder)} ${words}`),
    cpuOfYardstick: several(`${process.execPath} -e 0`),
  }));
}

const lineOf = (url: string, words: string) => (folder: string) =>
  cpuOfLine(`${program(folder)} ${words} > /dev/null`, url);

function exportContestants(cursors: PageService, numbers: PageService): Contestant[] {
  const pages = exportedLeads / 1000;
  const ways = {
    'leads export': [cursors.url, `cursor=${cursorPrefix}[0-${pages - 1}]`],
    'leads export, numbered': [numbers.url, `page=[1-${pages}]`],
  };
  return Object.entries(ways).map(([name, [url = '', query = '']]) => ({
    name,
    yardstick: 'curl | jq',
    cpuOf: lineOf(url, 'export -q'),
    cpuOfYardstick: cpuOfLine(`curl -s '${url}/api/leads?${query}' | jq -c '.data[]' > /dev/null`, url),
  }));
}

function inboxContestants({ url }: PageService, folder: string): Contestant[] {
  return ['audit --json -q --since 2020-01-01 --inbox', 'stats --json -q --inbox'].map((words) => ({
    name: `leads ${words.startsWith('stats') ? 'stats --inbox' : 'audit'}`,
    yardstick: 'leads export',
    cpuOf: (built) => async () => lineOf(url, `${words} ${await inboxOf(built)}`)(built)(),
    cpuOfYardstick: lineOf(url, 'export -q')(folder),
  }));
}

const inboxes = new Map<string, Promise<string>>();

/** Filled by the code in the folder: an older build does not read an inbox of a newer one. */
function inboxOf(folder: string): Promise<string> {
  const known = inboxes.get(folder);
  if (known !== undefined) return known;
  const filled = (async () => {
    const source = join(folder, 'test/bench/gate/fill-inbox.ts');
    await mkdir(join(folder, '.cache'), { recursive: true });
    const program = await buildProgram(pathToFileURL(source), join(folder, '.cache'));
    const location = join(home, `pushed-${inboxes.size}.db`);
    await promisify(execFile)(process.execPath, [program, location, String(receivedLeads)]);
    return location;
  })();
  inboxes.set(folder, filled);
  return filled;
}

async function pushContestants(folder: string): Promise<Contestant[]> {
  const load = await buildProgram(new URL('../listen/load.ts', import.meta.url));
  const bareProgram = await buildProgram(new URL('../listen/bare.ts', import.meta.url));
  const dataDir = join(home, 'data');
  const listen = (folder: string, inbox: string): Promise<Listening> => {
    const words = ['listen', '--port', '0', '--format', 'events', '--scheme', 'github', '--secret', secret];
    return startReady(
      onCore(0, [process.execPath, `${folder}/bin/leads.js`, ...words, '--inbox', inbox]),
      dataDir,
    );
  };
  const { caPath = '', child } = await listen(folder, ':memory:');
  child.kill('SIGKILL');
  let runs = 0;
  /** A server of its own each time, so that the luck of one process's optimiser is not in every figure. */
  const cpuOfServer = async (open: () => Promise<Driven>): Promise<number> => {
    const server = await open();
    try {
      runs += 1;
      await driveLoad(load, server, secret, { count: deliveries / 2, prefix: `w${runs}` });
      const before = threadsCpuMs(server.pid);
      await driveLoad(load, server, secret, { count: deliveries, prefix: `r${runs}` });
      return threadsCpuMs(server.pid) - before;
    } finally {
      server.child.kill('SIGKILL');
    }
  };
  return [
    {
      name: 'leads listen',
      yardstick: 'a bare node https server',
      cpuOf: (folder) => () => cpuOfServer(() => listen(folder, join(home, `received-${runs}.db`))),
      cpuOfYardstick: () => cpuOfServer(() => startServer(bareProgram, caPath)),
    },
  ];
}

/** What all threads of a process that still runs have used; the system counts it in nanoseconds. */
function threadsCpuMs(pid: number): number {
  const tasks = `/proc/${pid}/task`;
  const nanoseconds = readdirSync(tasks).map((task) =>
    Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')[0]),
  );
  return nanoseconds.reduce((sum, one) => sum + one, 0) / 1e6;
}
