import { describe, expect, it } from 'vitest';
import { misplacedInConfig } from '../../../src/config/check-config.ts';
import { settingKeys } from '../../../src/config/setting-keys.ts';
import type { Json } from '../../../src/json/exact.ts';

const inProfile = (profile: Json): Json => ({ profile: 'a', profiles: { a: profile } });

describe('a configuration', () => {
  it('may hold every setting in the form in which it is stored', () => {
    const api = {
      path: '/v2',
      params: { limit: 'n', status: null },
      pagination: 'link',
      items: '/data',
      next: 'auto',
      statusField: 'state',
      pageSize: 50,
      dateFormat: 'unix',
    };
    const custom = { signatureHeader: 'x-sign', prefix: '', signedContent: '{body}' };
    const webhook = { scheme: 'custom', token: 't', secret: 's', tolerance: '5m', custom };
    const profile = {
      baseUrl: 'https://x/',
      apiKey: 'k',
      apiKeyOrigin: 'https://x',
      timeout: '30s',
      retries: 0,
    };
    expect(misplacedInConfig(inProfile({ ...profile, webhook, api }))).toBeUndefined();
    expect(misplacedInConfig({})).toBeUndefined();
    expect(misplacedInConfig({ profiles: {} })).toBeUndefined();
  });

  it.each([
    [[], ''],
    [{ profile: 1 }, 'profile'],
    [{ profils: {} }, 'profils'],
    [{ profiles: [] }, 'profiles'],
    [inProfile('x'), 'profiles.a'],
    [inProfile({ bseUrl: 'https://x' }), 'profiles.a.bseUrl'],
    [inProfile({ apiKeyOrigin: 1 }), 'profiles.a.apiKeyOrigin'],
    [inProfile({ headersOrigin: 1 }), 'profiles.a.headersOrigin'],
    [inProfile({ timeout: 'soon' }), 'profiles.a.timeout'],
    [inProfile({ retries: '5' }), 'profiles.a.retries'],
    [inProfile({ retries: -1 }), 'profiles.a.retries'],
    [inProfile({ webhook: { custom: { salt: 'x' } } }), 'profiles.a.webhook.custom.salt'],
    [inProfile({ webhook: 'token' }), 'profiles.a.webhook'],
    [inProfile({ api: { pagination: 'pages' } }), 'profiles.a.api.pagination'],
    [inProfile({ api: { params: { limit: '' } } }), 'profiles.a.api.params.limit'],
    [inProfile({ api: { path: 'v2' } }), 'profiles.a.api.path'],
    [inProfile({ api: { pageSize: 0 } }), 'profiles.a.api.pageSize'],
    [inProfile({ api: { items: { a: 1 } } }), 'profiles.a.api.items'],
  ] as const)('is refused at the place that is wrong: %j', (config, place) => {
    expect(misplacedInConfig(config)?.join('.')).toBe(place);
  });

  it('is checked for every setting that there is', () => {
    for (const { path } of settingKeys) {
      const profile = path.reduceRight<Json>((inner, step) => ({ [step]: inner }), { not: ['a value'] });
      expect(misplacedInConfig(inProfile(profile))).toEqual(['profiles', 'a', ...path]);
    }
  });
});
