/**
 * What applications import has this in place of `globalThis`: zod keeps settings and schemas there, and would share them
 * with the zod of the application.
 */
export const ownGlobals = {};
