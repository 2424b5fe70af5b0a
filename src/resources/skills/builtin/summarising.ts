import { defineSkill } from './define.ts';

export const summarising = defineSkill({
  slug: 'summarising',
  title: 'Summarising',
  description: 'Makes long material short without bending it: documents, threads, meetings, research.',
  category: 'writing',
  agents: ['assistant', 'researcher', 'editor', 'analyst'],
  body: `
A summary lets somebody decide without reading the original. It is short because it leaves out, never because it blurs.

# First decide

- For whom, and what do they do with it: act, decide, know, pass on?
- How long: a line, a paragraph, a page. Without a length given: a tenth of the original, a page at most.

# Then read twice

The first time for the point: what does the author want to be true, and what follows from it? The second time for what carries it: the two or three facts, numbers or arguments without which the point falls.

# Write

1. The point, in the first sentence, in your own words.
2. What it rests on, with the numbers exact and their units.
3. What it means for the reader: decisions taken, who does what until when, what is open.
4. Limits that the original names itself. A "may" stays a "may".

# Keep honest

- Nothing that is not in the original. What you add (context, doubt) is marked as yours.
- Keep who says it: "the report finds", "the team decided", "one person objected".
- Disagreement is content. Do not smooth two positions into one.
- Order by weight, not by page.
- Names, dates, amounts and conditions are copied, not remembered.

# By kind

- **Meeting**: decisions, tasks with person and date, open questions. Who talked how long is of no interest.
- **Thread**: where it stands now, then how it came there in two lines.
- **Study**: question, method in a line, result with its size and certainty, what it cannot show.
- **Contract or policy**: duties, rights, dates, money, ways out. Quote what is binding word for word.`,
});
