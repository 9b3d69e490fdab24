/** What the ids of leads begin with that a program made up to try a receiver out. */
export const testIdPrefixes = { send: 'leads-send-', check: 'leads-check-' } as const;

const prefixes = Object.values(testIdPrefixes);

export const isTestId = (id: string): boolean => prefixes.some((prefix) => id.startsWith(prefix));
