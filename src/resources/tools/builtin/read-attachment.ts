import { z } from 'zod';
import type { AttachmentOwner } from '../../attachments/model.ts';
import { ToolError } from '../model.ts';
import { builtinTool } from './builtin-tool.ts';
import { Offset, PAGE_LENGTH, pageOf } from './text-page.ts';

interface AttachedFile {
  id: string;
  filename: string;
  contentType: string;
  sizeBytes: number;
  fileKey: string;
}

export interface ReadAttachmentSource {
  /** @returns the owner of the files that this run may read */
  ownerOfRun(customerId: string, runId: string): Promise<AttachmentOwner | undefined>;
  /** @returns the files, the oldest first */
  list(customerId: string, owner: AttachmentOwner): Promise<AttachedFile[]>;
}

/** The list has only the latest files, because it is for choosing from. */
const MAX_LISTED = 200;
const READABLE = /^(text\/.*|application\/json)$/;

export const createReadAttachment = (source: ReadAttachmentSource) =>
  builtinTool({
    slug: 'read_attachment',
    area: 'projects',
    description:
      'Reads a reference file that people put beside this project, scheduled job or conversation. Without id and filename it lists them: ' +
      '{attachments: [{id, filename, content_type, size_bytes}], total}. With one of the two it returns the text: ' +
      `{id, filename, content_type, content, next_offset}, at most ${PAGE_LENGTH} characters at a time; next_offset is ` +
      'null at the end. Of files with the same name it reads the latest. Files that are not text cannot be read.',
    effect: 'read',
    args: z.strictObject({
      id: z.string().max(100).optional().describe('Id from the list'),
      filename: z.string().max(1_000).optional().describe('Name from the list, instead of the id'),
      offset: Offset,
    }),
    async execute({ id, filename, offset }, { customerId, runId, files }) {
      const owner = await source.ownerOfRun(customerId, runId);
      if (!owner)
        throw new ToolError('this run has no files beside it: it belongs to no project, scheduled job or conversation');
      const all = await source.list(customerId, owner);
      if (id === undefined && filename === undefined) {
        return { attachments: all.slice(-MAX_LISTED).map(described), total: all.length };
      }
      const file = all.findLast((one) => (id === undefined ? one.filename === filename : one.id === id));
      if (!file) throw new ToolError('there is no such attachment: call without id and filename to list them');
      const { contentType, sizeBytes } = file;
      if (!READABLE.test(contentType)) {
        throw new ToolError(`${file.filename} is not text but ${contentType}, ${sizeBytes} bytes: it cannot be read`);
      }
      const { size_bytes: _size, ...about } = described(file);
      return { ...about, ...pageOf(new TextDecoder().decode(await files.get(file.fileKey)), offset) };
    },
  });

const described = ({ id, filename, contentType, sizeBytes }: AttachedFile) => ({
  id,
  filename,
  content_type: contentType,
  size_bytes: sizeBytes,
});
