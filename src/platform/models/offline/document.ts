/** Composes whole texts: Markdown documents from the brief, an outline upstream, and the sentences of a kind of work. */
import type { Material } from './material.ts';
import type { OfflineRole } from './role.ts';
import { ARTICLE_PARAGRAPHS, DOCUMENTS, type StockDocumentKind } from './stock/documents.ts';
import type { Subject } from './subject.ts';
import { findDocument, findField, findOutline, type Outline } from './upstream.ts';
import { clip, inOneLine, withoutMarkup } from './words.ts';

const BY_ROLE: Readonly<Record<OfflineRole, StockDocumentKind>> = {
  researcher: 'research',
  analyst: 'analysis',
  outliner: 'article',
  writer: 'article',
  copywriter: 'copy',
  editor: 'article',
  reviewer: 'report',
  tester: 'report',
  illustrator: 'design',
  designer: 'design',
  planner: 'plan',
  storyteller: 'story',
  educator: 'lesson',
  coder: 'readme',
  animator: 'film',
  general: 'general',
};
/** Words in the title of a step or its phase that tell more than the role. */
const BY_TITLE: readonly (readonly [StockDocumentKind, RegExp])[] = [
  ['newsletter', /\bnewsletter\b/i],
  ['social', /\bsocial\b/i],
  ['calendar', /\bcalendar\b/i],
  ['readme', /\breadme\b/i],
];

export function documentKind({ role, step }: Pick<Material, 'role' | 'step'>, fieldName = ''): StockDocumentKind {
  const words = `${fieldName} ${step?.phaseTitle.slice(0, 200)} ${step?.stepTitle.slice(0, 200)}`;
  return BY_TITLE.find(([, pattern]) => pattern.test(words))?.[0] ?? BY_ROLE[role];
}

const PLACE = /\{(title|topic|term|excerpt)\}/g;

/** Puts the words of a subject into a sentence of the stock. What is put in is not looked at again. */
export const fillSentence = (sentence: string, { title, topic, excerpt }: Subject, term = ''): string =>
  sentence.replace(
    PLACE,
    (_, place: 'title' | 'topic' | 'term' | 'excerpt') => ({ title, topic, term, excerpt })[place],
  );

/** The brief is quoted only if it says more than the title. */
function quotable(subject: Subject): Subject {
  const excerpt = withoutMarkup(subject.excerpt);
  const bare = (text: string) => text.replace(/[^\p{L}\p{N}]/gu, '');
  return { ...subject, excerpt: bare(excerpt) === bare(subject.title) ? '' : excerpt };
}

const list = (items: readonly string[]): string => items.map((item) => `- ${item}`).join('\n');
const quote = (text: string): string =>
  text
    .split('\n')
    .map((line) => `> ${line}`.trimEnd())
    .join('\n');
const section = (heading: string, ...paragraphs: string[]): string[] => [`## ${heading}`, ...paragraphs];

const optionalSection = (heading: string, items: readonly string[]): string[] =>
  items.length > 0 ? section(heading, list(items)) : [];

function sectionsFromOutline({ sections }: Outline): string[] {
  return sections.flatMap(({ heading, point, evidence }, at) => {
    const paragraph = ARTICLE_PARAGRAPHS[at % ARTICLE_PARAGRAPHS.length] ?? '';
    return section(heading, ...[point, paragraph, evidence && `*Still to be shown here:* ${evidence}`].filter(Boolean));
  });
}

interface DocumentWish {
  kind: StockDocumentKind;
  /** Begins with the title as a heading, for a text whose title stands nowhere else. */
  hasTitle: boolean;
}

/** @returns the document without the note */
export function composeDocument(material: Material, { kind, hasTitle }: DocumentWish): string {
  const { step, role } = material;
  const subject = quotable(material.subject);
  const upstream = step?.upstream ?? [];
  if (!step) return composeEcho(material, hasTitle);

  const returned = role === 'editor' ? findDocument(upstream) : '';
  if (returned) return returned;

  const stock = DOCUMENTS[kind];
  const message =
    kind === 'article'
      ? ['message', 'promise', 'angle'].map((name) => findField(upstream, name)).find(Boolean)
      : undefined;
  const outline = kind === 'article' ? findOutline(upstream) : undefined;
  const isUsable = (text: string) => subject.excerpt !== '' || !text.includes('{excerpt}');
  const filled = (texts: readonly string[]) => texts.filter(isUsable).map((text) => fillSentence(text, subject));
  const sections = outline
    ? sectionsFromOutline(outline)
    : stock.sections.flatMap(([heading, ...paragraphs]) => {
        const texts = filled(paragraphs);
        return texts.length > 0 ? section(heading, ...texts) : [];
      });
  return [
    ...(hasTitle ? [`# ${subject.title}`] : []),
    ...(outline?.opening ? [outline.opening] : filled(stock.opening)),
    ...(message ? [`Its message: ${clip(inOneLine(message), 300)}`] : []),
    ...sections,
    ...(outline?.ending ? [outline.ending] : filled(stock.ending === undefined ? [] : [stock.ending])),
    ...optionalSection(
      'Changes asked for',
      step.feedback.map((text) => clip(inOneLine(text), 200)),
    ),
    ...toolSection(material),
    ...optionalSection('Notes', material.notes),
  ].join('\n\n');
}

const MOST_ANSWERS = 10;

const toolSection = ({ toolAnswers }: Material): string[] =>
  optionalSection(
    'What the tools answered',
    toolAnswers.slice(-MOST_ANSWERS).map((text) => `A tool answered: ${text}`),
  );

const LONGEST_REQUEST = 2_000;
const MOST_EARLIER = 5;

/** Says what a single run was given: the request, what tools answered, what is remembered, what came before. */
function composeEcho(material: Material, hasTitle: boolean): string {
  const { subject, request, remembered, earlier, notes } = material;
  return [
    ...(hasTitle ? [`# ${subject.title}`] : []),
    ...(request.trim() ? ['The request was:', quote(clip(request.trim(), LONGEST_REQUEST))] : []),
    ...toolSection(material),
    ...optionalSection('From memory', remembered),
    ...optionalSection('Earlier in this conversation', earlier.slice(-MOST_EARLIER)),
    ...optionalSection('Notes', notes),
  ]
    .filter(Boolean)
    .join('\n\n');
}
