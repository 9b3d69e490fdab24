import type { KindsOf } from '../errors.ts';

/** Why a file of this machine cannot be read, written, or continued. */
export type FileProblem = KindsOf<{
  /**
   * `what`: its path, or what else it is called. `code`, `detail`: what the system says. `variable`: the environment variable that
   * names another place.
   */
  'cannot-write': { what: string; code: string | undefined; detail?: string; variable?: string | undefined };
  /** `what`: what it holds and its path. `option`: the one that named it. */
  'cannot-read': { what: string; code: string | undefined; detail: string; option: string | undefined };
  'output-is-socket': { path: string };
  'output-no-regular-file': { path: string };
  /** It was removed each time that something was written to it. */
  'file-keeps-vanishing': { path: string };
  /** For the time of a run. */
  'leads-not-kept': { directory: string; why: string };
  /** `host`: of its holder, where that is another machine; `file`: the lock itself. */
  'file-in-use': { path: string; pid: number; host: string | undefined; file: string };
  'shorter-than-checkpoint': { path: string; found: number; expected: number };
  /** A part of the program itself. */
  'addon-not-loaded': { directory: string; why: string };
  'addon-altered': unknown;
  'page-not-installed': { path: string };
  /** npm leaves it out under `--omit=optional`. */
  'libsql-not-installed': { version: string };
  /** `what` was read, such as a bookmark. */
  'state-unreadable': { what: string; path: string; why: string };
  'state-of-newer-version': { what: string; path: string };
  'state-not-json': { what: string; path: string };
  'state-invalid': { what: string; path: string; at: string };
}>;
