import { describe, expect, it } from 'vitest';
import { Counter, gauge, Histogram, openMetricsText } from '../../../src/output/openmetrics.ts';
import { parseOpenMetrics, valueOf } from '../../support/open-metrics.ts';

describe('the text of metrics', () => {
  it('is that of the specification, label values and help escaped', () => {
    const requests = new Counter('app_requests', 'All\\some "requests"\nof it.');
    requests.add({ target: 'output C:\\a "b"\n' });
    requests.add({ target: '' });
    for (const _ of [1, 2]) requests.increment({ target: 'output C:\\a "b"\n' });
    const size = gauge('app_size_bytes', 'Size.', 1e21);
    const text = openMetricsText([requests.family(), size]);
    expect(text.split('\n')).toEqual([
      '# TYPE app_requests counter',
      '# HELP app_requests All\\\\some \\"requests\\"\\nof it.',
      'app_requests_total{target="output C:\\\\a \\"b\\"\\n"} 2',
      'app_requests_total{target=""} 0',
      '# TYPE app_size_bytes gauge',
      '# UNIT app_size_bytes bytes',
      '# HELP app_size_bytes Size.',
      'app_size_bytes 1e+21',
      '# EOF',
      '',
    ]);
    expect(valueOf(parseOpenMetrics(text), 'app_requests_total', { target: 'output C:\\a "b"\n' })).toBe(2);
  });

  it('counts each value of a histogram in every bucket that it does not exceed', () => {
    const histogram = new Histogram([0.5, 1, 10]);
    for (const value of [0, 0.5, 0.75, 1, 10, 10.5]) histogram.observe(value);
    const text = openMetricsText([histogram.family('a_seconds', 'a')]);
    expect(text).toContain(
      'a_seconds_bucket{le="0.5"} 2\na_seconds_bucket{le="1.0"} 4\na_seconds_bucket{le="10.0"} 5\n' +
        'a_seconds_bucket{le="+Inf"} 6\na_seconds_count 6\na_seconds_sum 22.75\n',
    );
    expect(parseOpenMetrics(text)).toHaveLength(1);
  });
});

describe('the parser of the tests', () => {
  const counter = '# TYPE a counter\n# HELP a a\n';
  it.each([
    ['no end', `${counter}a_total 1\n`],
    ['text behind the end', `${counter}a_total 1\n# EOF\n# EOF\n`],
    ['an empty line', `${counter}\na_total 1\n# EOF\n`],
    ['a counter without its suffix', `${counter}a 1\n# EOF\n`],
    ['a negative counter', `${counter}a_total -1\n# EOF\n`],
    ['a series twice', `${counter}a_total{b="1"} 1\na_total{b="1"} 1\n# EOF\n`],
    ['a label twice', `${counter}a_total{b="1",b="2"} 1\n# EOF\n`],
    ['an unknown escape', `${counter}a_total{b="\\x"} 1\n# EOF\n`],
    ['metadata behind samples', `${counter}a_total 1\n# UNIT a a\n# EOF\n`],
    [
      'a metric in two places',
      `${counter}a_total 1\n# TYPE b gauge\n# HELP b b\nb 1\n${counter}a_total{c="d"} 1\n# EOF\n`,
    ],
    ['a unit that does not end the name', '# TYPE a gauge\n# UNIT a seconds\n# HELP a a\na 1\n# EOF\n'],
    ['no +Inf', '# TYPE a histogram\n# HELP a a\na_bucket{le="1.0"} 1\na_count 1\na_sum 1\n# EOF\n'],
    [
      'buckets that shrink',
      '# TYPE a histogram\n# HELP a a\na_bucket{le="1.0"} 2\na_bucket{le="+Inf"} 1\na_count 1\na_sum 1\n# EOF\n',
    ],
    [
      'a bound that is not canonical',
      '# TYPE a histogram\n# HELP a a\na_bucket{le="1"} 1\na_bucket{le="+Inf"} 1\na_count 1\na_sum 1\n# EOF\n',
    ],
  ])('finds %s', (_, text) => {
    expect(() => parseOpenMetrics(text)).toThrow();
  });
});
