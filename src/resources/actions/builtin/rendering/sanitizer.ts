import type sanitizeHtml from 'sanitize-html';
import { whenUsed } from '../../../../platform/core/when-used.ts';

/** Keeps of markup what is allowed by name. The package is large, and most projects render nothing. */
export const sanitizer = whenUsed<typeof sanitizeHtml>('sanitize-html');
