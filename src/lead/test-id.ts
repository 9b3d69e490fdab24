/** The beginnings of ids of generated leads, by which a receiver is tested. */
export const testIdPrefixes = { send: 'leads-send-', check: 'leads-check-' } as const;

const prefixes = Object.values(testIdPrefixes);

export const isTestId = (id: string): boolean => prefixes.some((prefix) => id.startsWith(prefix));
