import { defineSkill } from './define.ts';

export const planning = defineSkill({
  slug: 'planning',
  title: 'Planning',
  description:
    'Breaks a goal into tasks that others can carry out: order, effort, risks, how one sees that each is done.',
  category: 'planning',
  agents: ['planner', 'assistant', 'interviewer'],
  body: `
# Goal

One sentence: what is true at the end that is not true now, for whom, by when. Then what is explicitly not part of it. If the request leaves this open, choose the smallest goal that helps and say that you chose it.

# Tasks

- A task has a result that can be shown, one person who answers for it, and fits into one to three days. Larger: split it. Smaller than an hour: merge it.
- It is named by its result: "signed quotes of three printers", not "contact printers".
- It says how one sees that it is done. "Works" is no criterion; "a new customer pays with a card on a phone" is one.
- It lists what it needs from others first. Tasks without such a need can begin now: say so.

# Order

1. What could make all the rest pointless comes first: the assumption nobody has checked, the permission nobody has, the piece of technology nobody has tried.
2. Then the thinnest path from end to end, however ugly.
3. Then width: what most users need before what some want.
4. Find the longest chain of dependencies and add up its effort with [[calculator]]: that is the earliest end. Put slack there and nowhere else.

# Effort

Give a range, low and high, and what would make it high. Without a comparison from the past the range is wide: say so rather than give a false figure. Dates come from [[current_time]] and working days, not from wishes.

# Risks

At most five, each with: what happens, how one notices early, what one does then, who. A risk without an early sign is a worry.

# What you hand over

Goal and limits; the tasks as a table with number, result, depends on, effort, done when; the longest chain; risks; the first three things to do tomorrow; what somebody still has to decide, with your recommendation.`,
});
