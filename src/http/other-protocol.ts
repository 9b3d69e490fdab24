/** Whether a TLS handshake failed because plain HTTP came back. OpenSSL has no better words for it. */
export const isPlainHttpAnswer = (message: string): boolean => /wrong version number/i.test(message);

/** Whether a connection without TLS ended as one does where TLS is expected: closed, without a word. */
export const isClosedOnPlainHttp = (code: string): boolean => code === 'ECONNRESET' || code === 'UND_ERR_SOCKET';
