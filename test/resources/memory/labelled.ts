/**
 * Memories as workspaces keep them, with the prompts that each should be recalled for. Every other prompt is one that it
 * should not be told with. The threshold of recall is set by this set; who adds to it keeps the two counts of the test in
 * view.
 */
export const LABELLED: readonly { memory: string; prompts: readonly string[] }[] = [
  {
    memory: 'We never ship on Fridays; [[release-plan]] says why.',
    prompts: ['when do we release', 'Can we ship the new version this Friday?', 'Which day should the release go out?'],
  },
  {
    memory: 'The refund window is 30 days from delivery.',
    prompts: [
      'What is the refund window?',
      'How long do customers have to return a product?',
      'A customer wants a refund after six weeks. Write the reply.',
    ],
  },
  {
    memory: 'Alice leads the design team; Bob leads support.',
    prompts: ['Who leads the design team?', 'Who should I ask about design?'],
  },
  {
    memory: 'Our brand voice is plain and warm: short sentences, no exclamation marks, no jargon.',
    prompts: ['Write the newsletter in our brand voice.', 'How should our texts sound?', 'Which tone do we write in?'],
  },
  {
    memory: 'The staging database is rebuilt from production every night at 02:00 UTC.',
    prompts: ['When is the staging database rebuilt?', 'Why is yesterday’s test data gone from staging?'],
  },
  {
    memory: 'Invoices are sent on the first working day of the month and are due after 14 days.',
    prompts: ['When are invoices due?', 'Remind the client that the invoice is late.'],
  },
  {
    memory: 'Kite is our flagship product: a two-line stunt kite that costs 89 euros.',
    prompts: ['What does the Kite cost?', 'Write a product description of our kite.'],
  },
  {
    memory: 'The office in Rotterdam is closed between Christmas and New Year.',
    prompts: ['Is the office open at Christmas?', 'When is the Rotterdam office closed?'],
  },
  {
    memory: 'API errors are answered as JSON with a field detail, never as HTML.',
    prompts: ['What do our API errors look like?', 'How should the API answer an error?'],
  },
  {
    memory: 'The customer Northwind prefers e-mail to phone calls and writes in Dutch.',
    prompts: ['How does Northwind like to be contacted?', 'Write to Northwind about the delay.'],
  },
  {
    memory: 'Passwords are rotated every 90 days, and nobody shares an account.',
    prompts: ['How often do we change passwords?', 'What are our rules for passwords?'],
  },
  {
    memory: 'Our children’s books are for ages four to six: at most twelve pages and 400 words.',
    prompts: ['Plan a children’s book about a fox.', 'How many pages has a children’s book of ours?'],
  },
];

/** Nothing is to be recalled for these. */
export const UNRELATED: readonly string[] = [
  'What is 17% of 2340?',
  'Multiply two numbers.',
  'Translate "good morning" into Japanese.',
  'Explain how photosynthesis works.',
  'Who won the World Cup in 1998?',
  'Write a haiku about autumn.',
  'Convert 40 degrees Fahrenheit to Celsius.',
  'Summarise the plot of Hamlet.',
  'Write a function that reverses a list.',
  'What is the capital of Australia?',
];
