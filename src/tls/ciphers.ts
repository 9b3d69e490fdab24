/**
 * Authenticated encryption with forward secrecy only, for TLS 1.3 and 1.2: the suites with CBC of TLS 1.2 are open to
 * padding oracles (RFC 9325, section 4.2). In OpenSSL's names, the preferred first.
 */
export const aeadCiphers = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':');
