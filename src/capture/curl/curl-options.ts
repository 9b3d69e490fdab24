/** The long options of curl 8 that take a value, apart from those that `curl-request.ts` reads. */
const skipped =
  'abstract-unix-socket alt-svc aws-sigv4 cacert capath cert cert-type ciphers config connect-timeout connect-to ' +
  'continue-at cookie-jar create-file-mode crlfile curves delegation dns-interface dns-ipv4-addr dns-ipv6-addr ' +
  'dns-servers doh-url dump-header ech egd-file engine etag-compare etag-save expect100-timeout ftp-account ' +
  'ftp-alternative-to-user ftp-method ftp-port ftp-ssl-ccc-mode happy-eyeballs-timeout-ms haproxy-clientip help ' +
  'hostpubmd5 hostpubsha256 hsts interface ip-tos ipfs-gateway keepalive-cnt keepalive-time key key-type krb libcurl ' +
  'limit-rate local-port login-options mail-auth mail-from mail-rcpt max-filesize max-redirs max-time netrc-file ' +
  'noproxy output output-dir parallel-max parallel-max-host pass pinnedpubkey proto proto-default proto-redir proxy ' +
  'proxy-cacert proxy-capath proxy-cert proxy-cert-type proxy-ciphers proxy-crlfile proxy-header proxy-key ' +
  'proxy-key-type proxy-pass proxy-pinnedpubkey proxy-service-name proxy-tls13-ciphers proxy-tlsauthtype ' +
  'proxy-tlspassword proxy-tlsuser proxy-user proxy1.0 preproxy pubkey quote random-file range rate resolve retry ' +
  'retry-delay retry-max-time sasl-authzid service-name sigalgs socks4 socks4a socks5 socks5-gssapi-service ' +
  'socks5-hostname speed-limit speed-time stderr telnet-option tftp-blksize time-cond tls-max tls13-ciphers ' +
  'tlsauthtype tlspassword tlsuser trace trace-ascii trace-config unix-socket variable vlan-priority write-out';

const read =
  'cookie data data-ascii data-binary data-raw data-urlencode form form-string header json oauth2-bearer referer ' +
  'request request-target upload-file url url-query user user-agent';

export const valuedOptions: ReadonlySet<string> = new Set(`${skipped} ${read}`.split(' '));

/** Short options that take a value, by their long names; the empty name for those that say nothing about the request. */
export const valuedLetters: ReadonlyMap<string, string> = new Map([
  ['A', 'user-agent'],
  ['b', 'cookie'],
  ['d', 'data'],
  ['e', 'referer'],
  ['F', 'form'],
  ['H', 'header'],
  ['T', 'upload-file'],
  ['u', 'user'],
  ['X', 'request'],
  ...'C D E h K P Q U Y c m o r t w x y z'.split(' ').map((letter) => [letter, ''] as const),
]);

/** Short options without a value that change the request. */
export const switchLetters: ReadonlyMap<string, string> = new Map([
  ['G', 'get'],
  ['I', 'head'],
]);
