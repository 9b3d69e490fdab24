import { describe, expect, it } from 'vitest';
import { faultsInConfig } from '../../../src/config/check-config.ts';
import { settingKeys } from '../../../src/config/setting-keys.ts';
import type { Json } from '../../../src/json/exact.ts';

const wrongIn = (config: Json): readonly string[] | undefined => faultsInConfig(config).wrong[0];

const inProfile = (profile: Json): Json => ({ profile: 'a', profiles: { a: profile } });

describe('a configuration', () => {
  it('may hold every setting in the form in which it is stored', () => {
    const api = {
      path: '/v2',
      params: { limit: 'n', status: null },
      pagination: 'link',
      items: '/data',
      next: 'auto',
      'status-field': 'state',
      'page-size': 50,
      'date-format': 'unix',
    };
    const webhook = { scheme: '{"signatureHeader":"x-sign"}', token: 't', secret: 's' };
    const profile = {
      'base-url': 'https://x/',
      'api-key': 'k',
      'api-key-origin': 'https://x',
      timeout: '30s',
      retries: 0,
    };
    expect(wrongIn(inProfile({ ...profile, webhook, api }))).toBeUndefined();
    expect(wrongIn({})).toBeUndefined();
    expect(wrongIn({ profiles: {} })).toBeUndefined();
  });

  it.each([
    [[], ''],
    [{ profile: 1 }, 'profile'],
    [{ version: '2' }, 'version'],
    [{ profiles: [] }, 'profiles'],
    [inProfile('x'), 'profiles.a'],
    [inProfile({ 'api-key-origin': 1 }), 'profiles.a.api-key-origin'],
    [inProfile({ 'headers-origin': 1 }), 'profiles.a.headers-origin'],
    [inProfile({ timeout: 'soon' }), 'profiles.a.timeout'],
    [inProfile({ retries: '5' }), 'profiles.a.retries'],
    [inProfile({ retries: -1 }), 'profiles.a.retries'],
    [inProfile({ api: { 'page-size': '5' } }), 'profiles.a.api.page-size'],
    [inProfile({ webhook: 'token' }), 'profiles.a.webhook'],
    [inProfile({ api: { pagination: 'pages' } }), 'profiles.a.api.pagination'],
    [inProfile({ api: { params: { limit: '' } } }), 'profiles.a.api.params.limit'],
    [inProfile({ api: { path: 'v2' } }), 'profiles.a.api.path'],
    [inProfile({ api: { 'page-size': 0 } }), 'profiles.a.api.page-size'],
    [inProfile({ api: { items: { a: 1 } } }), 'profiles.a.api.items'],
  ] as const)('is refused at the place that is wrong: %j', (config, place) => {
    expect(wrongIn(config)?.join('.')).toBe(place);
  });

  it('says where it holds what this release does not know', () => {
    const headers = { baseUrl: '2' };
    const profile = { baseUrl: 'https://x', webhook: { salt: 'x' }, api: { headers } };
    expect(faultsInConfig({ later: 1, profiles: { a: profile } })).toEqual({
      wrong: [],
      unknown: [['later'], ['profiles', 'a', 'baseUrl'], ['profiles', 'a', 'webhook', 'salt']],
    });
  });

  it('is checked for every setting that there is', () => {
    for (const { name } of settingKeys) {
      const path = name.split('.');
      const profile = path.reduceRight<Json>((inner, step) => ({ [step]: inner }), { not: ['a value'] });
      expect(wrongIn(inProfile(profile))).toEqual(['profiles', 'a', ...path]);
    }
  });
});
