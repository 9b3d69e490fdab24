/** What the ids of leads begin with that a program made up to try a receiver out. */
export const testIdPrefixes = { send: 'leads-send-', check: 'leads-check-' } as const;

export const isTestId = (id: string): boolean =>
  Object.values(testIdPrefixes).some((prefix) => id.startsWith(prefix));
