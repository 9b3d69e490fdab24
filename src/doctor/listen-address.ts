import { createPrivateKey, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { request as requestPlain } from 'node:http';
import { request as requestTls } from 'node:https';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { ConfigError, messageOf } from '../errors.ts';
import {
  authorityKeyPath,
  authorityPath,
  readAuthority,
  renewAuthorityBefore,
} from '../tls/local-authority.ts';
import { checkNamed, type CheckResult } from './check-result.ts';

/** A program on this machine answers at once, or is none of ours; ms. */
const answerMs = 2000;

/** Whether `listen` can have the port. A receiver of ours that has it already is in order. */
export async function checkPort(host: string, port: number): Promise<CheckResult> {
  const check = checkNamed('receiver.port');
  const code = await tryToBind(host, port);
  const address = `${host}:${port}`;
  if (code === undefined) return check.pass({ kind: 'port-free', address });
  if (code === 'EADDRINUSE') {
    if (await isListen(host, port)) return check.pass({ kind: 'port-of-listen', address });
    return check.warn({ kind: 'port-taken', address });
  }
  if (code === 'EACCES') return check.fail({ kind: 'port-needs-rights', address });
  return check.fail({ kind: 'port-unusable', address, code });
}

async function tryToBind(host: string, port: number): Promise<string | undefined> {
  const server = createServer();
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, 'listening');
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown';
  } finally {
    server.close();
  }
}

/** A browser that opens the address gets a page that says what is there; nothing secret is sent. */
async function isListen(host: string, port: number): Promise<boolean> {
  const answers = await Promise.all([titleAt(requestTls, host, port), titleAt(requestPlain, host, port)]);
  return answers.includes('leads listen');
}

function titleAt(
  request: typeof requestPlain | typeof requestTls,
  host: string,
  port: number,
): Promise<string> {
  return new Promise((resolve) => {
    const asked = request(
      // Whose certificate it is does not matter: it is only asked what it is.
      { host, port, path: '/', headers: { accept: 'text/html' }, rejectUnauthorized: false },
      (answer) => {
        let page = '';
        answer.setEncoding('utf8');
        answer.on('data', (text: string) => {
          page += text;
          if (page.length > 16_384) asked.destroy();
        });
        answer.on('error', () => resolve(''));
        answer.on('end', () => resolve(/<title>([^<]*)<\/title>/.exec(page)?.[1] ?? ''));
      },
    );
    const timer = setTimeout(() => asked.destroy(), answerMs);
    asked.on('error', () => resolve(''));
    asked.on('close', () => {
      clearTimeout(timer);
      resolve('');
    });
    asked.end();
  });
}

/** Until when the local authority is valid, which users may have told their clients to trust. */
export async function checkAuthority(dataDir: string, now: number): Promise<CheckResult> {
  const check = checkNamed('receiver.authority');
  const path = authorityPath(dataDir);
  const directory = dirname(path);
  try {
    const pem = await readAuthority(dataDir);
    if (pem === undefined) return check.pass({ kind: 'authority-unmade' });
    const certificate = new X509Certificate(pem);
    const keyPath = authorityKeyPath(dataDir);
    if (!certificate.checkPrivateKey(createPrivateKey(await readFile(keyPath, 'utf8'))))
      return check.fail({ kind: 'authority-unusable', path, directory, why: { otherKey: keyPath } });
    const [start, end] = [Date.parse(certificate.validFrom), Date.parse(certificate.validTo)];
    if (start > now) return check.fail({ kind: 'authority-early', path, at: start });
    if (end - now > renewAuthorityBefore) return check.pass({ kind: 'authority-valid', path, at: end });
    return check.warn({ kind: 'authority-ends', path, at: end, isOver: end <= now });
  } catch (error) {
    if (error instanceof ConfigError) return check.fail(error);
    return check.fail({ kind: 'authority-unusable', path, directory, why: messageOf(error) });
  }
}
