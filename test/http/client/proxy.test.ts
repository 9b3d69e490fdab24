import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../../src/errors.ts';
import { proxyFor } from '../../../src/http/client/proxy.ts';

const origin = new URL('https://api.example.com');
const via = (env: Record<string, string>, to: URL = origin): string | undefined => proxyFor(to, env)?.href;

describe('the proxy', () => {
  it('is the one for the protocol; the lower-case variable takes precedence', () => {
    expect(via({ HTTPS_PROXY: 'http://a:1' })).toBe('http://a:1/');
    expect(via({ HTTPS_PROXY: 'http://a:1', https_proxy: 'http://b:2' })).toBe('http://b:2/');
    expect(via({ HTTP_PROXY: 'http://a:1' })).toBeUndefined();
    expect(via({ HTTPS_PROXY: '' })).toBeUndefined();
    expect(via({ HTTPS_PROXY: 'proxy:3128' })).toBe('http://proxy:3128/');
    expect(via({ HTTP_PROXY: 'http://a:1' }, new URL('http://api.example.com'))).toBe('http://a:1/');
  });

  it.each([
    ['*', undefined],
    ['example.com', undefined],
    ['.example.com', undefined],
    ['*.example.com', undefined],
    ['other.org, api.example.com', undefined],
    ['API.EXAMPLE.COM', undefined],
    ['api.example.com:443', undefined],
    ['api.example.com:8443', 'http://a:1/'],
    ['ample.com', 'http://a:1/'],
    ['', 'http://a:1/'],
  ])('is not used for NO_PROXY=%s: %s', (no, expected) => {
    expect(via({ HTTPS_PROXY: 'http://a:1', NO_PROXY: no })).toBe(expected);
    expect(via({ HTTPS_PROXY: 'http://a:1', no_proxy: no })).toBe(expected);
  });

  it.each([
    ['10.1.2.3', '10.0.0.0/8', undefined],
    ['10.1.2.3', 'svc.example, 10.1.2.3', undefined],
    ['10.1.2.3', '10.1.2.3:443', undefined],
    ['10.1.2.3', '10.1.2.3:8443', 'http://a:1/'],
    ['11.1.2.3', '10.0.0.0/8', 'http://a:1/'],
    ['10.1.2.3', '10.0.0.0/33', 'http://a:1/'],
    ['10.1.2.3', '10.0.0.0/', 'http://a:1/'],
    ['10.1.2.3', '10.0.0.0/8/8', 'http://a:1/'],
    ['10.1.2.3', '0.0.0.0/0', undefined],
    ['[fd12::5]', 'fd00::/8', undefined],
    ['[fe80::5]', '10.0.0.0/8,fd00::/8', 'http://a:1/'],
    ['[fd12::5]', 'fd12:0:0::0005', undefined],
    ['[fd12::5]', '[FD12::5]', undefined],
    ['[fd12::5]:8443', '[fd12::5]:8443', undefined],
    ['[fd12::5]', '[fd12::5]:8443', 'http://a:1/'],
    ['[::ffff:10.1.2.3]', '10.0.0.0/8', undefined],
    ['ten.example', '10.0.0.0/8', 'http://a:1/'],
  ])('to https://%s is not used for addresses and networks in NO_PROXY=%s: %s', (host, no, expected) => {
    expect(via({ HTTPS_PROXY: 'http://a:1', NO_PROXY: no }, new URL(`https://${host}`))).toBe(expected);
  });

  it('is never used for a loopback address, where the key may be sent over plain HTTP', () => {
    for (const host of ['127.0.0.1:80', 'localhost', '[::1]:8443']) {
      const env = { HTTP_PROXY: 'http://a:1', HTTPS_PROXY: 'http://a:1' };
      expect(via(env, new URL(`http://${host}`))).toBeUndefined();
      expect(via(env, new URL(`https://${host}`))).toBeUndefined();
    }
  });

  it('has to be an http:// or https:// URL', () => {
    expect(() => via({ HTTPS_PROXY: 'socks5://a:1' })).toThrow(ConfigError);
  });
});
