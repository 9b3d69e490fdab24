import { createPrivateKey, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { request as requestPlain } from 'node:http';
import { request as requestTls } from 'node:https';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { messageOf } from '../errors.ts';
import { authorityPath, readAuthority, renewAuthorityBefore } from '../tls/local-authority.ts';
import { checkNamed, type CheckResult } from './check-result.ts';

/** A program on this machine answers at once, or is none of ours; ms. */
const answerMs = 2000;

/** Whether `listen` can have the port. A receiver of ours that has it already is in order. */
export async function checkPort(host: string, port: number): Promise<CheckResult> {
  const check = checkNamed('receiver.port');
  const code = await tryToBind(host, port);
  const address = `${host}:${port}`;
  if (code === undefined) return check.pass(`${address} is free`);
  if (code === 'EADDRINUSE') {
    if (await isListen(host, port)) return check.pass({ kind: 'port-of-listen', address });
    return check.warn({ kind: 'port-taken', address });
  }
  if (code === 'EACCES') return check.fail({ kind: 'port-needs-rights', address });
  return check.fail(`nothing can listen on ${address} (${code})`, 'name an address of this machine');
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
  try {
    const pem = await readAuthority(dataDir);
    if (pem === undefined) return check.pass('the local authority is made by the first listen');
    const certificate = new X509Certificate(pem);
    const keyPath = join(dirname(path), 'ca-key.pem');
    if (!certificate.checkPrivateKey(createPrivateKey(await readFile(keyPath, 'utf8')))) {
      throw new Error(`${keyPath} does not belong to it`);
    }
    const [start, end] = [Date.parse(certificate.validFrom), Date.parse(certificate.validTo)];
    if (start > now) {
      return check.fail(
        `${path} is valid from ${new Date(start).toISOString().slice(0, 10)}`,
        'set the clock if it is behind; else the next listen makes another one, which clients have to trust anew',
      );
    }
    const until = new Date(end).toISOString().slice(0, 10);
    return end - now <= renewAuthorityBefore
      ? check.warn(
          `${path} ${end <= now ? 'ended on' : 'is valid until'} ${until}`,
          'the next listen makes another one, which clients have to trust anew',
        )
      : check.pass(`${path}, valid until ${until}`);
  } catch (error) {
    return check.fail(
      `${path} cannot be used: ${messageOf(error)}`,
      `remove ${dirname(path)} to have a new one made`,
    );
  }
}
