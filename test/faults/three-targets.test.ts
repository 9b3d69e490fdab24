import { spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { systemClock } from '../../src/time/clock.ts';
import { openInboxReader } from '../../src/inbox/open-inbox.ts';
import { full, printFigure } from '../support/faults.ts';
import { seeded } from '../support/faulty-service.ts';
import { filesIn } from '../support/files-in.ts';
import { freePort } from '../support/free-port.ts';
import { authorityOf, type ListenProcess, listenProcess } from '../support/listen-process.ts';
import { mountedDisk } from '../support/mounted-disk.ts';
import { freshHome } from '../support/run.ts';
import { scriptedReceiver } from '../support/scripted-service.ts';
import { until } from '../support/until.ts';
import { startSender } from './retrying-sender.ts';

const token = 'token-of-the-tests';
const kills = full ? 100 : 6;
const leads = full ? 10_000 : 500;
/** Leads that are on their way to a target at most: their lines may be written and not yet noted when a receiver is killed. */
const inFlight = 256;
const clean: (() => void)[] = [];

afterEach(() => {
  for (const step of clean.splice(0).reverse()) step();
});

const idsIn = (text: string): string[] =>
  [...text.matchAll(/^\{"id":"(lead-\d+)".*\}$/gm)].map(([, id = '']) => id);

/** The file of `--output`, and what an operator does to it. */
class RotatedFile {
  readonly path: string;
  readonly #directory: string;
  readonly #removed: string[] = [];
  #number = 0;

  constructor(root: string) {
    this.#directory = join(root, 'out');
    this.path = join(this.#directory, 'leads.ndjson');
    mkdirSync(this.#directory);
  }

  rename(): void {
    if (existsSync(this.path)) renameSync(this.path, `${this.path}.${(this.#number += 1)}`);
  }

  /** What is written behind the removal is not the operator's to lose. */
  remove(): void {
    if (!existsSync(this.path)) return;
    const file = openSync(this.path, 'r');
    rmSync(this.path);
    const { size } = fstatSync(file);
    const bytes = Buffer.alloc(size);
    readSync(file, bytes, 0, size, 0);
    closeSync(file);
    this.#removed.push(bytes.toString('utf8'));
  }

  replaceDirectory(): void {
    renameSync(this.#directory, `${this.#directory}.${(this.#number += 1)}`);
    mkdirSync(this.#directory);
  }

  /** By id, how often the lead is in the file, in those that it was before, and in what was removed. */
  lines(root: string): Map<string, number> {
    const texts = filesIn(root)
      .filter((name) => /leads\.ndjson(\.\d+)?$/.test(name))
      .map((name) => readFileSync(join(root, name), 'utf8'));
    for (const text of texts) expect(text).not.toContain('\0');
    const times = new Map<string, number>();
    for (const id of [...texts, ...this.#removed].flatMap(idsIn)) times.set(id, (times.get(id) ?? 0) + 1);
    return times;
  }
}

it('promise 3: what was acknowledged reaches each of three targets that break for a while, under kills', async () => {
  const random = seeded(17);
  const disk = mountedDisk('24m');
  const root = disk ?? freshHome();
  const file = new RotatedFile(root);
  const filler = join(root, 'filler');
  let isAppBroken = false;
  const app = await scriptedReceiver((_, count) => {
    if (!isAppBroken) return 200;
    return count % 2 === 0 ? 503 : undefined;
  });
  clean.push(() => void app.close());
  const home = freshHome();
  const commandFile = join(home, 'command.ndjson');
  const commandBroken = join(home, 'command-is-broken');
  const faults: readonly [breakIt: () => void, mendIt: () => void][] = [
    [() => (isAppBroken = true), () => (isAppBroken = false)],
    [() => writeFileSync(commandBroken, ''), () => rmSync(commandBroken)],
    ...(disk !== undefined
      ? [[() => fill(filler), () => rmSync(filler)] as [breakIt: () => void, mendIt: () => void]]
      : []),
  ];
  const rotations = [() => file.rename(), () => file.remove(), () => file.replaceDirectory()];

  const port = String(await freePort());
  // A claim lasts ten seconds longer than an attempt can, and so does the wait for the last lead.
  const argv = ['--token', token, '--port', port, '--timeout', '5s'];
  argv.push('--forward-to', app.url, '--output', file.path);
  argv.push(
    '--exec',
    `test ! -e ${commandBroken} && lead=$(cat) && printf '%s\\n' "$lead" >> ${commandFile}`,
  );
  let listener: ListenProcess = await listenProcess(argv, { home });
  clean.push(() => listener.child.kill('SIGKILL'));
  const sending = startSender(listener.url, authorityOf(home), { token, leads });
  clean.push(() => sending.child.kill('SIGKILL'));
  const sent = { all: false };
  const isOver = (): boolean => sent.all;
  void sending.done.finally(() => (sent.all = true));
  let killed = 0;
  let crashesAfterRotation = 0;
  for (; killed < kills && !isOver(); killed += 1) {
    const [breakIt, mendIt] = faults[killed % faults.length] ?? [];
    const after = ((killed + random()) * leads) / (kills + 1);
    await until(() => sending.acks() >= after || isOver(), 'further acknowledgements', 120_000);
    const turns = [rotations[killed % 4], random() < 0.5 ? rotations[(killed + 1) % 4] : undefined];
    turns[0]?.();
    breakIt?.();
    const lines = (): number => listener.stdout().split('\n').length;
    const seen = lines() + Math.floor(random() * 60);
    await until(() => lines() > seen || isOver(), 'deliveries while a target is broken', 30_000);
    turns[1]?.();
    if (turns.some((turn) => turn !== undefined)) crashesAfterRotation += 1;
    await listener.end('SIGKILL');
    // Where the disk is full, a receiver does not start.
    const stays = random() < 0.3 && !existsSync(filler);
    if (!stays) mendIt?.();
    listener = await listenProcess(argv, { home });
    if (stays) mendIt?.();
  }
  await sending.done;
  const location = join(home, 'data', 'inbox.db');
  await until(
    async () => {
      const inbox = await openInboxReader({ location, clock: systemClock });
      const left = await inbox.targetCounts();
      await inbox.close();
      return left.length === 0;
    },
    'the last lead to reach its targets',
    full ? 900_000 : 60_000,
  );
  expect(await listener.end('SIGINT')).toBe(0);

  const acknowledged = [...sending.told.keys()];
  const lines = file.lines(root);
  const inCommand = new Set(idsIn(readFileSync(commandFile, 'utf8')));
  const inApp = new Set(app.received.map(({ headers }) => String(headers['leads-lead-id'])));
  const gone = {
    file: acknowledged.filter((id) => !lines.has(id)),
    command: acknowledged.filter((id) => !inCommand.has(id)),
    app: acknowledged.filter((id) => !inApp.has(id)),
  };
  const twice = [...lines].filter(([, times]) => times > 1);
  printFigure(
    3,
    `three targets, each broken for a while, ${killed} × kill -9 under ${leads} leads, ` +
      `${disk !== undefined ? 'a full disk, ' : ''}rotations and removals between: gone ${gone.file.length} (file), ` +
      `${gone.command.length} (command), ${gone.app.length} (app); twice in the file ${twice.length}`,
  );
  expect(killed).toBe(kills);
  expect(acknowledged).toHaveLength(leads);
  expect(gone).toEqual({ file: [], command: [], app: [] });
  // Lines that a rotation took away cannot be compared with the inbox after a crash.
  expect(twice.length).toBeLessThanOrEqual(inFlight * crashesAfterRotation);
});

function fill(path: string): void {
  const file = openSync(path, 'w');
  closeSync(file);
  spawnSync('dd', ['if=/dev/zero', `of=${path}`, 'bs=64k'], { stdio: 'ignore' });
}
