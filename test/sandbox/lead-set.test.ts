import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { LeadSet } from '../../src/sandbox/data/lead-set.ts';
import { drawsFrom, hashText, scatter, unscatter } from '../../src/sandbox/data/seeded-random.ts';

const newest = Date.UTC(2026, 0, 31);

test('the leads of a seed are those of every release', () => {
  const set = new LeadSet(hashText('1'));
  set.restart(1000, newest, 'mixed');
  const digest = createHash('sha256');
  for (const { id, status, category, createdAt, text } of set.slice(0, 1000).map(whole)) {
    digest.update(`${id} ${status} ${category} ${createdAt} ${text}\n`);
  }
  expect(digest.digest('hex')).toBe('4f6589cb3a6f64abe8a6dea2adc80c336042216e11ffed650e98b63c4a91d235');
});

const whole = (lead: NonNullable<ReturnType<LeadSet['at']>>) => ({
  ...{ seq: lead.seq, id: lead.id, status: lead.status, category: lead.category ?? '' },
  ...{ createdAt: lead.createdAt, text: Buffer.from(lead.text()).toString() },
});

test('leads that come later stand where their time belongs, and each is found by its place and its id', () => {
  const draw = drawsFrom(7);
  const set = new LeadSet(5);
  set.restart(300, newest, 'new');
  const model = Array.from(set, whole);
  for (let i = 0; i < 200; i += 1) {
    const near = model[Math.floor(draw() * model.length)];
    const createdAt = (near?.createdAt ?? 0) + Math.floor(draw() * 3) - 1;
    const body = Buffer.from(`{"id":"x${i}"}`);
    const lead =
      draw() < 0.5
        ? set.generate(createdAt)
        : set.add({ id: `x${i}`, category: undefined, createdAt, status: 'new', text: () => body });
    model.push(whole(lead));
  }
  model.sort((one, other) => one.createdAt - other.createdAt || one.seq - other.seq);
  expect(Array.from(set, whole)).toEqual(model);
  expect(set.size).toBe(500);
  expect(new Set(model.map(({ id }) => id)).size).toBe(500);
  for (const [i, lead] of model.entries()) {
    expect(set.positionAfter(lead.createdAt, lead.seq)).toBe(i + 1);
    const found = set.get(lead.id);
    expect(found && whole(found)).toEqual(lead);
  }
  expect([set.at(-1), set.at(500), set.get('lead_0000000'), set.get('x200')]).toEqual(
    Array.from({ length: 4 }, () => undefined),
  );
});

test('a million leads are there at once, and a status that is set stays', () => {
  const set = new LeadSet(1);
  const before = process.memoryUsage();
  set.restart(1_000_000, newest, 'new');
  for (let i = 0; i < 1_000_000; i += 100_000) {
    const lead = set.at(i);
    if (lead !== undefined) lead.status = 'failed';
    expect(set.get(lead?.id ?? '')?.status).toBe('failed');
  }
  const after = process.memoryUsage();
  expect(after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers).toBeLessThan(50e6);
  expect(set.at(1)?.status).toBe('new');
});

test('what was scattered is found again', () => {
  const numbers = [
    0,
    1,
    2,
    0x7fffffff,
    0x80000000,
    0xffffffff,
    ...Array.from({ length: 100 }, (_, i) => i * 42_949_672),
  ];
  expect(numbers.map(scatter).map(unscatter)).toEqual(numbers);
});
