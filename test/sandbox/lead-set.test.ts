import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { countUntil, LeadSet, type SandboxLead } from '../../src/sandbox/data/lead-set.ts';
import { drawsFrom, hashText } from '../../src/sandbox/data/seeded-random.ts';

const newest = Date.UTC(2026, 0, 31);

test('the leads of a seed are those of every release', () => {
  const set = new LeadSet({ seed: hashText('1'), count: 1000, newest, status: 'mixed' });
  const digest = createHash('sha256');
  for (const { id, status, category, createdAt, text } of set.all.map(whole)) {
    digest.update(`${id} ${status} ${category} ${createdAt} ${text}\n`);
  }
  expect(digest.digest('hex')).toBe('4f6589cb3a6f64abe8a6dea2adc80c336042216e11ffed650e98b63c4a91d235');
});

const whole = (lead: SandboxLead) => ({
  ...{ seq: lead.seq, id: lead.id, status: lead.status, category: lead.category ?? '' },
  ...{ createdAt: lead.createdAt, text: lead.text() },
});

test('leads that come later stand where their time belongs, and each is found by its place and its id', () => {
  const draw = drawsFrom(7);
  const set = new LeadSet({ seed: 5, count: 300, newest, status: 'new' });
  const model = set.all.map(whole);
  for (let i = 0; i < 200; i += 1) {
    const near = model[Math.floor(draw() * model.length)];
    const createdAt = (near?.createdAt ?? 0) + Math.floor(draw() * 3) - 1;
    const body = `{"id":"x${i}"}`;
    const lead =
      draw() < 0.5
        ? set.generate(createdAt)
        : set.add({ id: `x${i}`, category: undefined, createdAt, status: 'new', text: () => body });
    model.push(whole(lead));
  }
  model.sort((one, other) => one.createdAt - other.createdAt || one.seq - other.seq);
  expect(set.all.map(whole)).toEqual(model);
  expect(new Set(model.map(({ id }) => id)).size).toBe(500);
  for (const [i, lead] of model.entries()) {
    expect(countUntil(set.all, lead)).toBe(i + 1);
    const found = set.get(lead.id);
    expect(found && whole(found)).toEqual(lead);
  }
  expect([set.get('lead_0000000'), set.get('x200')]).toEqual([undefined, undefined]);
});
