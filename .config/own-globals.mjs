/**
 * The entries for applications use this object in place of `globalThis`. Zod keeps its settings and schemas there, and would
 * otherwise share them with the zod of the application.
 */
export const ownGlobals = {};
