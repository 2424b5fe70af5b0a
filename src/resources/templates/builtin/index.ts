/** The workflows that ship. A new one is a file in this folder and a line here; a change is a new version in its file. */
import type { BuiltinTemplate } from '../model.ts';
import { blogPost } from './blog-post.ts';
import { childrensBook } from './childrens-book.ts';
import { contentSlideshow } from './content-slideshow.ts';
import { content } from './content.ts';
import { digitalPlanner } from './digital-planner.ts';
import { landingPage } from './landing-page.ts';
import { microSaas } from './micro-saas.ts';
import { motionGraphics } from './motion-graphics.ts';
import { stickerPack } from './sticker-pack.ts';
import { worksheet } from './worksheet.ts';

export const builtinTemplates: readonly BuiltinTemplate[] = [
  content,
  microSaas,
  blogPost,
  stickerPack,
  landingPage,
  contentSlideshow,
  childrensBook,
  motionGraphics,
  worksheet,
  digitalPlanner,
];
