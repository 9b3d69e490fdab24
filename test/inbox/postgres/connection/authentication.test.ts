import { createHash, createHmac, pbkdf2Sync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Authentication } from '../../../../src/inbox/postgres/connection/authentication.ts';
import { SocketFault } from '../../../../src/inbox/postgres/connection/database-errors.ts';
import { int32s } from '../../../../src/inbox/postgres/sql.ts';
import { Secret } from '../../../../src/secret.ts';

const request = (kind: number, rest: Uint8Array | string = ''): Buffer =>
  Buffer.concat([int32s(kind), Buffer.from(rest)]);

const start = () => new Authentication({ user: 'leads', password: new Secret('pencil') });

/** Of a message of the client: behind its kind and length. */
const textOf = (message: Uint8Array | undefined): string => Buffer.from(message ?? []).toString('utf8', 5);

it('gives the password, or its digest, to a server that asks so', async () => {
  expect(textOf(await start().answer(request(3)))).toBe('pencil\0');
  const md5 = (text: string | Buffer) => createHash('md5').update(text).digest('hex');
  const salt = Buffer.from([1, 2, 3, 4]);
  const expected = `md5${md5(Buffer.concat([Buffer.from(md5('pencilleads')), salt]))}\0`;
  expect(textOf(await start().answer(request(5, salt)))).toBe(expected);
});

it.each([7, 9, 99])('takes no request of another kind: %d', (kind) => {
  expect(() => start().answer(request(kind))).toThrow(SocketFault);
});

it('takes no SASL without SCRAM-SHA-256', () => {
  expect(() => start().answer(request(10, 'SCRAM-SHA-256-PLUS\0\0'))).toThrow(SocketFault);
});

describe('a server that asks for SCRAM-SHA-256', () => {
  const salt = Buffer.from('salt of the server');

  async function asked() {
    const login = start();
    const first = textOf(await login.answer(request(10, 'SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0')));
    const nonce = /r=(.*)$/.exec(first)?.[1] ?? '';
    const serverFirst = `r=${nonce}more,s=${salt.toString('base64')},i=4096`;
    const last = textOf(await login.answer(request(11, serverFirst)));
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
    expect(await login.answer(request(12, `v=${verifier}`))).toBeUndefined();
    expect(await login.answer(request(0))).toBeUndefined();
  });

  it('is not trusted where it proves nothing, or something else', async () => {
    const { login } = await asked();
    expect(() => login.answer(request(0))).toThrow(SocketFault);
    expect(() => login.answer(request(12, `v=${Buffer.alloc(32).toString('base64')}`))).toThrow(SocketFault);
  });

  it('gets no proof for a nonce of its own, or without iterations', async () => {
    for (const answer of ['r=other,s=AAAA,i=4096', 'r=,s=AAAA,i=4096']) {
      const login = start();
      await login.answer(request(10, 'SCRAM-SHA-256\0\0'));
      await expect(login.answer(request(11, answer))).rejects.toThrow(SocketFault);
    }
  });
});
