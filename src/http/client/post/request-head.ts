import type { PostRequest } from './poster.ts';

const token = /^[!#$%&'*+.^_`|~\w-]+$/;
/** Beside visible characters: a space, a tab and bytes above ASCII (RFC 9110, section 5.5). */
const invalidValue = /[^\t\x20-\x7e\x80-\xff]/;

/** The request up to its body, one character a byte. Throws for a header that HTTP cannot carry, as node's client does. */
export function requestHead({ host, pathname, search }: URL, { headers, body }: PostRequest): string {
  let lines = '';
  let [hasHost, hasLength] = [false, false];
  for (const [name, value] of headers) {
    if (!token.test(name) || invalidValue.test(value)) {
      throw Object.assign(new Error(`the header ${JSON.stringify(name)} holds what no header may hold`), {
        code: 'ERR_INVALID_CHAR',
      });
    }
    lines += `${name}: ${value}\r\n`;
    const length = name.length;
    if (length === 4 && name.toLowerCase() === 'host') hasHost = true;
    else if (length === 14 && name.toLowerCase() === 'content-length') hasLength = true;
    else if (length === 17 && name.toLowerCase() === 'transfer-encoding') hasLength = true;
  }
  const ownHost = hasHost ? '' : `Host: ${host}\r\n`;
  const ownLength = hasLength ? '' : `Content-Length: ${body.length}\r\n`;
  return `POST ${pathname}${search} HTTP/1.1\r\n${ownHost}${lines}${ownLength}\r\n`;
}
