/** What the CLI's receiver takes: 1 MiB within 15 s. */
export const defaultBodyLimits = { maxBytes: 1024 * 1024, timeoutMs: 15_000 } as const;
