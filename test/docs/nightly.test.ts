import { spawn } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startSandbox } from '../../src/sandbox/start-sandbox.ts';
import { systemClock } from '../../src/time/clock.ts';
import { binary, environment, listenProcess } from '../support/listen-process.ts';
import { blocksOf, pages } from '../support/printed-lines.ts';
import { homeWith, leads } from '../support/run.ts';

const cron = '/usr/sbin/cron';
const canRun = process.platform === 'linux' && userInfo().uid === 0 && existsSync(cron);

/** Debian's cron with one table, in a view of the file system of its own: what it mails comes into `mails`. */
function startCron(place: string, table: string): void {
  for (const name of ['spool/crontabs', 'cron.d', 'run', 'sbin', 'mails'])
    mkdirSync(join(place, name), { recursive: true });
  writeFileSync(join(place, 'crontab'), '');
  writeFileSync(join(place, 'spool/crontabs/root'), table, { mode: 0o600 });
  chmodSync(join(place, 'spool/crontabs'), 0o1730);
  copyFileSync(cron, join(place, 'sbin/cron'));
  const mail = `mail=$(mktemp ${place}/mail.XXXXXX); cat > $mail; mv $mail ${place}/mails`;
  writeFileSync(join(place, 'sbin/sendmail'), `#!/bin/sh\n${mail}\n`, { mode: 0o755 });
  const mounts = [
    ['spool', '/var/spool/cron'],
    ['cron.d', '/etc/cron.d'],
    ['crontab', '/etc/crontab'],
    ['run', '/run'],
    ['sbin', '/usr/sbin'],
  ].map(([from = '', to = '']) => `mount --bind ${join(place, from)} ${to}`);
  const script = [...mounts, `exec ${cron} -f`].join('\n');
  const child = spawn('unshare', ['--mount', 'sh', '-ec', script], { stdio: 'inherit' });
  onTestFinished(() => void child.kill('SIGKILL'));
}

/** The lines that the pages print for cron, each of them in every minute. */
const lines = pages
  .flatMap(({ text }) => blocksOf(text))
  .filter(({ kind }) => kind === 'cron')
  .flatMap(({ code }) => code.trim().split('\n'))
  .map((line) => line.replace(/^(?:\S+ +){5}/, ''));
const commands = lines.flatMap((line) =>
  [...line.matchAll(/\bleads ([a-z]+)/g)].map(([, name = '']) => name),
);

it.runIf(canRun || process.env['CI'] !== undefined)(
  'a good night of the printed lines under cron mails nothing, and a bad one is mailed by each of them',
  { timeout: 400_000 },
  async () => {
    const started = Date.now();
    const sandbox = await startSandbox({ leads: 60, seed: 3 }, { clock: systemClock });
    let isUp = true;
    const stop = async (): Promise<void> => {
      if (isUp) await sandbox.close();
      isUp = false;
    };
    onTestFinished(stop);
    const { url, apiKey } = sandbox;
    const home = homeWith({
      baseUrl: url,
      apiKey,
      apiKeyOrigin: url,
      retries: 0,
      webhook: { token: 'secret' },
    });
    const receiver = await listenProcess(['--port', '0', '--token', 'secret'], { home });
    onTestFinished(() => void receiver.child.kill('SIGKILL'));
    // An inbox without any lead is what the alarm is for.
    expect(
      (await leads(['send', receiver.url, '--token', 'secret', '--sample', '3'], { home })).exitCode,
    ).toBe(0);
    const ended = join(home, 'ended');
    mkdirSync(join(home, 'bin'));
    const run = `${process.execPath} ${binary} "$@"\ncode=$?\necho "$1 $code" >> ${ended}\nexit $code`;
    writeFileSync(join(home, 'bin/leads'), `#!/bin/sh\n${run}\n`, { mode: 0o755 });
    const settings = { ...environment(home), PATH: `${join(home, 'bin')}:/usr/bin:/bin`, MAILTO: 'ops' };
    const table = [
      ...Object.entries(settings).map(([name, value]) => `${name}=${value}`),
      ...lines.map((line) => `* * * * * ${line.replaceAll(/https:\/\/localhost:8443\/?/g, receiver.url)}`),
    ];
    const place = join(home, 'cron');
    startCron(place, `${table.join('\n')}\n`);

    const night = { timeout: 150_000, interval: 200 };
    const endings = (): string[] => (existsSync(ended) ? readFileSync(ended, 'utf8').trim().split('\n') : []);
    await expect.poll(() => endings().length, night).toBeGreaterThanOrEqual(commands.length);
    expect(endings().slice(0, commands.length).toSorted()).toEqual(
      commands.map((name) => `${name} 0`).toSorted(),
    );
    expect(readdirSync(join(place, 'mails'))).toEqual([]);

    await stop();
    await receiver.end('SIGKILL');
    rmSync(join(home, 'data'), { recursive: true });
    const mails = (): string[] =>
      readdirSync(join(place, 'mails')).map((name) => readFileSync(join(place, 'mails', name), 'utf8'));
    for (const line of lines) {
      const mailOf = (): string => mails().find((text) => text.includes(line.slice(0, 20))) ?? '';
      await expect.poll(mailOf, night).not.toBe('');
      const mail = mailOf();
      const failures = mail.match(/^(?:error|warning): .*$/gm) ?? [];
      expect(failures, mail).toHaveLength(line.split(/\bleads (?=[a-z])/).length - 1);
    }
    console.log(
      `cron ran ${lines.length} lines in two nights, ${Math.round((Date.now() - started) / 1000)} s; it mailed:`,
    );
    console.log(mails().join('\n'));
  },
);
