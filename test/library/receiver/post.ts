import { request } from 'undici';

/** What came back. */
export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Posts a body as JSON. */
export async function post(
  url: string,
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const answer = await request(url, {
    method: 'POST',
    body: Buffer.from(body),
    headers: { 'content-type': 'application/json', ...headers },
  });
  return { status: answer.statusCode, body: (await answer.body.json()) as Answer['body'] };
}
