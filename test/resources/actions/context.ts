/** What actions are given in tests, and how tests read what they make. */
import { expect } from '@jest/globals';
import { defaultTreeAdapter, parse, type DefaultTreeAdapterTypes } from 'parse5';
import { SaxesParser } from 'saxes';
import { present } from '../../../src/platform/core/present.ts';
import type { ActionContext } from '../../../src/resources/actions/builtin/action.ts';
import { findAction } from '../../../src/resources/actions/builtin/index.ts';
import type { RenderedFile } from '../../../src/resources/actions/builtin/rendering/file.ts';

type Given = Partial<Omit<ActionContext, 'project'>> & { project?: Partial<ActionContext['project']> };

export const contextOf = ({ project, ...given }: Given = {}): ActionContext => ({
  project: { id: 'bees-0a1b2c', title: 'Bees on roofs', brief: 'About bees.', params: {}, ...project },
  inputs: {},
  artifacts: {},
  instructions: null,
  signal: new AbortController().signal,
  fetch: () => Promise.reject(new Error('no network in this test')),
  ...given,
});

export const runAction = (name: string, given: Given): Promise<unknown> =>
  present(findAction(name)).run(contextOf(given));
export const renderFile = async (name: string, given: Given): Promise<RenderedFile> =>
  (await runAction(name, given)) as RenderedFile;

const PALETTE = { palette: { background: '#ffffff', ink: '#222222', accent: '#0055aa' } };
const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10"><circle cx="5" cy="5" r="4" fill="#f00"/></svg>';
const BLOCK = { title: 'Fresh air', text: 'More of it.' };

/** For each action something that it can work on, and what makes it one: without that part it refuses. */
export const CASES: Record<string, { given: Given; needs: RegExp }> = {
  assemble_markdown: {
    given: { artifacts: { article: { title: 'An article', content: '# An article\n\nText.\n\n## Part\n\n`<b>`' } } },
    needs: /missing texts to join/,
  },
  render_html_page: {
    given: {
      inputs: {
        edit: { title: 'An article', content: 'Text with a [link](https://example.com).\n\n## A\n\n## B\n\n## C' },
      },
      artifacts: {
        cover: { svg: SVG, alt: 'A red circle' },
        listing: { meta_title: 'For searches', meta_description: 'What one learns' },
        look: PALETTE,
      },
    },
    needs: /missing text of the page.*"content"/,
  },
  render_landing_page: {
    given: {
      project: { params: { call_to_action_url: 'https://example.com/start?a=1&b=2' } },
      inputs: {
        copy: {
          hero: {
            headline: 'Honey from your roof',
            subline: 'For flat roofs',
            button: 'Order a hive',
            reassurance: 'Free',
          },
          benefits: [BLOCK, BLOCK],
          steps: [BLOCK],
          questions: [{ question: 'Do they sting?', answer: 'Seldom.' }],
          closing: { headline: 'Begin', text: 'In May.' },
          meta_title: 'Roof honey',
          meta_description: 'Bees for roofs',
        },
      },
    },
    needs: /missing copy of the page.*"hero"/,
  },
  render_slides: {
    given: {
      artifacts: {
        slides: {
          slides: [{ title: 'Bees fly far', points: ['3 km', '5 km'], takeaway: 'Far' }, { title: 'And back' }],
        },
        speech: { notes: [{ text: 'Once upon a time' }] },
      },
    },
    needs: /missing slides to show.*"slides"/,
  },
  render_sticker_sheet: {
    given: {
      inputs: {
        draw: {
          stickers: [
            { name: 'Bee', svg: SVG, alt: 'A bee' },
            { name: 'Hive', svg: 'a hive, drawn in words' },
          ],
        },
      },
    },
    needs: /missing stickers to lay out.*"stickers"/,
  },
  render_storybook: {
    given: {
      artifacts: {
        manuscript: { title: 'The bee that hummed', pages: [{ text: 'Hum.' }, { text: 'Hum,\nhum.' }] },
        pictures: { scenes: [{ svg: SVG, alt: 'A bee' }] },
      },
    },
    needs: /missing pages of the story.*"pages"/,
  },
  render_animation: {
    given: {
      project: { params: { format: 'square' } },
      artifacts: {
        storyboard: {
          scenes: [
            {
              heading: 'A bee flies out',
              caption: 'in the morning',
              duration_s: 2.5,
              shape: 'circles',
              motion: 'rise',
            },
            { heading: 'and back', caption: '', duration_s: 3, shape: 'waves', motion: 'zoom' },
            { heading: 'every day', duration_s: 2, shape: 'bars', motion: 'slide' },
            { heading: 'all summer', duration_s: 2, shape: 'grid', motion: 'fade' },
          ],
        },
      },
    },
    needs: /missing storyboard.*"scenes"/,
  },
  render_worksheet: {
    given: {
      artifacts: {
        passage: { passage: { title: 'On the roof', text: 'There it hums.\nAll day.' } },
        exercises: {
          exercises: [
            { kind: 'multiple_choice', question: 'How many legs?', options: ['4', '6'], points: 2 },
            { kind: 'true_false', question: 'Bees sleep.', options: [], points: 1 },
            { kind: 'open', question: 'Why roofs?', options: [], points: 3 },
          ],
        },
        key: { answers: [{ answer: '6', explanation: 'Insects.' }, { answer: 'True' }, { answer: 'Warm' }] },
      },
    },
    needs: /missing exercises.*"exercises"/,
  },
  render_planner: {
    given: {
      project: { params: { year: 2027 } },
      artifacts: {
        prompts: { monthly: [{ theme: 'Begin', question: 'With what?' }], weekly: ['What is left out?'] },
        habits: { habits: ['Walk', 'Read'] },
      },
    },
    needs: /missing prompts.*"monthly"/,
  },
  package_project: {
    given: {
      artifacts: {
        build: {
          files: [
            { path: 'server/app.js', content: 'if (1 < 2) run();' },
            { path: 'index.html', content: '<p>' },
          ],
        },
        launch: { readme: '# Roof\n\nHow to *start*.' },
      },
    },
    needs: /missing code files.*"files"/,
  },
  check_html: {
    given: {
      inputs: {
        page: {
          filename: 'a.html',
          content_type: 'text/html',
          content: '<!doctype html><html lang="en"><head><title>A</title></head><body><h1>A</h1></body></html>',
        },
      },
    },
    needs: /missing HTML page to test.*"content"/,
  },
  http_post: {
    given: {
      project: { params: { publish_url: 'https://example.com/hook' } },
      inputs: { post: 'text' },
      fetch: () => Promise.resolve(new Response('thanks', { status: 201 })),
    },
    needs: /missing parts to send/,
  },
};

// ---- Reading ---------------------------------------------------------------------------------------------------------

export type Element = DefaultTreeAdapterTypes.Element;

/** Every element, templates left out. @throws where a browser's parser would have to guess */
export function parseHtml(content: string): Element[] {
  const faults: string[] = [];
  const document = parse(content, { onParseError: ({ code, startLine }) => faults.push(`${startLine}: ${code}`) });
  expect(faults).toEqual([]);
  const walk = (nodes: readonly DefaultTreeAdapterTypes.ChildNode[]): Element[] =>
    nodes.flatMap((node) => (defaultTreeAdapter.isElementNode(node) ? [node, ...walk(node.childNodes)] : []));
  return walk(document.childNodes);
}

/** Every element's name and attributes. @throws where it is not well-formed XML */
export function parseXml(content: string): { name: string; attributes: Record<string, string> }[] {
  const parser = new SaxesParser({ xmlns: true });
  const elements: { name: string; attributes: Record<string, string> }[] = [];
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', ({ name, attributes }) => {
    const values = Object.entries(attributes).map(([key, { value }]) => [key, value]);
    elements.push({ name, attributes: Object.fromEntries(values) });
  });
  parser.write(content).close();
  return elements;
}

export const textIn = (element: Element): string =>
  element.childNodes
    .map((node) =>
      defaultTreeAdapter.isTextNode(node) ? node.value : 'childNodes' in node ? textIn(node as Element) : '',
    )
    .join('');
