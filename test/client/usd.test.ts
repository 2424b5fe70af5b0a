import { expect, test } from '@jest/globals';
import { sumUsd } from '../../client/src/index.ts';

// Guards: costs are added exactly, to the last digit, and shown without needless zeros.
test.each([
  [[], '0'],
  [[null, '0', '0.000000'], '0'],
  [['0.1', '0.2'], '0.3'],
  [['0.000000000001', '9007199254740993'], '9007199254740993.000000000001'],
  [['1.50', '2.50'], '4'],
  [['10', '0.10'], '10.1'],
])('%j is %s', (amounts, sum) => {
  expect(sumUsd(amounts)).toBe(sum);
});
