/**
 * Texts of whole documents, by the kind of work. `{topic}` is the title in quotation marks, `{excerpt}` the beginning of
 * the brief.
 */

export interface DocumentStock {
  opening: readonly string[];
  sections: readonly (readonly [heading: string, ...paragraphs: string[]])[];
  ending?: string;
}

export type StockDocumentKind =
  | 'article'
  | 'newsletter'
  | 'social'
  | 'calendar'
  | 'readme'
  | 'research'
  | 'analysis'
  | 'plan'
  | 'copy'
  | 'story'
  | 'lesson'
  | 'design'
  | 'film'
  | 'report'
  | 'general';

/** For the sections of an article: each is used once, after the point of the section. */
export const ARTICLE_PARAGRAPHS: readonly string[] = [
  'A finished article would tell this through one person. It would say where they stood, what they saw first, and what they did next.',
  'Here the text would slow down. A single number with its source would carry more than a list of them.',
  'This is where a reader begins to doubt, so the strongest objection belongs here, in its own words and with a fair reply.',
  'An example from an ordinary week would make it plain. It should be small enough to picture and large enough to matter.',
  'Two ways of going about it would be set side by side, with what each of them costs and what it spares.',
  'The text would become practical at this point: what to do, with whom, and how long it takes the first time.',
  'What is uncertain would be called uncertain. A reader who is told so trusts the rest of the text more.',
  'A look at those who tried it and stopped would be useful, because their reasons say more than praise does.',
];

export const DOCUMENTS: Readonly<Record<StockDocumentKind, DocumentStock>> = {
  article: {
    opening: [
      'This article is about {topic}. It stands in for one that has not been written yet, so that its place and its shape can be seen.',
      'The brief begins: “{excerpt}”',
    ],
    sections: [
      [
        'Where the question comes from',
        'Nobody asks a question without a reason. The first part would describe the moment in which this one came up.',
      ],
      [
        'One example, from start to end',
        'The second part would follow one case closely, with its detours, until the reader can see how things hang together.',
      ],
      ['What it takes', 'The third part would name time, money and patience, as far as anybody knows them.'],
      [
        'A first step for tomorrow',
        'The last part would leave the reader with one thing to do, small enough for an afternoon.',
      ],
    ],
    ending: 'At the end the reader should have one thing to try and one thing to watch.',
  },
  newsletter: {
    opening: [
      'Good morning,',
      'this letter would tell you about {topic} in the time that a cup of tea takes. For now it only shows where the words will stand.',
    ],
    sections: [
      [
        'Three subject lines to choose from',
        '- A small start\n- One question before the weekend\n- What we left out on purpose',
      ],
      [
        'The story',
        'Here a reader would meet one person and one morning on which something changed. It takes four sentences, and none of them sells anything.',
      ],
      [
        'One thing to try',
        'Choose a quiet quarter of an hour, write one question on a sheet of paper, and leave it on the table until evening.',
      ],
    ],
    ending: 'Until next time. The whole text is in the [article].',
  },
  social: {
    opening: ['These posts about {topic} are stand-ins. They show how many there will be and how long they are.'],
    sections: [
      [
        'LinkedIn',
        'A good question saves more time than a quick answer. Which one would you ask first?',
        'We tried one small thing for a month. A finished post would say here what came of it.',
        'What did you stop doing last year that nobody missed?',
      ],
      [
        'Mastodon',
        'One example, one afternoon, one sheet of paper. The rest can wait.',
        'A number with its source would stand here, and nothing else.',
        'Who has tried this and given up? Your reasons would help.',
      ],
      [
        'Instagram',
        'A picture of a first step, seen from very close. The caption names the place and the day.',
        'Before and after: two pictures, one sentence.',
        'Look closely. What would you change here?',
      ],
    ],
  },
  calendar: {
    opening: [
      'The days below are counted from the start, because no calendar has been looked at. The subject is {topic}.',
    ],
    sections: [
      [
        'First week',
        '| Day | Time | Channel | Piece | To look at two days later |\n| --- | --- | --- | --- | --- |\n' +
          '| Monday | 09:00 | Website | Article | How many read it to the end |\n' +
          '| Tuesday | 08:00 | Mail | Newsletter | How many replied |\n' +
          '| Thursday | 12:00 | LinkedIn | First post | Which question came up |',
      ],
      [
        'Second week',
        '| Day | Time | Channel | Piece | To look at two days later |\n| --- | --- | --- | --- | --- |\n' +
          '| Monday | 17:00 | Mastodon | Second post | Who passed it on |\n' +
          '| Wednesday | 12:00 | Instagram | Third post | Which picture was saved |\n' +
          '| Friday | 10:00 | LinkedIn | A look back | What to do differently |',
      ],
    ],
    ending: 'The weekends stay free, and each channel has a day to itself.',
  },
  readme: {
    opening: [
      'This page introduces {topic}. It is a stand-in until somebody writes the real one.',
      'The brief begins: “{excerpt}”',
    ],
    sections: [
      [
        'What it does',
        'It takes one entry from the first note to the end and shows what is left to do. It is meant for a small team.',
      ],
      [
        'How it works',
        '1. Open the first page and add an entry.\n2. Tick entries off as they are done.\n3. Look at the list on Friday.',
      ],
      ['What it does not do', 'It keeps no accounts for several teams, it draws no charts, and it takes no payments.'],
      [
        'For developers',
        'The folder `server` answers requests, and `client` shows the pages. Both hold the least that can be read and started.',
      ],
    ],
  },
  research: {
    opening: ['These notes are about {topic}. Nothing was searched and nobody was asked, so they say what is missing.'],
    sections: [
      ['What the brief says', '“{excerpt}”'],
      [
        'What would have to be found out',
        '- Who is concerned, and how many they are\n- What they do today, and what it costs them\n- Who has looked into it before',
      ],
      [
        'Where somebody could look',
        '- People who have done it themselves\n- Figures that are published each year\n- Reports of those who tried it and stopped',
      ],
      [
        'What is uncertain',
        'Everything that is not in the brief. Two independent sources would be the least for each claim.',
      ],
    ],
  },
  analysis: {
    opening: [
      'This is the frame of an analysis of {topic}. It holds no figures, because none were given or looked up.',
    ],
    sections: [
      [
        'Who it concerns',
        'Somebody who meets the subject now and then, has little time, and wants to know where to begin.',
      ],
      [
        'What can be counted',
        '- How often it comes up in a month\n- How long it takes each time\n- How many people are waiting for it',
      ],
      [
        'What would change the result',
        'A number that is twice as large as expected, or a group of people that nobody has thought of.',
      ],
      ['What to find out first', 'How often it comes up. The rest depends on that.'],
    ],
  },
  plan: {
    opening: ['This is the outline of a plan for {topic}. The steps are general, and the dates are still open.'],
    sections: [
      ['Goal', 'A first version that can be shown to somebody who has not seen it before.'],
      [
        'Steps',
        '1. Collect what is known and mark what is open.\n2. Choose one example and follow it to the end.\n3. Make a first version on one page.\n4. Show it, listen, and change one thing.',
      ],
      ['Risks', 'It may take longer than expected. A day for looking back shows it early.'],
      ['To be decided', 'Who is in charge, and until when.'],
    ],
  },
  copy: {
    opening: ['These lines about {topic} are stand-ins. They show where headline, text and button will be.'],
    sections: [
      ['Headline', 'One small step to begin with'],
      ['Text', 'Two sentences will say here what somebody gets and for whom it is meant. A third says what it costs.'],
      ['Button', 'See how it works'],
    ],
  },
  story: {
    opening: ['Once there was a story that had a name and nothing else. Its name was {topic}.'],
    sections: [
      [
        'The search',
        'The story wanted words. It looked under the table and found a crumb. It looked behind the clock and met a comma. “Wait a little,” said the comma, and so they waited a little.',
      ],
      [
        'The dark',
        'Then it grew dark, and something went tick, tock, tick. They held hands until somebody turned on a lamp.',
      ],
      [
        'The book',
        'There lay a book with empty pages. “Here is room for me,” said the story, and very softly the first word came.',
      ],
    ],
    ending: 'The end, until somebody tells it properly.',
  },
  lesson: {
    opening: ['This lesson is about {topic}. It works with any subject until the real one is written.'],
    sections: [
      ['Beginning', 'Everybody writes down one word that comes to mind. Pairs compare their words and choose one.'],
      ['In the middle', 'Each pair finds an example for its word and tells the others why it is one.'],
      ['At the end', 'Everybody asks one question that is still open. The questions stay on the wall until next time.'],
    ],
  },
  design: {
    opening: ['This is a first sketch for {topic}: calm, clear, with one accent.'],
    sections: [
      ['Idea', 'A well-kept noticeboard. Everything has its place, and one thing stands out.'],
      [
        'Colours and type',
        'Dark text on a light ground, one warm accent for what can be pressed, type in three sizes.',
      ],
      ['Layout', 'A title, one sentence, one button. Below them the rest, in the order in which it is needed.'],
    ],
  },
  film: {
    opening: ['This is a first storyboard for {topic}, without sound and without names.'],
    sections: [
      ['Beginning', 'A single dot waits in the middle of the screen.'],
      ['Turn', 'It moves to the right, and others follow, each a little later than the last.'],
      ['End', 'They come to rest in one line, and the title appears below it.'],
    ],
  },
  report: {
    opening: [
      'No model was called, so nobody has read or tested {topic}. This report says so and lets the work go on.',
    ],
    sections: [
      ['What was looked at', 'Nothing yet.'],
      ['What was found', 'Nothing that would stop the work.'],
    ],
  },
  general: {
    opening: [
      'This text is about {topic}. It stands in for one that has not been written yet.',
      'The brief begins: “{excerpt}”',
    ],
    sections: [
      ['What it is about', 'The first part would explain the subject in words that a newcomer understands.'],
      ['An example', 'The second part would follow one case from everyday life.'],
      ['What to do next', 'The last part would name one step that fits into an afternoon.'],
    ],
  },
};
