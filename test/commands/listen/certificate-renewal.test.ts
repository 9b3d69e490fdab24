import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { expect, it } from 'vitest';
import { ensureAuthority } from '../../../src/tls/local-authority.ts';
import { FakeClock } from '../../support/clock.ts';
import { type Listener, listenInEachTest } from './support.ts';
import { until } from '../../support/until.ts';
import { freshHome } from '../../support/run.ts';

const hour = 3_600_000;
const day = 24 * hour;
const listen = listenInEachTest();
const start = (begin: number, ...argv: string[]): Promise<Listener> =>
  listen(argv, { clock: new FakeClock(begin) });

/** Of the certificate that a new connection is shown. */
const shown = ({ url }: Listener): Promise<{ serial: string; protocol: string | null }> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', rejectUnauthorized: false });
    socket.once('error', reject);
    socket.once('secureConnect', () => {
      resolve({ serial: socket.getPeerCertificate().serialNumber, protocol: socket.getProtocol() });
      socket.destroy();
    });
  });

/** Lets the receiver look at its certificate once more, and waits until it has. */
async function advance({ clock }: Listener, ms: number, everyMs = hour): Promise<void> {
  const looks = (): number => clock.sleeps.filter((slept) => slept === everyMs).length;
  await until(() => looks() > 0);
  const before = looks();
  clock.advance(ms);
  await until(() => looks() > before, 'another look at the certificate');
}

it('renews its own certificate before it expires, with a note', async () => {
  const listener = await start(Date.now() - 341 * day);
  const { serial, protocol } = await shown(listener);
  await advance(listener, hour);
  expect((await shown(listener)).serial).toBe(serial);
  await advance(listener, 340 * day);
  const renewed = await shown(listener);
  expect([renewed.serial === serial, renewed.protocol]).toEqual([false, protocol]);
  expect(listener.stderr.text()).toContain('note: the certificate was renewed');
  expect((await listener.post({ id: 'a' })).status).toBe(200);
});

it('uses renewed files of --cert and --key, and keeps the old certificate while they do not match', async () => {
  const home = freshHome();
  const [cert, key] = [join(home, 'cert.pem'), join(home, 'key.pem')];
  const pair = (name: string, madeAt = Date.now()) => ensureAuthority(home, { now: () => madeAt }, name);
  const write = ({ certPem, keyPem }: { certPem: string; keyPem: string }): void => {
    writeFileSync(cert, certPem);
    writeFileSync(key, keyPem);
  };
  write(await pair('one'));
  const listener = await start(Date.now(), '--cert', cert, '--key', key);
  const { serial } = await shown(listener);
  const next = await pair('two');
  const look = () => advance(listener, 2000, 2000);
  writeFileSync(cert, next.certPem);
  await look();
  expect(listener.stderr.text()).not.toContain('not renewed');
  for (let looks = 0; looks < 8; looks += 1) await look();
  expect((await shown(listener)).serial).toBe(serial);
  expect(listener.stderr.text().match(/warning: the certificate was not renewed: --key/g)).toHaveLength(1);
  write(next);
  await look();
  await look();
  const second = (await shown(listener)).serial;
  expect(second).not.toBe(serial);
  write(await pair('three'));
  listener.hangUp();
  await until(async () => (await shown(listener)).serial !== second, 'the pair of SIGHUP');
  expect(listener.stderr.text().match(/note: the certificate was renewed/g)).toHaveLength(2);
  const third = (await shown(listener)).serial;
  write(await pair('not valid yet', Date.now() + 3 * day));
  await look();
  await look();
  expect((await shown(listener)).serial).toBe(third);
  await advance(listener, 3 * day, 2000);
  expect((await shown(listener)).serial).not.toBe(third);
});
