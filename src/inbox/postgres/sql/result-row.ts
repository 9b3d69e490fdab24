/** A row as the driver gives it: integers of eight bytes come as text, and bytes are asked for in hex. */
export type Row = Readonly<Record<string, unknown>>;

/** The rows of one statement. */
export type Rows = readonly Row[];

export const numberOf = (value: unknown): number => Number(value);

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Of `encode(…, 'hex')`. */
export const bytesOf = (value: unknown): Buffer => Buffer.from(textOf(value), 'hex');

export const isNull = (value: unknown): value is null | undefined => value === null || value === undefined;
