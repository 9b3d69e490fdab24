/** What went wrong with a connection that node has no code for. */
export type SocketFaultKind = 'connect time-out' | 'no TLS' | 'closed' | 'answer time-out';

export class SocketFault extends Error {
  readonly kind: SocketFaultKind;

  constructor(kind: SocketFaultKind, message: string) {
    super(message);
    this.name = 'SocketFault';
    this.kind = kind;
  }
}
