import { execFile } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { adminProcess } from '../faults/admin-process.ts';
import { fleetInbox } from '../faults/postgres/fleet.ts';
import { freePort } from '../support/free-port.ts';
import { sharedPostgres } from '../support/postgres/shared.ts';

const docs = fileURLToPath(new URL('../../docs/', import.meta.url));
const files = readdirSync(docs, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && !entry.name.endsWith('.md') && !entry.parentPath.endsWith('secrets'))
  .map(({ parentPath, name }) => join(parentPath, name).slice(docs.length));

/** What a program says of it; rejects where it ends with another code than 0. */
async function said(program: string, ...args: string[]): Promise<string> {
  const env = { ...process.env, PATH: `${String(process.env['PATH'])}:/usr/sbin` };
  const { stdout, stderr } = await promisify(execFile)(program, args, { env });
  return stdout + stderr;
}

async function checkUnit(path: string): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'leads-units-'));
  const units = join(root, 'etc/systemd/system');
  mkdirSync(units, { recursive: true });
  const name = path.split('/').at(-1) ?? '';
  const instance = name.replace('@', '@8081');
  copyFileSync(join(docs, path), join(units, name));
  copyFileSync(join(docs, path), join(root, instance));
  // A timer is verified together with what it starts.
  const started = path.replace(/timer$/, 'service');
  if (started !== path) copyFileSync(join(docs, started), join(root, name.replace(/timer$/, 'service')));
  expect(await said('systemd-analyze', 'verify', join(root, instance))).toBe('');
  const isStartedByTimer = existsSync(join(docs, path.replace(/service$/, 'timer'))) && started === path;
  if (isStartedByTimer) return;
  expect(await said('systemctl', `--root=${root}`, 'enable', instance)).toMatch(/\.target\.wants/);
}

const checks: readonly (readonly [ending: string, check: (path: string) => Promise<void>])[] = [
  ['.service', checkUnit],
  ['.timer', checkUnit],
  ...['lambda.ts'].map((name) => [`library/${name}`, () => Promise.resolve()] as const),
  [
    'alerts.yaml',
    async (path) => expect(await said('promtool', 'check', 'rules', join(docs, path))).toContain('SUCCESS'),
  ],
  [
    'compose.yaml',
    async (path) =>
      expect(await said('docker-compose', '--file', join(docs, path), 'config')).toContain('receiver-2'),
  ],
  [
    'haproxy.cfg',
    async (path) => {
      const folder = mkdtempSync(join(tmpdir(), 'leads-haproxy-'));
      const args = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=site', '-days', '2'];
      await said('openssl', ...args, '-keyout', join(folder, 'key'), '-out', join(folder, 'cert'));
      const site = ['key', 'cert'].map((name) => readFileSync(join(folder, name), 'utf8')).join('');
      writeFileSync(join(folder, 'site.pem'), site);
      // The receivers' names are known in the network of the compose file only.
      const text = readFileSync(join(docs, path), 'utf8')
        .replace('/site.pem', join(folder, 'site.pem'))
        .replaceAll(/receiver-\d:8080/g, '127.0.0.1:8080');
      writeFileSync(join(folder, 'haproxy.cfg'), text);
      await said('haproxy', '-c', '-f', join(folder, 'haproxy.cfg'));
    },
  ],
];

it.each(files)('its own checker takes docs/%s', async (path) => {
  const check = checks.find(([ending]) => path.endsWith(ending))?.[1];
  if (check === undefined) throw new Error('nothing checks this file');
  await check(path);
});

it('every proof that test/README.md names is there', () => {
  const tests = fileURLToPath(new URL('../', import.meta.url));
  const [, table = ''] = readFileSync(join(tests, 'README.md'), 'utf8').split('proves which promise\n');
  const rows = table.split('\n').filter((line) => /^\| \d/.test(line));
  const proofs = rows.flatMap((row) =>
    [...row.matchAll(/`([\w-]+\/[\w/-]+)`/g)].map(([, name = '']) => name),
  );
  expect(rows).toHaveLength(20);
  expect(proofs.length).toBeGreaterThan(20);
  expect(proofs.filter((name) => !existsSync(join(tests, `${name}.test.ts`)))).toEqual([]);
});

const address = await sharedPostgres();

it.skipIf(address === undefined)('every series and label of the alerts is exported', async () => {
  if (address === undefined) return;
  const inbox = fleetInbox(address);
  // Nobody answers there.
  const target = ['--forward-to', `http://127.0.0.1:${await freePort()}/`];
  const receiver = await adminProcess([...inbox.argv, ...target], { env: inbox.env });
  try {
    await receiver.deliver({ id: 'a' });
    const metrics = (await receiver.admin('/metrics')).text;
    const series = new Set(metrics.match(/^leads_\w+/gm));
    const labels = new Set(metrics.match(/(?<=[{,])\w+(?==")/g));
    const text = readFileSync(join(docs, 'operating/alerts.yaml'), 'utf8');
    const named = text.match(/\bleads_\w+/g) ?? [];
    expect(named.filter((name) => !series.has(name))).toEqual([]);
    const grouped = [...text.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, by = '']) => by.split(/,\s*/));
    expect(grouped.filter((label) => !labels.has(label) && label !== 'instance')).toEqual([]);
  } finally {
    await receiver.end('SIGKILL');
  }
});

it('secrets of compose.yaml are in no image, package or commit', () => {
  const text = readFileSync(join(docs, 'fleet/compose.yaml'), 'utf8');
  const secrets = [...text.matchAll(/(?:file: |'\.\/)([\w./-]+\.(?:txt|pem))/g)].map(([, file]) => file);
  expect(secrets).toHaveLength(3);
  expect(secrets.filter((file) => !file?.startsWith('secrets/'))).toEqual([]);
  for (const list of ['.dockerignore', '.gitignore', 'package.json'])
    expect(readFileSync(join(docs, '..', list), 'utf8')).toContain('docs/fleet/secrets');
});
