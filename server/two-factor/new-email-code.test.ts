import { expect, it } from 'vitest';
import { newEmailCode } from './send-code.ts';

it('EM-06 a million codes are evenly distributed, including those with leading zeros', () => {
  const total = 1_000_000;
  const front = new Float64Array(1000);
  const back = new Float64Array(1000);
  const shape = /^\d{6}$/;
  for (let n = 0; n < total; n += 1) {
    const code = newEmailCode();
    if (!shape.test(code)) throw new Error(code);
    (front[Number(code.slice(0, 3))] as number) += 1;
    (back[Number(code.slice(3))] as number) += 1;
  }
  for (const counts of [front, back]) {
    // Pearson's chi-squared with 999 degrees of freedom: above 1300 once in a billion runs.
    const expected = total / counts.length;
    const chiSquared = counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
    expect(chiSquared).toBeGreaterThan(700);
    expect(chiSquared).toBeLessThan(1300);
  }
  const leadingZero = front.subarray(0, 100).reduce((sum, count) => sum + count, 0);
  expect(leadingZero / total).toBeCloseTo(0.1, 2);
});
