import { createSecretKey, generateKeyPair, type KeyObject, randomBytes } from 'node:crypto';
import { kindOf } from '../../webhook/crypto/algorithm.ts';
import type { Key } from '../../webhook/scheme.ts';

/** A key of the same kind and name that nobody knows. */
export async function otherKey(key: Key | undefined): Promise<Key | undefined> {
  return key === undefined ? undefined : { ...key, material: await otherMaterial(key) };
}

function otherMaterial({ material }: Key): Promise<KeyObject> {
  switch (kindOf(material)) {
    case 'ed25519':
      return generated((done) => generateKeyPair('ed25519', undefined, done));
    case 'p256':
      return generated((done) => generateKeyPair('ec', { namedCurve: 'P-256' }, done));
    case 'rsa':
      return generated((done) => generateKeyPair('rsa', { modulusLength: 2048 }, done));
    case 'rsa-pss':
      return generated((done) => generateKeyPair('rsa-pss', { modulusLength: 2048 }, done));
    case 'secret':
    case undefined:
      return Promise.resolve(createSecretKey(randomBytes(32)));
  }
}

type Done = (error: Error | null, publicKey: KeyObject, privateKey: KeyObject) => void;

function generated(start: (done: Done) => void): Promise<KeyObject> {
  return new Promise((resolve, reject) => {
    start((error, _, privateKey) => {
      if (error === null) resolve(privateKey);
      else reject(error);
    });
  });
}
