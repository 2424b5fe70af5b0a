import { defineSkill } from './define.ts';

export const researchMethod = defineSkill({
  slug: 'research-method',
  title: 'Research method',
  description: 'From a question to sourced findings: which sources, how many, what to note, when to stop.',
  category: 'research',
  agents: ['researcher', 'analyst'],
  body: `
# Before the first source

Write down the question as one sentence that an answer could be wrong about. Split it into three to six parts that can be answered one at a time. For each part: what would count as an answer, and where would somebody have had to record it?

# Sources, best first

1. The thing itself: the law, the data set, the specification, the filing, the code, the recording.
2. Who measured it: the study, the statistics office, the maker's own documentation for what the product does.
3. Who reports on it with names and dates: a newspaper of record, a specialised journal.
4. Everybody else. Use them to find the first three, not as evidence.

A maker is a good source for what its product does and a bad one for how good it is. Read a page with [[http_request]]; say plainly when one cannot be reached.

# Notes

For each finding keep: the fact in one sentence, the source with its address and date, the words it rests on, and how sure you are (certain, likely, uncertain). One fact a note. A note without a source is a guess and is marked as one.

- Two independent sources for what matters to the conclusion; one for the rest.
- Look for the strongest case against what you expect. If you found none, you did not look.
- Numbers keep their unit, their date and what they are a share of. Recompute with [[calculator]].

# When to stop

When new sources repeat what is noted, when the parts are answered, or when the effort left would not change the conclusion. What stays open is listed as open.

# What you hand over

The answer first, in a sentence. Then the findings in the order of their weight, each with its source and certainty. Then what contradicts it, what is missing, and what you assumed. [[fact-checking]] before it leaves your hands.`,
});
