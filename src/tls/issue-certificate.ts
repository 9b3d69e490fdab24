import {
  createHash,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  type X509Certificate,
} from 'node:crypto';
import { isIP } from 'node:net';

/**
 * The first functions encode DER, in which certificates are written; `issueAuthority` and `issueServerCertificate` make certificates
 * of it. Here: one element (X.690, section 8.1), of a tag, a length and the content.
 */
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  if (content.length < 0x80) return Buffer.concat([Buffer.of(tag, content.length), content]);
  const digits = content.length.toString(16);
  const length = Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex');
  return Buffer.concat([Buffer.of(tag, 0x80 | length.length), length, content]);
}

const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts);
const set = (...parts: readonly Uint8Array[]): Buffer => der(0x31, ...parts);
const octetString = (...parts: readonly Uint8Array[]): Buffer => der(0x04, ...parts);
const utf8String = (text: string): Buffer => der(0x0c, Buffer.from(text));
const booleanTrue = (): Buffer => der(0x01, Buffer.of(0xff));

/** All numbers in a certificate are positive, and begin with a bit 0. */
const integer = (bytes: Uint8Array): Buffer => der(0x02, bytes);
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

/** RFC 5280, section 4.2 and appendix A; RFC 5758, section 3.2. */
const oids = {
  commonName: '2.5.4.3',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  nameConstraints: '2.5.29.30',
  authorityKeyIdentifier: '2.5.29.35',
  extKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
} as const;

/** The tags of the kinds of `GeneralName` (RFC 5280, section 4.2.1.6). */
const [dnsName, ipAddress] = [2, 7];

const dayMs = 86_400_000;
/** Ten years, so that a user has to trust the authority only once. */
const authorityLifetimeMs = 3650 * dayMs;
/** Every client accepts it: Apple's limit is 825 days for an authority that a user trusts, and was 398 for public authorities. */
const leafLifetimeMs = 397 * dayMs;
/** Certificates are valid from a day before they are made: the clocks of a machine and its containers may differ. */
const backdatedMs = dayMs;

const ecdsaWithSha256 = sequence(oid(oids.ecdsaWithSha256));
const extension = (id: keyof typeof oids, value: Uint8Array, critical = false): Buffer =>
  sequence(oid(oids[id]), ...(critical ? [booleanTrue()] : []), octetString(value));
const serverAuth = (): Buffer => extension('extKeyUsage', sequence(oid(oids.serverAuth)));

/**
 * Makes an authority whose certificates count for loopback addresses and `names` only (RFC 5280, section 4.2.1.10), so that its
 * key, if it is stolen, is of no use against other hosts.
 */
export function issueAuthority(names: readonly string[], now: number): CertificatePair {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const serial = newSerial();
  const subject = distinguishedName(`leads local authority ${serial.subarray(0, 4).toString('hex')}`);
  const permitted = [
    ...names.map((name) => contextPrimitive(dnsName, Buffer.from(name, 'ascii'))),
    // Addresses with their masks: 127.0.0.0/8 and ::1/128.
    contextPrimitive(ipAddress, Buffer.from('7f000000ff000000', 'hex')),
    contextPrimitive(ipAddress, Buffer.from(`${'00'.repeat(15)}01${'ff'.repeat(16)}`, 'hex')),
  ];
  const certPem = signCertificate(privateKey, {
    serial,
    issuer: subject,
    subject,
    notBefore: now - backdatedMs,
    notAfter: now + authorityLifetimeMs,
    publicKey,
    extensions: [
      // An authority, which can issue no further authority (pathLenConstraint 0).
      extension('basicConstraints', sequence(booleanTrue(), integer(Buffer.of(0))), true),
      // The key may only sign certificates: keyCertSign is the bit 5, and the last 2 bits of the byte are not used.
      extension('keyUsage', bitString(Buffer.of(0x04), 2), true),
      serverAuth(),
      extension('subjectKeyIdentifier', octetString(keyIdentifier(publicKey))),
      extension(
        'nameConstraints',
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
    // Clients compare the bytes of this name with those of the authority's subject, which has no other part.
    issuer: distinguishedName(/^CN=(.*)$/m.exec(issuer.subject)?.[1] ?? ''),
    subject: distinguishedName('localhost'),
    notBefore: now - backdatedMs,
    // The lifetime counts from `notBefore`, and a certificate is of no use once its authority has expired.
    notAfter: Math.min(now + leafLifetimeMs - backdatedMs, Date.parse(issuer.validTo)),
    publicKey,
    extensions: [
      extension('basicConstraints', sequence(), true),
      // The key may only make signatures: digitalSignature is the bit 0.
      extension('keyUsage', bitString(Buffer.of(0x80), 7), true),
      serverAuth(),
      extension('subjectAltName', sequence(...names.map(generalName))),
      extension('subjectKeyIdentifier', octetString(keyIdentifier(publicKey))),
      extension('authorityKeyIdentifier', sequence(contextPrimitive(0, keyIdentifier(issuer.publicKey)))),
    ],
  });
  return { certPem, keyPem: toPem(privateKey) };
}

interface CertificateFields {
  readonly serial: Buffer;
  readonly issuer: Buffer;
  readonly subject: Buffer;
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
  sequence(set(sequence(oid(oids.commonName), utf8String(commonName))));

function newSerial(): Buffer {
  const serial = randomBytes(16);
  // The top bits are 01: the number is positive (RFC 5280, section 4.1.2.2), and no leading byte is 0.
  serial[0] = ((serial[0] ?? 0) & 0x3f) | 0x40;
  return serial;
}

/**
 * RFC 7093, section 2, method 1: the left 160 bits of the SHA-256 of the key's bit string. A point on P-256 is the last 65 bytes
 * of the exported key, uncompressed.
 */
function keyIdentifier(key: KeyObject): Buffer {
  const point = key.export({ type: 'spki', format: 'der' }).subarray(-65);
  return createHash('sha256').update(point).digest().subarray(0, 20);
}

function generalName(name: string): Buffer {
  if (isIP(name) === 4) return contextPrimitive(ipAddress, Buffer.from(name.split('.').map(Number)));
  if (name === '::1') return contextPrimitive(ipAddress, Buffer.concat([Buffer.alloc(15), Buffer.of(1)]));
  return contextPrimitive(dnsName, Buffer.from(name, 'ascii'));
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
