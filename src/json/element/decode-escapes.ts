const named: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** Text of JSON with the escapes in its strings as what they stand for; what is no escape stays as it is. */
export const decodeEscapes = (json: string): string =>
  json.includes('\\')
    ? json.replace(/\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))/g, (_, code?: string, letter = '') =>
        code === undefined
          ? (named[letter as string] ?? String(letter))
          : String.fromCharCode(parseInt(code, 16)),
      )
    : json;
