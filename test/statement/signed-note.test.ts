import { describe, expect, it } from 'vitest';
import {
  checkpointText,
  isNoteSignedBy,
  privateText,
  publicText,
  readCheckpoint,
  readNote,
  readPrivateKey,
  readPublicKey,
  signatureLine,
  signerOf,
} from '../../src/statement/signed-note.ts';

/** The published example of the format (golang.org/x/mod/sumdb/note). */
const published = {
  publicKey: 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW',
  privateKey: 'PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz',
  note:
    "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n\n" +
    '\u2014 PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n',
};

describe('a signed note', () => {
  const key = readPublicKey(published.publicKey);
  const signer = readPrivateKey(published.privateKey);
  const note = readNote(published.note);

  it('is the published one, byte for byte', () => {
    if (key === undefined || signer === undefined || note === undefined) throw new Error('not read');
    expect(publicText(signer)).toBe(published.publicKey);
    expect(isNoteSignedBy(note, key)).toBe(true);
    expect(`${note.text}\n${signatureLine(note.text, signer)}`).toBe(published.note);
    expect(isNoteSignedBy({ ...note, text: `${note.text}more\n` }, key)).toBe(false);
    expect(isNoteSignedBy(note, signerOf('PeterNeumann', Buffer.alloc(32, 7)))).toBe(false);
  });

  it.each([
    ['no blank line', 'text\n\u2014 a AAAAAAAA\n'],
    ['no signature', 'text\n\n'],
    ['no line break at the end', published.note.slice(0, -1)],
    ['another dash', published.note.replace('\u2014', '-')],
    ['a control character', published.note.replace('you', 'yo\u0007u')],
    ['padding that is not canonical', published.note.replace('nAM=', 'nAN=')],
  ])('is none with %s', (_, text) => expect(readNote(text)).toBeUndefined());

  it('takes a key with another id, or of another kind, for none', () => {
    expect(readPublicKey(published.publicKey.replace('c74f20a3', 'c74f20a4'))).toBeUndefined();
    expect(readPublicKey(published.publicKey.replace('+AR', '+CR'))).toBeUndefined();
    expect(readPrivateKey(published.publicKey)).toBeUndefined();
    const seed = Buffer.alloc(32, 3);
    const own = signerOf('acme.example', seed);
    expect(readPrivateKey(privateText(own, seed))?.id).toEqual(own.id);
  });
});

describe('a checkpoint', () => {
  const text = `example.com/log\n7\n${Buffer.alloc(32, 5).toString('base64')}\nsupersedes x\n`;

  it('is read and written as it stands', () => {
    const read = readCheckpoint(text);
    if (read === undefined) throw new Error('not read');
    expect(read).toMatchObject({ origin: 'example.com/log', size: 7, extensions: ['supersedes x'] });
    expect(checkpointText(read)).toBe(text);
  });

  it.each([
    ['a size with a zero before it', text.replace('\n7\n', '\n07\n')],
    ['a negative size', text.replace('\n7\n', '\n-7\n')],
    ['a root that is too short', text.replace('BQUF', '')],
    ['no origin', text.replace('example.com/log', '')],
    ['no line break at the end', text.slice(0, -1)],
  ])('is none with %s', (_, wrong) => expect(readCheckpoint(wrong)).toBeUndefined());
});
