import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { ConfigError } from '../../errors.ts';
import { systemReason } from '../../files/errors.ts';
import {
  cannotOpenInbox,
  cannotReadInbox,
  cannotStore,
  freeSpace,
  saveDamaged,
  type StoreFault,
} from '../errors.ts';

const lockedFault: StoreFault = { message: 'another process holds it locked' };

/** Sentences for SQLite's primary result codes, without SQLITE_. The database's own message is kept as the cause. */
const faults: Readonly<Record<string, StoreFault>> = {
  FULL: { message: 'no space left on the device', hint: freeSpace },
  BUSY: lockedFault,
  LOCKED: lockedFault,
  READONLY: {
    message: 'it is read-only',
    hint: (front) => `make the file and its directory writable, or name another ${front.option('inbox')}`,
  },
  NOTADB: {
    message: 'it is not an inbox database',
    hint: (front) => `move it away, or name another ${front.option('inbox')}`,
  },
  IOERR: { message: 'I/O error' },
  CANTOPEN: { message: 'it cannot be opened', hint: 'check that the directory exists and is writable' },
};

export const sqliteCode = (error: unknown): string => {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' ? code : '';
};

export const isBusy = (error: unknown): boolean => /^SQLITE_(BUSY|LOCKED)/.test(sqliteCode(error));

export const isDamage = (error: unknown): boolean => sqliteCode(error).startsWith('SQLITE_CORRUPT');

/** A fault that SQLite does not notice: an open file was deleted, moved or replaced, or its status cannot be read. */
export class FileFault extends Error implements StoreFault {
  readonly hint: string | undefined;

  constructor(message: string, { hint, cause }: { readonly hint?: string; readonly cause?: unknown } = {}) {
    super(message, { cause });
    this.hint = hint;
  }
}

export function faultOf(path: string, error: unknown): StoreFault {
  if (error instanceof FileFault) return error;
  if (isDamage(error)) return { message: 'the database is damaged', hint: saveDamaged(path) };
  const [, code = ''] = /^SQLITE_([A-Z]+)/.exec(sqliteCode(error)) ?? [];
  if (faults[code] !== undefined) return faults[code];
  const reason = systemReason(error);
  const isForbidden = (error as NodeJS.ErrnoException).code === 'EACCES';
  const place = isForbidden ? deepestVisible(path) : path;
  return { message: place === path ? reason : `${reason} in the directory ${place}` };
}

/** The file, or the directory above it that is not passed: whether that has what is below it, the system does not say. */
function deepestVisible(path: string): string {
  try {
    statSync(path);
    return path;
  } catch {
    const parent = dirname(path);
    return parent === path ? path : deepestVisible(parent);
  }
}

export const cannotWrite = (inbox: string, cause: unknown) =>
  cannotStore(inbox, faultOf(inbox, cause), cause);

/** Returns an error that is not of the database as it is. */
export function cannotRead(inbox: string, cause: unknown): unknown {
  if (!(cause instanceof FileFault) && !sqliteCode(cause).startsWith('SQLITE_')) return cause;
  return cannotReadInbox(inbox, faultOf(inbox, cause), cause);
}

export const cannotOpen = (inbox: string, cause: unknown): ConfigError =>
  new ConfigError(...cannotOpenInbox(inbox, faultOf(inbox, cause), cause));
