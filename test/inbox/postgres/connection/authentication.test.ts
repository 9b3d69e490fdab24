import { type AddressInfo, createConnection, createServer } from 'node:net';
import { createHash, createHmac, pbkdf2Sync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Authentication } from '../../../../src/inbox/postgres/connection/authentication.ts';
import { SocketFault } from '../../../../src/inbox/postgres/connection/database-errors.ts';
import { Session } from '../../../../src/inbox/postgres/connection/session.ts';
import { Secret } from '../../../../src/secret.ts';
import { locationOf } from '../location.ts';

const scram = { name: 'authenticationSASL', mechanisms: ['SCRAM-SHA-256'] } as const;
const ok = { name: 'authenticationOk' } as const;
const proven = (data: string) => ({ name: 'authenticationSASLFinal', data }) as const;
const continued = (data: string) => ({ name: 'authenticationSASLContinue', data }) as const;

const start = () => new Authentication({ user: 'leads', password: new Secret('pencil') });

/** Of a message of the client: behind its kind and length. */
const textOf = (message: Uint8Array | undefined): string => Buffer.from(message ?? []).toString('utf8', 5);

it('gives the password, or its digest, to a server that asks so', async () => {
  expect(textOf(await start().answer({ name: 'authenticationCleartextPassword' }))).toBe('pencil\0');
  const md5 = (text: string | Buffer) => createHash('md5').update(text).digest('hex');
  const salt = Buffer.from([1, 2, 3, 4]);
  const expected = `md5${md5(Buffer.concat([Buffer.from(md5('pencilleads')), salt]))}\0`;
  expect(textOf(await start().answer({ name: 'authenticationMD5Password', salt }))).toBe(expected);
});

it.each([7, 9, 99])('takes no request of another kind: %d', async (kind) => {
  const bytes = Buffer.from([82, 0, 0, 0, 8, 0, 0, 0, kind]);
  const server = createServer((socket) => socket.on('error', () => undefined).end(bytes));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const { url } = locationOf(`postgres://leads@127.0.0.1:${port}/leads`);
  const opened = Session.open(createConnection(port, '127.0.0.1'), {
    url,
    password: undefined,
  });
  await expect(opened).rejects.toMatchObject({ kind: 'unknown authentication' });
  server.close();
});

it('takes no SASL without SCRAM-SHA-256', () => {
  expect(() => start().answer({ ...scram, mechanisms: ['SCRAM-SHA-256-PLUS'] })).toThrow(SocketFault);
});

describe('a server that asks for SCRAM-SHA-256', () => {
  const salt = Buffer.from('salt of the server');

  async function asked() {
    const login = start();
    const first = textOf(await login.answer(scram));
    const nonce = /r=(.*)$/.exec(first)?.[1] ?? '';
    const serverFirst = `r=${nonce}more,s=${salt.toString('base64')},i=4096`;
    const last = textOf(await login.answer(continued(serverFirst)));
    const [, withoutProof = '', proof = ''] = /^(.*),p=(.*)$/.exec(last) ?? [];
    const salted = pbkdf2Sync('pencil', salt, 4096, 32, 'sha256');
    const hmac = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest();
    const messages = `n=,r=${nonce},${serverFirst},${withoutProof}`;
    const clientKey = hmac(salted, 'Client Key');
    const signature = hmac(createHash('sha256').update(clientKey).digest(), messages);
    const given = Buffer.from(proof, 'base64').map((byte, i) => byte ^ (signature[i] ?? 0));
    return {
      login,
      given,
      clientKey,
      verifier: hmac(hmac(salted, 'Server Key'), messages).toString('base64'),
    };
  }

  it('gets a proof, and lets in once it has proven itself', async () => {
    const { login, given, clientKey, verifier } = await asked();
    expect(Buffer.compare(given, clientKey)).toBe(0);
    expect(await login.answer(proven(`v=${verifier}`))).toBeUndefined();
    expect(await login.answer(ok)).toBeUndefined();
  });

  it('is not trusted where it proves nothing, or something else', async () => {
    const { login } = await asked();
    expect(() => login.answer(ok)).toThrow(SocketFault);
    expect(() => login.answer(proven(`v=${Buffer.alloc(32).toString('base64')}`))).toThrow(SocketFault);
  });

  it('gets no proof for a nonce of its own, or without iterations', async () => {
    for (const answer of ['r=other,s=AAAA,i=4096', 'r=,s=AAAA,i=4096']) {
      const login = start();
      await login.answer(scram);
      await expect(login.answer(continued(answer))).rejects.toThrow(SocketFault);
    }
  });
});
