import { createHash, createHmac, pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { serialize } from 'pg-protocol';
import type { Secret } from '../../../secret.ts';
import { SocketFault } from './database-errors.ts';

/** What the server asks for, as `pg-protocol` names it. */
export type AuthenticationRequest =
  | { readonly name: 'authenticationOk' | 'authenticationCleartextPassword' }
  | { readonly name: 'authenticationMD5Password'; readonly salt: Buffer }
  | { readonly name: 'authenticationSASL'; readonly mechanisms: readonly string[] }
  | { readonly name: 'authenticationSASLContinue' | 'authenticationSASLFinal'; readonly data: string };

interface Credentials {
  readonly user: string;
  readonly password: Secret | undefined;
}

const mechanism = 'SCRAM-SHA-256';

/** That this client knows no channel binding (RFC 5802), in both messages. */
const header = 'n,,';

/** More would keep the processor busy for whoever answers at that address. */
const mostIterations = 10_000_000;

/** Answers the server's requests for one login. */
export class Authentication {
  readonly #user: string;
  readonly #password: string;
  readonly #nonce = randomBytes(18).toString('base64');
  /** What the server has to prove that it knows the password. */
  #signature: Buffer | undefined;

  constructor({ user, password }: Credentials) {
    this.#user = user;
    // As SASLprep does it, but for rare characters; a password of ASCII stays what it is.
    this.#password = (password?.reveal() ?? '').normalize('NFKC');
  }

  /** The message that answers this one; undefined: the server waits for none. Throws a `SocketFault`, or rejects with it. */
  answer(request: AuthenticationRequest): Buffer | Promise<Buffer> | undefined {
    switch (request.name) {
      case 'authenticationOk':
        // One that began SCRAM has to prove itself first.
        if (this.#signature === undefined) return undefined;
        break;
      case 'authenticationCleartextPassword':
        return serialize.password(this.#password);
      case 'authenticationMD5Password': {
        const inner = md5(Buffer.from(this.#password + this.#user));
        return serialize.password(`md5${md5(Buffer.concat([Buffer.from(inner), request.salt]))}`);
      }
      case 'authenticationSASL':
        if (!request.mechanisms.includes(mechanism)) break;
        return serialize.sendSASLInitialResponseMessage(mechanism, `${header}${this.#first}`);
      case 'authenticationSASLContinue':
        return this.#prove(request.data);
      case 'authenticationSASLFinal':
        this.#verify(request.data);
        return undefined;
    }
    throw new SocketFault('unknown authentication');
  }

  get #first(): string {
    return `n=,r=${this.#nonce}`;
  }

  async #prove(serverFirst: string): Promise<Buffer> {
    const { r: nonce = '', s: salt = '', i = '' } = attributesIn(serverFirst);
    const iterations = Number(i);
    const isUsable = iterations >= 1 && iterations <= mostIterations;
    if (!nonce.startsWith(this.#nonce) || nonce === this.#nonce || !isUsable) {
      throw new SocketFault('unproven server');
    }
    const salted = await derive(this.#password, Buffer.from(salt, 'base64'), iterations, 32, 'sha256');
    const clientKey = hmac(salted, 'Client Key');
    const withoutProof = `c=${Buffer.from(header).toString('base64')},r=${nonce}`;
    const messages = `${this.#first},${serverFirst},${withoutProof}`;
    const signature = hmac(createHash('sha256').update(clientKey).digest(), messages);
    this.#signature = hmac(hmac(salted, 'Server Key'), messages);
    const proof = clientKey.map((byte, at) => byte ^ (signature[at] ?? 0));
    return serialize.sendSCRAMClientFinalMessage(
      `${withoutProof},p=${Buffer.from(proof).toString('base64')}`,
    );
  }

  #verify(serverFinal: string): void {
    const found = Buffer.from(attributesIn(serverFinal)['v'] ?? '', 'base64');
    const wanted = this.#signature;
    if (wanted?.length !== found.length || !timingSafeEqual(wanted, found)) {
      throw new SocketFault('unproven server');
    }
    this.#signature = undefined;
  }
}

const derive = promisify(pbkdf2);

const hmac = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

const md5 = (bytes: Uint8Array): string => createHash('md5').update(bytes).digest('hex');

/** `r=…,s=…`: letters and their values, which may hold an equals sign. */
const attributesIn = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(text.split(',').map((one) => [one.slice(0, 1), one.slice(2)]));
