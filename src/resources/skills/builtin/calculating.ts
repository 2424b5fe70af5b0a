import { defineSkill } from './define.ts';

export const calculating = defineSkill({
  slug: 'calculating',
  title: 'Calculating',
  description: 'Figures that hold: costs, shares, growth, estimates, and how to show them with their uncertainty.',
  category: 'research',
  agents: ['analyst', 'planner', 'educator'],
  body: `
Every figure that is the result of more than one step comes from [[calculator]], and the steps are shown.

# Before

- Write the formula in words: "monthly profit = customers x price - fixed costs". Then the value, unit, date and origin of each part. A part that nobody gave is an assumption: number them A1, A2, ... and list them.
- Check units: they must cancel to the unit of the answer. Per month or per year? Gross or net? Which currency, of which day?

# While

- Keep all digits until the end, then round once: two or three that count. 12.3 million, not 12,345,678.
- Per cent of what? Going from 4% to 5% is one percentage point and a quarter more.
- Averages hide: give the median beside the mean when a few are very large.
- Growth over years compounds: the yearly rate is (end / start) to the power of 1 / years, minus 1.
- What repeats with a chance adds up to more than it seems: 1 - (1 - p) to the power of n.

# Estimates

Split into parts that can be guessed, give low, likely and high for each, and calculate the result three times. The part whose range moves the result most is the one to find out about: say so. An estimate without a range claims to be a measurement.

# Is it plausible?

1. The size: compare with something known (per head, per day, share of the whole).
2. The extremes: what comes out with zero, with everything?
3. Backwards: does the result, put in, give the inputs again?
4. Another way to the same figure. If two ways differ by more than their ranges, something is wrong: find it before you go on.

# Show

A table with unit in its head, the total checked against its rows, the assumptions under it, and one sentence on what would change the conclusion.`,
});
