import { defineSkill } from './define.ts';

export const exerciseDesign = defineSkill({
  slug: 'exercise-design',
  title: 'Exercise design',
  description: 'Exercises that teach what they are meant to: goals, steps of difficulty, instructions, answer keys.',
  category: 'teaching',
  agents: ['educator', 'tester'],
  body: `
# Goal first

"Afterwards the learner can ..." with a verb that one sees: name, sort, calculate, explain, compare, correct. One goal an exercise. "Understands" is no goal, since nobody sees it.

# Steps

1. **Recognise**: pick, match, sort. Nobody fails the first one.
2. **Use as shown**: the same kind as a worked example that stands above it.
3. **Use elsewhere**: other numbers, other words, another setting.
4. **Explain or make**: say why, find the mistake, invent one for a neighbour.

Raise one difficulty at a time: larger numbers or a new operation, not both. Mix in one from earlier work: remembering is learning.

# Instructions

- Begin with the verb: "Circle", "Write", "Work out". One action a sentence, at most twelve words for young learners.
- Everything needed stands on the sheet. Show the first item solved where the form is new.
- Say how many, how long and in what form the answer is given: "to one decimal", "in two sentences".
- Room for the answer is three times as large as the answer printed.

# Items

- One right answer, or the key says what counts. Read each as a learner who wants to misunderstand it.
- Wrong choices are mistakes that people make: each should tell the teacher what went wrong. "All of the above" tells nothing.
- No trick in the wording, no picture that gives the answer away, no pattern in the order of answers.
- Names and settings from many lives, none as a joke.
- Numbers that occur: a bus does not carry 412 children.

# Key

Solve every item yourself, from the sheet and not from memory; calculate with [[calculator]]. The key gives the answer, the way to it where there is one, and the usual mistake with what it shows. Count the items of sheet and key: they must be equal.

# Time

A learner takes three to four times as long as you. Ten minutes of work are six to ten short items or two long ones.`,
});
