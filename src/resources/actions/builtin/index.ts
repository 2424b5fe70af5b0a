/** Lists the actions that ship. A new action is a file in this folder and a line here. */
import type { Effect } from '../../runs/model.ts';
import { ENACT_ACTION } from '../../projects/model.ts';
import type { Action } from './action.ts';
import { assembleMarkdown } from './assemble-markdown.ts';
import { checkHtml } from './check-html.ts';
import { httpPost } from './http-post.ts';
import { packageProject } from './package-project.ts';
import { renderAnimation } from './render-animation.ts';
import { renderHtmlPage } from './render-html-page.ts';
import { renderLandingPage } from './render-landing-page.ts';
import { renderPlanner } from './render-planner.ts';
import { renderSlides } from './render-slides.ts';
import { renderStickerSheet } from './render-sticker-sheet.ts';
import { renderStorybook } from './render-storybook.ts';
import { renderWorksheet } from './render-worksheet.ts';

export const ACTIONS: readonly Action[] = [
  assembleMarkdown,
  renderHtmlPage,
  renderLandingPage,
  renderSlides,
  renderStickerSheet,
  renderStorybook,
  renderAnimation,
  renderWorksheet,
  renderPlanner,
  packageProject,
  checkHtml,
  httpPost,
];

/**
 * This is a Map, because names come from templates of tenants, and `__proto__` must be as unknown as any other name.
 */
const byName = new Map(ACTIONS.map((action) => [action.name, action]));
export const findAction = (name: string): Action | undefined => byName.get(name);

/** @returns what a repetition of the action would do; of one that is not known any more the worst is assumed */
export const effectOfAction = (name: string): Effect =>
  name === ENACT_ACTION ? 'idempotent' : (findAction(name)?.effect ?? 'irreversible');
