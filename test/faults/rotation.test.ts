import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { X509Certificate } from 'node:crypto';
import { expect, it } from 'vitest';
import { Secret } from '../../src/secret.ts';
import { systemClock } from '../../src/time/clock.ts';
import { ensureAuthority } from '../../src/tls/local-authority.ts';
import { schemeNamed } from '../../src/webhook/scheme-registry.ts';
import { full } from '../support/faults.ts';
import { type ListenProcess, listenProcess } from '../support/listen-process.ts';
import { freshHome } from '../support/run.ts';
import { until } from '../support/until.ts';

const rotations = full ? 20 : 3;
const senders = 4;
/** Between two deliveries of a sender, so that a small run leaves the machine to others. */
const pauseMs = full ? 0 : 10;

/** What the receiver reads, by the names of its files. */
type Files = Readonly<Record<'current' | 'former' | 'cert.pem' | 'key.pem', string>>;

/** A folder as clusters mount it: its files are links through one link, which is swapped. */
function mounted(files: Files) {
  const folder = mkdtempSync(join(tmpdir(), 'leads-rotation-'));
  const each = (write: (path: string, text: string) => void, next: Files): void => {
    // The former secret has to be there before the new one takes its place.
    for (const name of ['former', 'current', 'cert.pem', 'key.pem'] as const)
      write(join(folder, name), next[name]);
  };
  let version = 0;
  const swap = (next: Files): void => {
    const own = `version-${(version += 1)}`;
    mkdirSync(join(folder, own));
    for (const [name, text] of Object.entries(next)) writeFileSync(join(folder, own, name), text);
    symlinkSync(own, join(folder, 'next'));
    renameSync(join(folder, 'next'), join(folder, 'data'));
  };
  swap(files);
  for (const name of Object.keys(files)) symlinkSync(`data/${name}`, join(folder, name));
  return {
    folder,
    swap,
    rewrite: (next: Files) => each((path, text) => writeFileSync(path, text), next),
    writeHalf: (next: Files) =>
      each((path, text) => writeFileSync(path, text.slice(0, text.length / 2)), next),
  };
}

const serialOf = (port: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().serialNumber);
      socket.destroy();
    });
    socket.once('error', reject);
  });

it.each(full ? ['token', 'github'] : ['token'])(
  'refuses nothing genuine and nothing removed passes, while secrets and certificates change under load: %s',
  async (name) => {
    const scheme = schemeNamed(name);
    const secretOf = (n: number): string => `secret-number-${n}-of-the-rotation`;
    const authorities = freshHome();
    const pairs = await Promise.all(
      Array.from({ length: rotations + 1 }, (_, n) => ensureAuthority(authorities, systemClock, `host-${n}`)),
    );
    const ca = pairs.map(({ caPath }) => readFileSync(caPath));
    const filesOf = (current: number, former: number): Files => {
      const { certPem = '', keyPem = '' } = pairs[current] ?? {};
      return { current: secretOf(current), former: secretOf(former), 'cert.pem': certPem, 'key.pem': keyPem };
    };
    const mount = mounted(filesOf(0, 0));
    const at = (file: keyof Files): string => join(mount.folder, file);
    const secretFlag = name === 'token' ? '--token-file' : '--secret-file';
    const listener: ListenProcess = await listenProcess([
      ...['--port', '0', '--cert', at('cert.pem'), '--key', at('key.pem')],
      ...(name === 'token' ? [] : ['--scheme', name]),
      ...[secretFlag, at('current'), secretFlag, at('former')],
    ]);
    const port = Number(new URL(listener.url).port);

    let deliveries = 0;
    /** The status, or what broke. */
    const deliver = (n: number, agent: Agent | false): Promise<string> => {
      const secret = secretOf(n);
      const id = `lead-${(deliveries += 1)}`;
      const body = Buffer.from(JSON.stringify({ id }));
      const url = `https://localhost:${port}/`;
      const credential = scheme.sign(
        { method: 'POST', url, body, id },
        scheme.key(new Secret(secret)),
        Date.now(),
      );
      // A copy where no scheme has its credential.
      const headers = {
        ...Object.fromEntries(credential),
        'content-type': 'application/json',
        'x-copy': secret,
      };
      return new Promise((resolve) => {
        const sent = request(url, { method: 'POST', headers, agent, ca });
        sent.on('error', (error) => resolve(String(error)));
        sent.on('response', (response) => {
          response.resume().on('end', () => resolve(String(response.statusCode)));
        });
        sent.end(body);
      });
    };

    const over = { all: false };
    const isOver = (): boolean => over.all;
    let current = 0;
    const lastUsed = new Array<number>(senders).fill(0);
    const refused: string[] = [];
    let taken = 0;
    const sending = lastUsed.map(async (_, sender) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      for (let n = 1; !isOver(); n += 1) {
        const secret = current;
        // Every tenth delivery is on a connection of its own, with a new handshake.
        const status = await deliver(secret, n % 10 === 0 ? false : agent);
        if (status === '200') taken += 1;
        else refused.push(`secret ${secret}: ${status}`);
        lastUsed[sender] = secret;
        await systemClock.sleep(pauseMs);
      }
      agent.destroy();
    });

    /** Secrets that may not be taken any more. */
    const removed = new Set<number>();
    const passed: string[] = [];
    let rejected = 0;
    const probing = (async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      while (!isOver()) {
        for (const secret of [...removed].slice(-3)) {
          const status = await deliver(secret, agent);
          if (status === '401') rejected += 1;
          else passed.push(`secret ${secret}: ${status}`);
        }
        await systemClock.sleep(pauseMs);
      }
      agent.destroy();
    })();

    const notes = (what: string): number => listener.stderr().split(`note: the ${what} renewed`).length - 1;
    const someDeliveries = async (): Promise<void> => {
      const before = taken;
      await until(() => taken >= before + 20 || refused.length > 0, 'deliveries');
    };
    for (let n = 1; n <= rotations; n += 1) {
      const added = filesOf(n, n - 1);
      if (n % 3 === 1) mount.swap(added);
      else if (n % 3 === 2) {
        mount.rewrite(added);
        listener.child.kill('SIGHUP');
      } else {
        mount.writeHalf(added);
        await someDeliveries();
        mount.rewrite(added);
      }
      await until(() => notes('secrets were') === 2 * n - 1, `secret ${n}`);
      await until(() => notes('certificate was') === n, `certificate ${n}`);
      expect(await serialOf(port)).toBe(new X509Certificate(added['cert.pem']).serialNumber);
      current = n;
      await until(() => lastUsed.every((used) => used === n), 'every sender to use it');
      const alone = filesOf(n, n);
      if (n % 2 === 0) mount.swap(alone);
      else mount.rewrite(alone);
      if (!full || n % 4 > 1) listener.child.kill('SIGHUP');
      await until(() => notes('secrets were') === 2 * n, `the removal of ${n - 1}`);
      removed.add(n - 1);
      await someDeliveries();
    }
    over.all = true;
    await Promise.all([...sending, probing]);
    expect(await listener.end('SIGTERM')).toBe(143);
    console.log(
      `rotation, ${name}: ${rotations} changes of secret and certificate under ${taken} genuine deliveries: ${refused.length} refused; ` +
        `${rejected} with a removed secret rejected, ${passed.length} not`,
    );
    expect(refused).toEqual([]);
    expect(passed).toEqual([]);
    expect(rejected).toBeGreaterThan(rotations);
    expect(listener.stderr()).not.toContain('not renewed');
    const data = join(listener.home, 'data');
    const stored = readdirSync(data).filter((file) => file.startsWith('inbox.db'));
    for (const file of stored) expect(readFileSync(join(data, file)).includes('secret-number')).toBe(false);
  },
);
