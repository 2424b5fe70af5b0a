/** Finds the pictures that a run has read, for a model that sees. */
import { fieldsOf } from '../../platform/core/record.ts';
import { inTurn } from '../../platform/documents/in-turn.ts';
import { DocumentError } from '../../platform/documents/model.ts';
import { shownPicture } from '../../platform/documents/picture.ts';
import { FileNotFoundError, type FileStore } from '../../platform/files/files.ts';
import { seesPictures } from '../../platform/models/pictures.ts';
import type { ModelCredentials, Models, ResolvedModel, ShownPicture } from '../../platform/models/types.ts';
import type { AttachmentStore } from '../attachments/store.ts';
import { artifactKey, fileOfCall } from '../runs/model.ts';
import type { RunInTurn } from '../runs/store/run-in-turn.ts';

interface Dependencies {
  attachments: Pick<AttachmentStore, 'findAttachment'>;
  files: Pick<FileStore, 'get'>;
  models: Pick<Models, 'catalogue'>;
}

/** The latest so many are shown with each call; those before are read again where they are wanted. */
const MAX_SHOWN = 4;

/** Says with the result of a call what became of its picture. */
export const PICTURE_NOTES = {
  shown: 'the picture is shown with this',
  some: `only the latest ${MAX_SHOWN} pictures of the run are shown, of these some`,
  earlier: `not shown any more, as the latest ${MAX_SHOWN} pictures are: read it again to see it`,
  unseen: 'not shown: this model is not known to see pictures',
  gone: 'not shown: the picture is not there any more, or is damaged',
} as const;
type PictureNote = keyof typeof PICTURE_NOTES;

export interface PicturesOfRun {
  /** By the id of the call that read it. */
  shown: ReadonlyMap<string, readonly ShownPicture[]>;
  notes: ReadonlyMap<string, PictureNote>;
}

export type LoadPictures = (
  run: Pick<RunInTurn, 'id' | 'customerId' | 'toolCalls'>,
  resolved: ResolvedModel,
  credentials: ModelCredentials,
) => Promise<PicturesOfRun>;

export const createPictures =
  ({ attachments, files, models }: Dependencies): LoadPictures =>
  async ({ id: runId, customerId, toolCalls }, resolved, credentials) => {
    const shown = new Map<string, ShownPicture[]>();
    const found = new Map<string, PictureNote[]>();
    const load = async ({ callId, id, nth }: ReadPicture): Promise<ShownPicture | undefined> => {
      try {
        const file = id === undefined ? undefined : await attachments.findAttachment(customerId, id);
        const key = id === undefined ? artifactKey(customerId, runId, fileOfCall(callId, nth)) : file?.fileKey;
        return key === undefined ? undefined : await inTurn(async () => shownPicture(await files.get(key)));
      } catch (error) {
        if (error instanceof DocumentError || error instanceof FileNotFoundError) return undefined;
        throw error;
      }
    };
    const read = toolCalls.flatMap(picturesOf);
    const sees = read.length > 0 && seesPictures(resolved, credentials, models.catalogue());
    for (const [at, one] of read.entries()) {
      const { callId } = one;
      const isLate = at >= read.length - MAX_SHOWN;
      const picture = sees && isLate ? await load(one) : undefined;
      if (picture) shown.set(callId, [...(shown.get(callId) ?? []), picture]);
      const note = picture ? 'shown' : !sees ? 'unseen' : isLate ? 'gone' : 'earlier';
      found.set(callId, [...(found.get(callId) ?? []), note]);
    }
    const notes = new Map([...found].map(([callId, each]) => [callId, noteOf(each)]));
    return { shown, notes };
  };

interface ReadPicture {
  callId: string;
  /** An attachment; undefined where the call itself saved the picture. */
  id?: string;
  /** Of several that the call saved. */
  nth: number;
}

/** @returns the pictures that a call has read */
function picturesOf({ callId, tool, status, result }: RunInTurn['toolCalls'][number]): ReadPicture[] {
  if (status !== 'succeeded') return [];
  // Before there were several, a result named the one that was saved.
  const { kind, id, saved_pictures: several, saved_picture: one } = fieldsOf(result);
  const saved = Array.isArray(several) ? several : one === undefined ? [] : [one];
  // What a tool of an MCP server showed was saved as files of its call.
  if (tool.startsWith('mcp.')) return saved.map((_, nth) => ({ callId, nth }));
  return tool === 'read_attachment' && kind === 'image' && typeof id === 'string' ? [{ callId, id, nth: 0 }] : [];
}

/** @param each what became of each picture of a call */
const noteOf = (each: readonly PictureNote[]): PictureNote =>
  each.every((note) => note === each[0]) ? (each[0] ?? 'gone') : each.includes('earlier') ? 'some' : 'shown';
