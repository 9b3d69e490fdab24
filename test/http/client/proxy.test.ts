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
    ['api.example.com', '*', false],
    ['api.example.com', 'example.com', false],
    ['api.example.com', '.example.com', false],
    ['api.example.com', '*.example.com', false],
    ['api.example.com', 'other.org, api.example.com', false],
    ['api.example.com', 'API.EXAMPLE.COM', false],
    ['api.example.com', 'api.example.com:443', false],
    ['api.example.com', 'api.example.com:8443', true],
    ['api.example.com', 'ample.com', true],
    ['api.example.com', '', true],
    ['10.1.2.3', '10.0.0.0/8', false],
    ['10.1.2.3', 'svc.example, 10.1.2.3', false],
    ['10.1.2.3', '10.1.2.3:443', false],
    ['10.1.2.3', '10.1.2.3:8443', true],
    ['11.1.2.3', '10.0.0.0/8', true],
    ['10.1.2.3', '10.0.0.0/33', true],
    ['10.1.2.3', '10.0.0.0/', true],
    ['10.1.2.3', '10.0.0.0/8/8', true],
    ['10.1.2.3', '0.0.0.0/0', false],
    ['[fd12::5]', 'fd00::/8', false],
    ['[fe80::5]', '10.0.0.0/8,fd00::/8', true],
    ['[fd12::5]', 'fd12:0:0::0005', false],
    ['[fd12::5]', '[FD12::5]', false],
    ['[fd12::5]:8443', '[fd12::5]:8443', false],
    ['[fd12::5]', '[fd12::5]:8443', true],
    ['[::ffff:10.1.2.3]', '10.0.0.0/8', false],
    ['ten.example', '10.0.0.0/8', true],
  ])('is used for https://%s with NO_PROXY=%s: %s', (host, no, isUsed) => {
    for (const name of ['NO_PROXY', 'no_proxy']) {
      const proxy = via({ HTTPS_PROXY: 'http://a:1', [name]: no }, new URL(`https://${host}`));
      expect(proxy).toBe(isUsed ? 'http://a:1/' : undefined);
    }
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
