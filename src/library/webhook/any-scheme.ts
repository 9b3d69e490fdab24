import type { OtherSchemes } from './make-verifier.ts';

/** The code of the schemes that are more than a shared secret, loaded when one is asked for. */
export const anyScheme: OtherSchemes = {
  defined: () => import('./defined-scheme.ts'),
  own: () => import('./own-verifier.ts'),
  errors: () => import('./scheme-errors.ts'),
};
