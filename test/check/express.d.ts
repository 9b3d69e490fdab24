/** As much of express as the tests use. */
declare module 'express' {
  import type { IncomingMessage, ServerResponse } from 'node:http';
  interface Request extends IncomingMessage {
    readonly body: unknown;
    get(name: string): string | undefined;
  }
  interface Response extends ServerResponse {
    status(code: number): this;
    json(value: unknown): this;
    send(value: unknown): this;
    sendStatus(code: number): this;
  }
  type Handler = (request: Request, response: Response, next: () => void) => unknown;
  interface Express {
    (request: IncomingMessage, response: ServerResponse): void;
    use(...handlers: Handler[]): this;
    post(path: string, ...handlers: Handler[]): this;
  }
  interface Factory {
    (): Express;
    json(options?: object): Handler;
    raw(options: object): Handler;
  }
  const express: Factory;
  export default express;
}
