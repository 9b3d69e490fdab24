import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { sha256 } from '../json/bytes.ts';
import { ed25519Private, ed25519Public } from '../webhook/crypto/asymmetric-key.ts';

/** Who signs: a name and an Ed25519 key, as C2SP signed-note names them. */
export interface SignerName {
  readonly name: string;
  /** The first four bytes of a digest of name and key. */
  readonly id: Buffer;
  readonly publicKey: Buffer;
}

export interface Signer extends SignerName {
  readonly privateKey: KeyObject;
}

/** The kind of key, before its bytes. */
const ed25519 = Buffer.of(1);
const privatePrefix = 'PRIVATE+KEY+';
const signaturePrefix = '\u2014 ';

/** What a signer's name may be: it stands in lines and between plus signs. */
export const signerName = /^[^\s+]{1,100}$/u;

/** The bytes of standard base64 that is written in the one way that it can be. */
export function base64Bytes(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
}

function named(name: string, publicKey: Buffer): SignerName {
  const id = sha256(Buffer.concat([Buffer.from(`${name}\n`), ed25519, publicKey]));
  return { name, id: id.subarray(0, 4), publicKey };
}

/** `seed`: 32 random bytes. */
export function signerOf(name: string, seed: Buffer): Signer {
  const privateKey = ed25519Private(seed);
  const x = createPublicKey(privateKey).export({ format: 'jwk' }).x ?? '';
  return { ...named(name, Buffer.from(x, 'base64url')), privateKey };
}

/** As the key is written down for others: `name+id+key`. */
export const publicText = ({ name, id, publicKey }: SignerName): string =>
  `${name}+${id.toString('hex')}+${Buffer.concat([ed25519, publicKey]).toString('base64')}`;

/** As the key is kept. */
export const privateText = ({ name, id }: SignerName, seed: Buffer): string =>
  `${privatePrefix}${name}+${id.toString('hex')}+${Buffer.concat([ed25519, seed]).toString('base64')}`;

/** Undefined for what is no key of that form, and where the id is not the key's. */
export function readPublicKey(text: string): SignerName | undefined {
  const [name = '', id, ...key] = text.split('+');
  const bytes = keyBytes(name, key.join('+'));
  const signer = bytes && named(name, bytes);
  return signer?.id.toString('hex') === id ? signer : undefined;
}

/** The same of a private key. */
export function readPrivateKey(text: string): Signer | undefined {
  if (!text.startsWith(privatePrefix)) return undefined;
  const [name = '', id, ...key] = text.slice(privatePrefix.length).split('+');
  const seed = keyBytes(name, key.join('+'));
  const signer = seed && signerOf(name, seed);
  return signer?.id.toString('hex') === id ? signer : undefined;
}

function keyBytes(name: string, key: string): Buffer | undefined {
  const bytes = base64Bytes(key);
  const isKey = signerName.test(name) && bytes?.length === 33 && bytes[0] === ed25519[0];
  return isKey ? bytes.subarray(1) : undefined;
}

/** A text that ends with a line break, and the lines below it that sign it. */
export interface Note {
  readonly text: string;
  readonly signatures: readonly { readonly name: string; readonly id: Buffer; readonly signature: Buffer }[];
}

export const signText = (message: string | Uint8Array, { privateKey }: Signer): Buffer =>
  sign(null, Buffer.from(message), privateKey);

export const isSignedBy = (message: string | Uint8Array, signature: Uint8Array, key: SignerName): boolean =>
  signature.length === 64 && verify(null, Buffer.from(message), ed25519Public(key.publicKey), signature);

/** One line for a note's text. */
export const signatureLine = (text: string, signer: Signer): string =>
  `${signaturePrefix}${signer.name} ${Buffer.concat([signer.id, signText(text, signer)]).toString('base64')}\n`;

/** Undefined for what is no note. */
export function readNote(note: string): Note | undefined {
  const end = note.lastIndexOf('\n\n');
  const lines = note.slice(end + 2).split('\n');
  if (end === -1 || lines.pop() !== '' || lines.length === 0 || /[\u0000-\u0009\u000b-\u001f]/.test(note)) {
    return undefined;
  }
  const signatures = lines.flatMap((line) => {
    const [name = '', text = '', ...more] = line.slice(signaturePrefix.length).split(' ');
    const bytes = base64Bytes(text);
    const isRead = line.startsWith(signaturePrefix) && signerName.test(name) && more.length === 0;
    return isRead && bytes !== undefined && bytes.length > 4
      ? [{ name, id: bytes.subarray(0, 4), signature: bytes.subarray(4) }]
      : [];
  });
  return signatures.length === lines.length ? { text: note.slice(0, end + 1), signatures } : undefined;
}

/** Whether one of the note's lines is the key's signature, and not a wrong one in its name. */
export function isNoteSignedBy({ text, signatures }: Note, key: SignerName): boolean {
  const own = signatures.filter(({ name, id }) => name === key.name && id.equals(key.id));
  return own.length > 0 && own.every(({ signature }) => isSignedBy(text, signature, key));
}

/** The head of a ledger, as C2SP tlog-checkpoint writes it down. */
export interface Checkpoint {
  readonly origin: string;
  readonly size: number;
  readonly root: Uint8Array;
  /** Lines of the origin's own. */
  readonly extensions: readonly string[];
}

export const checkpointText = ({ origin, size, root, extensions }: Checkpoint): string =>
  [origin, size, Buffer.from(root).toString('base64'), ...extensions, ''].join('\n');

/** Undefined for a text that is no checkpoint. */
export function readCheckpoint(text: string): Checkpoint | undefined {
  const [origin = '', size = '', root = '', ...rest] = text.split('\n');
  const bytes = base64Bytes(root);
  if (origin === '' || !/^(0|[1-9]\d{0,14})$/.test(size) || bytes?.length !== 32) return undefined;
  if (rest.pop() !== '' || rest.includes('')) return undefined;
  return { origin, size: Number(size), root: bytes, extensions: rest };
}
