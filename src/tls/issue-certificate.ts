import {
  createHash,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  type X509Certificate,
} from 'node:crypto';
import { isIP } from 'node:net';

/** A DER element (X.690, section 8.1): tag, length and content. */
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  if (content.length < 0x80) return Buffer.concat([Buffer.of(tag, content.length), content]);
  const length = Buffer.from(evenHex(content.length), 'hex');
  return Buffer.concat([Buffer.of(tag, 0x80 | length.length), length, content]);
}

const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts);
const set = (...parts: readonly Uint8Array[]): Buffer => der(0x31, ...parts);
const octetString = (...parts: readonly Uint8Array[]): Buffer => der(0x04, ...parts);
const utf8String = (text: string): Buffer => der(0x0c, Buffer.from(text));
const booleanTrue = (): Buffer => der(0x01, Buffer.of(0xff));

/** A leading zero keeps the sign positive. */
function integer(bytes: Uint8Array): Buffer {
  const start = bytes.findIndex((byte) => byte !== 0);
  const digits = start < 0 ? Buffer.of(0) : bytes.subarray(start);
  return der(0x02, (digits[0] ?? 0) >= 0x80 ? Buffer.of(0) : Buffer.of(), digits);
}

const bitString = (bytes: Uint8Array, unused = 0): Buffer => der(0x03, Buffer.of(unused), bytes);

const contextConstructed = (n: number, ...parts: readonly Uint8Array[]): Buffer => der(0xa0 | n, ...parts);
const contextPrimitive = (n: number, bytes: Uint8Array): Buffer => der(0x80 | n, bytes);

function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...arcs] = dotted.split('.').map(Number);
  return der(0x06, Buffer.from([first * 40 + second, ...arcs].flatMap(base128)));
}

function base128(arc: number): number[] {
  const low = arc & 0x7f;
  return arc < 0x80 ? [low] : [...base128(arc >>> 7).map((byte) => byte | 0x80), low];
}

/** UTCTime until 2049, GeneralizedTime from 2050 on (RFC 5280, section 4.1.2.5). In whole seconds. */
function time(ms: number): Buffer {
  const text = `${new Date(ms).toISOString().replace(/\D/g, '').slice(0, 14)}Z`;
  return text < '2050' ? der(0x17, Buffer.from(text.slice(2))) : der(0x18, Buffer.from(text));
}

function evenHex(n: number): string {
  const hex = n.toString(16);
  return hex.length % 2 === 0 ? hex : `0${hex}`;
}

const day = 86_400_000;
/** Ten years, so that a user has to trust the authority only once. */
const authorityLifetime = 3650 * day;
/** The longest lifetime that clients accept from a public authority. */
const leafLifetime = 397 * day;
/** The clocks of a machine and its containers may differ. */
const backdated = day;

const ecdsaWithSha256 = sequence(oid('1.2.840.10045.4.3.2'));
const extension = (id: string, value: Uint8Array, critical = false): Buffer =>
  sequence(oid(id), ...(critical ? [booleanTrue()] : []), octetString(value));
const serverAuth = (): Buffer => extension('2.5.29.37', sequence(oid('1.3.6.1.5.5.7.3.1')));

/**
 * The authority can issue certificates for loopback addresses and `names` only (RFC 5280, section 4.2.1.10): a
 * stolen key of it is of no use beyond this machine.
 */
export function issueAuthority(names: readonly string[], now: number): CertificatePair {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const serial = newSerial();
  const subject = distinguishedName(`leads local authority ${serial.subarray(0, 4).toString('hex')}`);
  const permitted = [
    ...names.map((name) => contextPrimitive(2, Buffer.from(name, 'ascii'))),
    contextPrimitive(7, Buffer.from('7f000000ff000000', 'hex')),
    contextPrimitive(
      7,
      Buffer.from('00000000000000000000000000000001ffffffffffffffffffffffffffffffff', 'hex'),
    ),
  ];
  const certPem = signCertificate(privateKey, {
    serial,
    issuer: subject,
    subject,
    notBefore: now - backdated,
    notAfter: now + authorityLifetime,
    publicKey,
    extensions: [
      extension('2.5.29.19', sequence(booleanTrue(), integer(Buffer.of(0))), true),
      // The key may only sign certificates (keyCertSign).
      extension('2.5.29.15', bitString(Buffer.of(0x04), 2), true),
      serverAuth(),
      extension('2.5.29.14', octetString(keyIdentifier(publicKey))),
      extension(
        '2.5.29.30',
        sequence(contextConstructed(0, ...permitted.map((name) => sequence(name)))),
        true,
      ),
    ],
  });
  return { certPem, keyPem: toPem(privateKey) };
}

export function issueServerCertificate(
  authority: { readonly certificate: X509Certificate; readonly key: KeyObject },
  names: readonly string[],
  now: number,
): CertificatePair {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const issuer = authority.certificate;
  const certPem = signCertificate(authority.key, {
    serial: newSerial(),
    issuer: distinguishedName(/^CN=(.*)$/m.exec(issuer.subject)?.[1] ?? ''),
    subject: distinguishedName('localhost'),
    notBefore: now - backdated,
    notAfter: Math.min(now + leafLifetime - backdated, Date.parse(issuer.validTo)),
    publicKey,
    extensions: [
      extension('2.5.29.19', sequence(), true),
      // The key may only make signatures (digitalSignature).
      extension('2.5.29.15', bitString(Buffer.of(0x80), 7), true),
      serverAuth(),
      extension('2.5.29.17', sequence(...names.map(generalName))),
      extension('2.5.29.14', octetString(keyIdentifier(publicKey))),
      extension('2.5.29.35', sequence(contextPrimitive(0, keyIdentifier(issuer.publicKey)))),
    ],
  });
  return { certPem, keyPem: toPem(privateKey) };
}

interface CertificateFields {
  readonly serial: Buffer;
  readonly issuer: Buffer;
  readonly subject: Buffer;
  /** Milliseconds since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
  readonly publicKey: KeyObject;
  readonly extensions: readonly Buffer[];
}

/** RFC 5280, section 4.1: version 3, signed with ECDSA over SHA-256. */
function signCertificate(signer: KeyObject, fields: CertificateFields): string {
  const contents = sequence(
    contextConstructed(0, integer(Buffer.of(2))),
    integer(fields.serial),
    ecdsaWithSha256,
    fields.issuer,
    sequence(time(fields.notBefore), time(fields.notAfter)),
    fields.subject,
    fields.publicKey.export({ type: 'spki', format: 'der' }),
    contextConstructed(3, sequence(...fields.extensions)),
  );
  const certificate = sequence(contents, ecdsaWithSha256, bitString(sign('sha256', contents, signer)));
  const lines = certificate.toString('base64').replace(/.{1,64}/g, '$&\n');
  return `-----BEGIN CERTIFICATE-----\n${lines}-----END CERTIFICATE-----\n`;
}

const toPem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }) as string;

const distinguishedName = (commonName: string): Buffer =>
  sequence(set(sequence(oid('2.5.4.3'), utf8String(commonName))));

function newSerial(): Buffer {
  const serial = randomBytes(16);
  serial[0] = ((serial[0] ?? 0) & 0x3f) | 0x40;
  return serial;
}

/** RFC 7093, section 2, method 1: the left 160 bits of the SHA-256 of the key's bit string. */
function keyIdentifier(key: KeyObject): Buffer {
  const point = key.export({ type: 'spki', format: 'der' }).subarray(-65);
  return createHash('sha256').update(point).digest().subarray(0, 20);
}

function generalName(name: string): Buffer {
  if (isIP(name) === 4) return contextPrimitive(7, Buffer.from(name.split('.').map(Number)));
  if (name === '::1') return contextPrimitive(7, Buffer.concat([Buffer.alloc(15), Buffer.of(1)]));
  return contextPrimitive(2, Buffer.from(name, 'ascii'));
}

export interface CertificatePair {
  readonly certPem: string;
  readonly keyPem: string;
}

export interface Authority {
  readonly pem: string;
  readonly certificate: X509Certificate;
  readonly key: KeyObject;
}
