import type { FileProblem } from '../files/problems.ts';
import { type Messages, updateLeads } from './message.ts';

const reasons: Readonly<Record<string, string>> = {
  ENOSPC: 'no space left on the device',
  EDQUOT: 'the disk quota is used up',
  EIO: 'I/O error',
  EACCES: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOENT: 'no such directory',
  EISDIR: 'it is a directory',
  ENOTDIR: 'a part of its path is not a directory',
  ENAMETOOLONG: 'its name is too long',
  ELOOP: 'its links lead to each other',
  ENXIO: 'nothing takes what is written there',
  EBADF: 'it is not open for writing',
  EPERM: 'it is not permitted',
  EFBIG: 'it would become too large',
  ETXTBSY: 'it is a running program',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open',
};

const readFailures: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'it is not readable for this user',
  EISDIR: 'it is a directory',
  ENOTDIR: 'a part of its path is not a directory',
};

const hints: Readonly<Record<string, string>> = {
  ENOSPC: 'free some space, or write to another place',
  ENAMETOOLONG: 'the files beside it, such as NAME.checkpoint, need longer names',
};

const moveAway = () => 'move it away and start again; leads does not overwrite it';

export const fileMessages: Messages<FileProblem> = {
  'cannot-write': ({ what, code = '', detail = code, variable }) => ({
    message: `cannot write ${what}: ${reasons[code] ?? detail}`,
    hint: () => hints[code] ?? (variable && `set ${variable} to a directory that can be written`),
  }),
  'cannot-read': ({ option, what, code = '', detail }) => ({
    option,
    message: `cannot read ${what}: ${readFailures[code] ?? detail}`,
  }),
  'output-is-socket': ({ path }) => `cannot write ${path}: it is a socket`,
  'output-no-regular-file': ({ path }) => `cannot write ${path}: it is not a regular file`,
  'file-keeps-vanishing': ({ path }) => `cannot write ${path}: it is removed again and again`,
  'leads-not-kept': ({ directory, why }) => ({
    message: `cannot keep the leads in a file in ${directory}: ${why}`,
    hint: () => 'make space there, or name another directory in TMPDIR',
  }),
  'file-in-use': ({ path, pid, host, file }) => ({
    message: `${path} is in use by another leads (process ${pid}${host === undefined ? '' : ` on ${host}`})`,
    hint: () =>
      host === undefined
        ? `wait for it to end, or remove ${file} if process ${pid} is another program`
        : `if that machine no longer runs it, remove ${file}`,
  }),
  'shorter-than-checkpoint': ({ path, found, expected }) => ({
    message: `${path} has ${found} bytes, but its checkpoint says ${expected}`,
    hint: (words) => `start again without ${words.option('resume')}`,
  }),
  'addon-not-loaded': ({ directory, why }) => ({
    message: `cannot load the database's code from ${directory}: ${why}`,
    hint: () => 'set TMPDIR to a directory with 10 MB to spare, on a file system that is not mounted noexec',
  }),
  'addon-altered': () => ({
    message: "the database's code has another digest than when it was built",
    hint: () => 'the executable file may be damaged: copy or build it again',
  }),
  'page-not-installed': ({ path }) => ({
    message: `the page is not installed: cannot read ${path}`,
    hint: () => 'install leads again; in a clone, run npm run build',
  }),
  'libsql-not-installed': ({ version }) => ({
    message: 'the package libsql is not installed, or not for this platform',
    hint: () => `npm install libsql@${version}, with --global where leads was installed so`,
  }),
  'state-unreadable': ({ what, path, why }) => `cannot read the ${what} ${path}: ${why}`,
  'state-not-json': ({ what, path }) => ({ message: `the ${what} ${path} is not JSON`, hint: moveAway }),
  'state-of-newer-version': ({ what, path }) => ({
    message: `the ${what} ${path} was made by a newer version of leads`,
    hint: () => updateLeads,
  }),
  'state-invalid': ({ what, path, at }) => ({
    message: `the ${what} ${path} is not one that this leads can read, at '${at}'`,
    hint: moveAway,
  }),
};
