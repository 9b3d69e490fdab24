import { describe, expect, it } from 'vitest';
import { parseCondition } from '../../src/lead/filter-condition.ts';
import { type LeadFilter, leadMatcher } from '../../src/lead/filter.ts';
import { readLead } from '../../src/lead/read-leads.ts';

function passes(json: string, filter: Partial<LeadFilter>, where: readonly string[] = []): boolean {
  const reading = readLead(Buffer.from(json));
  if (!reading.ok) throw new Error(reading.detail);
  const conditions = where.map((text) => {
    const condition = parseCondition(text);
    if (condition === undefined) throw new Error(text);
    return condition;
  });
  const { matches } = leadMatcher({
    categories: [],
    since: undefined,
    until: undefined,
    where: conditions,
    ...filter,
  });
  return matches(reading.lead);
}

const lead = (createdAt: string): string => `{"id":"a","createdAt":${JSON.stringify(createdAt)}}`;

describe('filters', () => {
  it('match any of several categories', () => {
    const categories = ['solar', 'w\u00e4rme'];
    expect(passes('{"id":1,"category":"w\\u00e4rme"}', { categories })).toBe(true);
    expect(passes('{"id":1,"category":"Solar"}', { categories })).toBe(false);
    expect(passes('{"id":1}', { categories })).toBe(false);
  });

  it('match times from since up to, but not including, until', () => {
    const since = Date.UTC(2026, 0, 1);
    const until = Date.UTC(2026, 0, 2);
    expect(passes(lead('2026-01-01T00:00:00Z'), { since, until })).toBe(true);
    expect(passes(lead('2026-01-01T23:59:59.999Z'), { since, until })).toBe(true);
    expect(passes(lead('2026-01-02T00:00:00Z'), { since, until })).toBe(false);
    expect(passes(lead('2026-01-02T00:30:00+01:00'), { since, until })).toBe(true);
    expect(passes(lead('2026-01-01T00:00:00'), { since, until })).toBe(true);
    expect(passes(lead('2026-01-01'), { since })).toBe(true);
    expect(passes(lead('2026-01-01T12:00:00,5Z'), { since, until })).toBe(true);
    expect(passes(lead('2025-12-31T12:00:00,5Z'), { since, until })).toBe(false);
  });

  it.each([
    ['"soon"'],
    ['"2026-02-30T12:00:00Z"'],
    ['"Thu, 32 Jan 2026 00:00:00 GMT"'],
    ['17672256'],
    ['null'],
  ])('match and count a lead whose time cannot be read: %s', (createdAt) => {
    const reading = readLead(Buffer.from(`{"id":1,"category":"solar","createdAt":${createdAt}}`));
    if (!reading.ok) throw new Error(reading.detail);
    const since = Date.UTC(2027, 0, 1);
    const timed = leadMatcher({ categories: ['solar'], since, until: undefined, where: [] });
    expect(timed.matches(reading.lead)).toBe(true);
    expect(timed.unreadableTimes).toBe(1);
    const other = leadMatcher({ categories: ['roofing'], since, until: undefined, where: [] });
    expect(other.matches(reading.lead)).toBe(false);
    expect(other.unreadableTimes).toBe(0);
    const timeless = leadMatcher({ categories: ['solar'], since: undefined, until: undefined, where: [] });
    expect(timeless.matches(reading.lead)).toBe(true);
    expect(timeless.unreadableTimes).toBe(0);
  });

  const record =
    '{"id":"a","n":10,"big":12345678901234567890,"ok":true,"no":null,"tags":["x","yy"],"metadata":{"source":"facebook"},"a.b":{"c":"dots"},"list":[{"k":1},{"k":2}]}';
  it.each([
    ['metadata.source=facebook', true],
    ['metadata.source=face', false],
    ['metadata.source~face', true],
    ['metadata.source!=google', true],
    ['metadata.source!=facebook', false],
    ['metadata.none=x', false],
    ['metadata.none!=x', true],
    ['n=10', true],
    ['n=10.0', true],
    ['n=1', false],
    ['big=12345678901234567890', true],
    ['big=12345678901234567891', false],
    ['ok=true', true],
    ['no=null', true],
    ['tags=yy', true],
    ['tags~y', true],
    ['tags!=x', false],
    ['tags.1=yy', true],
    ['a.b.c=dots', true],
    ['list.1.k=2', true],
    ['constructor!=x', true],
    ['metadata.source=', false],
  ])('evaluate the condition %s', (condition, expected) => {
    expect(passes(record, {}, [condition])).toBe(expected);
  });

  it('match only when every condition holds', () => {
    expect(passes(record, {}, ['n=10', 'ok=true'])).toBe(true);
    expect(passes(record, {}, ['n=10', 'ok=false'])).toBe(false);
  });

  it.each(['', 'name', '=x', '!=x', ' '])('reject text that is not a condition: "%s"', (text) => {
    expect(parseCondition(text)).toBeUndefined();
  });
});

describe('order in --where', () => {
  const record =
    '{"id":1,"score":9.5,"big":9007199254740993,"price":"12.50","seen":"2026-01-31T10:00:00+01:00","tags":[1,20],"name":"x"}';

  it.each([
    ['score>9', true],
    ['score>9.5', false],
    ['score>=9.5', true],
    ['score<10', true],
    ['score<=9.4', false],
    ['score<1e1', true],
    ['big>9007199254740992', true],
    ['big<=9007199254740992', false],
    ['price>9', true],
    ['price<100', true],
    ['seen>2026-01-31', true],
    ['seen<2026-01-31T09:00:01Z', true],
    ['seen<2026-01-31T09:00:00Z', false],
    ['seen>=7d', true],
    ['seen>1h', false],
    ['tags>10', true],
    ['tags>20', false],
    ['name>1', false],
    ['name<1', false],
    ['none<1', false],
  ])('%s is %s', (text, expected) => {
    const now = Date.UTC(2026, 1, 1);
    expect(passes(record, { now }, [text])).toBe(expected);
  });

  it('holds for integers that are too long for a double', () => {
    const many = '9'.repeat(310);
    const long = `{"id":1,"n":1${many}}`;
    expect(passes(long, {}, [`n>${many}`])).toBe(true);
    expect(passes(long, {}, [`n<${many}`])).toBe(false);
    expect(passes(long, {}, [`n>=1${many}`])).toBe(true);
    expect(passes(long, {}, [`n<=-${many}`])).toBe(false);
  });

  it.each([
    ['score >= 10', 'score', '>=', '10'],
    [' contact.name  = Zoë Z ', 'contact.name', '=', 'Zoë Z '],
    ['a!= b', 'a', '!=', 'b'],
    ['category==solar', 'category', '=', 'solar'],
  ])('spaces around the operator of %j are no part of it, nor a second =', (text, path, operator, value) => {
    expect(parseCondition(text)).toEqual({ path: path.split('.'), operator, value });
  });

  it('refuses to compare with what is neither number nor time', () => {
    expect(() => parseCondition('score>high')).toThrow(
      expect.objectContaining({
        code: 'usage',
        hint: 'such as 10, 2026-01-31, yesterday or 7d',
      }),
    );
  });

  it('knows afterwards what no lead has', () => {
    const reading = readLead(Buffer.from(record));
    if (!reading.ok) throw new Error(reading.detail);
    const where = ['score>1', 'source=x'].flatMap((text) => parseCondition(text) ?? []);
    const each = where.map((condition) =>
      leadMatcher({ categories: [], since: undefined, until: undefined, where: [condition] }),
    );
    for (const matcher of each) matcher.matches(reading.lead);
    expect(each.map(({ fields }) => fields.missing)).toEqual([[], ['source']]);
    expect(each[1]?.fields.names).toContain('score');
  });
});
