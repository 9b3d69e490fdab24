import { expect, it } from 'vitest';
import { OutputError } from '../../src/errors.ts';
import type { FileProblem } from '../../src/files/problems.ts';
import { unreadable } from '../../src/files/read.ts';
import { describe as described } from '../../src/messages/command-line.ts';

const cannotWrite = (what: string, code: string, detail = `${code}: …`): FileProblem => ({
  kind: 'cannot-write',
  what,
  code,
  detail,
});

it.each<[FileProblem, string, string | undefined]>([
  [unreadable('a.pem', { code: 'ENOENT' }), 'cannot read a.pem: there is no such file', undefined],
  [unreadable('a.pem', { code: 'ENXIO' }, 'ca'), '--ca: cannot read a.pem: ENXIO', undefined],
  [
    unreadable('a.gz', new Error('incorrect header check')),
    'cannot read a.gz: incorrect header check',
    undefined,
  ],
  [
    cannotWrite('a.csv', 'ENOSPC'),
    'cannot write a.csv: no space left on the device',
    'free some space, or write to another place',
  ],
  [
    cannotWrite('a.csv', 'ENAMETOOLONG'),
    'cannot write a.csv: its name is too long',
    'the files beside it, such as NAME.checkpoint, need longer names',
  ],
  [{ kind: 'cannot-write', what: 'd', code: 'EISDIR' }, 'cannot write d: it is a directory', undefined],
  [cannotWrite('f/x', 'ENOTDIR'), 'cannot write f/x: a part of its path is not a directory', undefined],
  [
    { kind: 'cannot-write', what: 'l', code: 'ELOOP' },
    'cannot write l: its links lead to each other',
    undefined,
  ],
  [cannotWrite('the output', 'EODD', 'EODD: odd'), 'cannot write the output: EODD: odd', undefined],
  [{ kind: 'output-is-socket', path: 's' }, 'cannot write s: it is a socket', undefined],
  [{ kind: 'output-no-regular-file', path: 'p' }, 'cannot write p: it is not a regular file', undefined],
  [
    { kind: 'leads-not-kept', directory: '/tmp', why: 'disk full' },
    'cannot keep the leads in a file in /tmp: disk full',
    'make space there, or name another directory in TMPDIR',
  ],
  [
    { kind: 'file-in-use', path: 'a', pid: 7, host: undefined, file: 'a.lock' },
    'a is in use by another leads (process 7)',
    'wait for it to end, or remove a.lock if process 7 is another program',
  ],
  [
    { kind: 'file-in-use', path: 'a', pid: 7, host: 'elsewhere.example', file: 'a.lock' },
    'a is in use by another leads (process 7 on elsewhere.example)',
    'if that machine no longer runs it, remove a.lock',
  ],
  [
    { kind: 'shorter-than-checkpoint', path: 'a', found: 3, expected: 4 },
    'a has 3 bytes, but its checkpoint says 4',
    'start again without --resume',
  ],
  [
    { kind: 'state-unreadable', what: 'bookmark', path: 'b', why: 'EACCES' },
    'cannot read the bookmark b: EACCES',
    undefined,
  ],
  [
    { kind: 'state-not-json', what: 'bookmark', path: 'b' },
    'the bookmark b is not JSON',
    'move it away and start again; leads does not overwrite it',
  ],
  [
    { kind: 'state-invalid', what: 'checkpoint', path: 'c', at: 'version' },
    "the checkpoint c is not one that this leads can read, at 'version'",
    'move it away and start again; leads does not overwrite it',
  ],
])('says on the command line what %j is', (problem, message, hint) => {
  expect(described(new OutputError(problem))).toEqual({ message, hint });
});
