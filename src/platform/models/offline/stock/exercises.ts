/**
 * Exercises that suit any subject, with their answers. They stand in the order of a worksheet: one of each kind, then
 * one of each kind again.
 */

export interface Exercise {
  kind: 'short_answer' | 'multiple_choice' | 'true_false' | 'open';
  question: string;
  options: readonly string[];
  answer: string;
  explanation: string;
}

const exercise = (
  kind: Exercise['kind'],
  question: string,
  answer: string,
  explanation: string,
  options: readonly string[] = [],
): Exercise => ({ kind, question, options, answer, explanation });

export const EXERCISES: readonly Exercise[] = [
  exercise(
    'short_answer',
    'Write one word that comes to mind when you read {topic}.',
    'Any word that the pupil can give a reason for.',
    'Ask for the reason; it counts more than the word.',
  ),
  exercise(
    'multiple_choice',
    'Which of these helps you most to find out more?',
    'Read two texts and compare them',
    'Comparing shows where the texts agree. Many choose the first text they find.',
    ['Believe the first thing you hear', 'Read two texts and compare them', 'Look at the title alone'],
  ),
  exercise(
    'true_false',
    'True or false: one example is enough to know everything about a subject.',
    'False',
    'An example shows one case. Pupils often take it for a rule.',
  ),
  exercise(
    'open',
    'What would you like to know about {topic}? Ask three questions and choose the best one.',
    'Three questions, one of them marked.',
    'One point for each question that the title does not answer already.',
  ),
  exercise(
    'short_answer',
    'Name one person whom you could ask, and say why.',
    'Any person, with a reason.',
    'The reason should have to do with what the person knows or has seen.',
  ),
  exercise(
    'multiple_choice',
    'What makes an example a good one?',
    'Somebody else can picture it',
    'Length and difficult words do not make an example clearer.',
    ['It is as long as possible', 'It uses difficult words', 'Somebody else can picture it'],
  ),
  exercise(
    'true_false',
    'True or false: a question may have more than one good answer.',
    'True',
    'Let pupils give an example of such a question.',
  ),
  exercise(
    'open',
    'Explain {topic} to a friend in three sentences. Use an example.',
    'Three sentences with one example.',
    'One point for each sentence, one for an example that fits.',
  ),
  exercise(
    'short_answer',
    'Find a word that means nearly the same as one word of the title.',
    'Any word with a similar meaning.',
    'Let the class decide whether the two words can replace each other.',
  ),
  exercise(
    'multiple_choice',
    'You read a number in a text. What do you ask first?',
    'Where does it come from?',
    'The source decides what a number is worth.',
    ['Is it a large number?', 'Is it printed in bold?', 'Where does it come from?'],
  ),
  exercise(
    'true_false',
    'True or false: what is printed in a book is always correct.',
    'False',
    'Books are written by people. Ask how one could check it.',
  ),
  exercise(
    'open',
    'Draw what the title makes you think of, and write one sentence below it.',
    'A drawing with one sentence.',
    'The sentence should say what the drawing does not show.',
  ),
];

export const PASSAGE: readonly string[] = [
  'On Monday there is something new on the board: {topic}. Nobody says a word. Some think that they know what it means, some have never heard of it, and one girl copies it into her notebook.',
  'In the break they talk about it. “I know somebody who has to do with it,” says Ben. “Then ask,” says Mia, “and tell us tomorrow.” So Ben goes home with three questions in his bag.',
  'The next day there are more questions than before. That, says the teacher, is a good beginning.',
];
