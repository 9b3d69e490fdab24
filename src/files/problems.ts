/** Why a file of this machine cannot be written, or continued. */
export type FileProblem =
  /** `what`: its path, or what else it is called. `code`, `detail`: what the system says. */
  | {
      readonly kind: 'cannot-write';
      readonly what: string;
      readonly code: string | undefined;
      readonly detail?: string;
    }
  | { readonly kind: 'output-is-socket'; readonly path: string }
  | { readonly kind: 'output-no-regular-file'; readonly path: string }
  /** It was removed each time that something was written to it. */
  | { readonly kind: 'file-keeps-vanishing'; readonly path: string }
  /** For the time of a run. */
  | { readonly kind: 'leads-not-kept'; readonly directory: string; readonly why: string }
  /** `host`: of its holder, where that is another machine; `file`: the lock itself. */
  | {
      readonly kind: 'file-in-use';
      readonly path: string;
      readonly pid: number;
      readonly host: string | undefined;
      readonly file: string;
    }
  | {
      readonly kind: 'shorter-than-checkpoint';
      readonly path: string;
      readonly found: number;
      readonly expected: number;
    }
  /** A part of the program itself. */
  | { readonly kind: 'addon-not-loaded'; readonly directory: string; readonly why: string }
  | { readonly kind: 'addon-altered' }
  | { readonly kind: 'page-not-installed'; readonly path: string }
  /** One that npm may be told to leave out. */
  | { readonly kind: 'package-not-installed'; readonly name: string; readonly version: string }
  /** `what` was read, such as a bookmark. */
  | { readonly kind: 'state-unreadable'; readonly what: string; readonly path: string; readonly why: string }
  | { readonly kind: 'state-of-newer-version'; readonly what: string; readonly path: string }
  | { readonly kind: 'state-not-json'; readonly what: string; readonly path: string }
  | { readonly kind: 'state-invalid'; readonly what: string; readonly path: string; readonly at: string };
