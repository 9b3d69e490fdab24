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
