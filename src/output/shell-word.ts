/** One word of a shell (sh, bash, zsh): in single quotes, where no character has a meaning, unless it needs none. */
export const shellWord = (text: string): string =>
  /^[\w./@%+:,-][\w./@%+:,=~-]*$/.test(text) ? text : singleQuoted(text);

/** The same, always in quotes. */
export const singleQuoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** A word that holds any bytes but NUL, which no argument of a program can hold: `$'…'` of bash and zsh. */
export const escapedWord = (bytes: Uint8Array): string =>
  `$'${Array.from(bytes, (byte) =>
    byte > 0x1f && byte < 0x7f && byte !== 0x27 && byte !== 0x5c
      ? String.fromCharCode(byte)
      : `\\x${byte.toString(16).padStart(2, '0')}`,
  ).join('')}'`;
