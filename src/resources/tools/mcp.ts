/**
 * Tools of MCP servers: `mcp.<server>.<tool>`. The operator's servers serve every workspace; a workspace's own, which
 * its integrations name, serve it alone. A server that is down offers no tools, and says so to whoever calls one.
 */
import { isDeepStrictEqual } from 'node:util';
import type { McpConnection, McpState, TakenTool } from '../../platform/mcp/connection.ts';
import { McpRefusalError, McpTimeoutError, McpUnavailableError } from '../../platform/mcp/errors.ts';
import type { McpPool, WorkspaceMcpServer } from '../../platform/mcp/pool.ts';
import type { McpResult, McpTool } from '../../platform/mcp/session.ts';
import { isPicture } from '../../platform/documents/picture.ts';
import { isTooDeep, parseJson, TOO_DEEP } from '../../platform/core/json.ts';
import { fieldsOf } from '../../platform/core/record.ts';
import { storable, storableText } from '../../platform/core/storable.ts';
import type { Effect } from '../runs/model.ts';
import { ToolError, type Tool, type ToolSource } from './model.ts';

const MAX_ERROR_LENGTH = 4_000;
const MAX_DESCRIPTION_LENGTH = 4_000;

export interface McpToolsDependencies {
  pool: McpPool;
  /** @returns the servers that the workspace's integrations name */
  serversOf: (customerId: string) => Promise<readonly WorkspaceMcpServer[]>;
  timeoutMs: number;
}

/** An MCP server as the workspace sees it from this process. */
export interface ListedServer {
  name: string;
  owner: 'operator' | 'workspace';
  state: McpState;
}

type McpTools = Required<ToolSource> & { servers(customerId: string): Promise<ListedServer[]> };

export const createMcpTools = ({ pool, serversOf, timeoutMs }: McpToolsDependencies): McpTools => {
  /**
   * The operator's server hides a workspace's of the same name, so that what agents were given under that name stays
   * what it was.
   */
  async function connectionsOf(customerId: string, names?: ReadonlySet<string>): Promise<Map<string, McpConnection>> {
    const isWanted = (name: string): boolean => names?.has(name) ?? true;
    const found = new Map([...pool.operators].filter(([name]) => isWanted(name)));
    // This spares most runs the query.
    if (found.size === names?.size) return found;
    for (const server of await serversOf(customerId)) {
      const { name } = server;
      if (isWanted(name) && !found.has(name)) found.set(name, pool.ofWorkspace(customerId, server));
    }
    return found;
  }

  return {
    async find(customerId, slugs) {
      const wanted = slugs.flatMap((slug) => partsOf(slug) ?? []);
      if (wanted.length === 0) return [];
      const connections = await connectionsOf(customerId, new Set(wanted.map(({ server }) => server)));
      const found = await Promise.all(
        [...connections].map(async ([server, connection]) => {
          const { tools, leftOut, down } = await connection.state();
          return wanted
            .filter((one) => one.server === server)
            .flatMap(({ name }) => {
              const listed = tools.find((tool) => tool.name === name);
              // What a server that is down has is not known, so a tool counts as there until the server says otherwise.
              const why = listed ? undefined : leftOut.find((tool) => tool.name === name)?.reason;
              const unusable = down ?? (why && `the tool cannot be used: ${why}`);
              const tool = listed ?? (unusable === undefined ? undefined : unknownTool(name));
              return tool ? [toolOf(server, tool, connection, { timeoutMs, down: unusable })] : [];
            });
        }),
      );
      return found.flat();
    },

    async list(customerId) {
      const found = await Promise.all(
        [...(await connectionsOf(customerId))].map(async ([server, connection]) => {
          const { tools, down } = await connection.state();
          return tools.map((tool) => toolOf(server, tool, connection, { timeoutMs, down }));
        }),
      );
      return found.flat();
    },

    servers: async (customerId) =>
      Promise.all(
        [...(await connectionsOf(customerId))].map(async ([name, connection]) => ({
          name,
          owner: pool.operators.get(name) === connection ? ('operator' as const) : ('workspace' as const),
          state: await connection.state(),
        })),
      ),
  };
};

export const slugOf = (server: string, tool: string): string => `mcp.${server}.${tool}`;

/** So many pictures of one result are saved, which is as many as a model is shown. */
const MAX_PICTURES = 4;

/** A tool's name may have dots, a server's has none. */
const partsOf = (slug: string): { server: string; name: string } | undefined => {
  const [, server, name] = /^mcp\.([^.]+)\.(.+)$/.exec(slug) ?? [];
  return server !== undefined && name !== undefined ? { server, name } : undefined;
};

const unknownTool = (name: string): McpTool => ({
  name,
  description: '',
  inputSchema: { type: 'object' },
  hints: { readOnly: true, idempotent: false, destructive: false },
});

function toolOf(
  server: string,
  { name, description, inputSchema, hints, adapted }: TakenTool,
  connection: McpConnection,
  { timeoutMs, down }: { timeoutMs: number; down: string | undefined },
): Tool {
  const effect: Effect = hints.readOnly ? 'read' : hints.idempotent ? 'idempotent' : 'irreversible';
  return {
    slug: slugOf(server, name),
    description: storableText(description.slice(0, MAX_DESCRIPTION_LENGTH)),
    parameters: inputSchema,
    effect,
    sensitive: hints.destructive,
    module: `mcp.${server}`,
    dispatch: 'activity',
    ...(down === undefined ? {} : { unavailable: down }),
    ...(adapted === undefined ? {} : { adapted }),
    async execute(args, { signal, saveArtifact }) {
      const result = await connection
        .call(name, args as Record<string, unknown>, { signal, timeoutMs })
        .catch((error: unknown) => {
          throw explain(error, server, effect);
        });
      const text = textOf(result.content);
      if (result.isError) throw new ToolError(text.slice(0, MAX_ERROR_LENGTH) || 'the tool failed and did not say why');
      if (isTooDeep(result.structuredContent)) throw new ToolError(`the answer is ${TOO_DEEP}`);
      const value = valueOf(result, text);
      const pictures = result.content.map(pictureIn).filter((each) => each !== undefined);
      const saved: string[] = [];
      for (const [nth, picture] of pictures.slice(0, MAX_PICTURES).entries())
        saved.push((await saveArtifact(picture, nth)).artifactId);
      const left = pictures.length - saved.length;
      return storable({
        ...value,
        ...(saved.length > 0 && { saved_pictures: saved }),
        ...(left > 0 && { pictures_left_out: left }),
      });
    },
  };
}

/** A model is told what it can act on; whether something took effect is not for it to judge. */
function explain(error: unknown, server: string, effect: Effect): unknown {
  if (error instanceof McpUnavailableError) return new ToolError(error.message);
  if (error instanceof McpRefusalError) {
    return new ToolError(
      storableText(`the MCP server "${server}" refused: ${error.message}`.slice(0, MAX_ERROR_LENGTH)),
    );
  }
  if (error instanceof McpTimeoutError && effect === 'read') {
    return new ToolError(`the MCP server "${server}" gave ${error.message}`);
  }
  return error;
}

/** Structured content is usually repeated as text for clients that do not know it, so it is taken alone. */
function valueOf({ structuredContent }: McpResult, text: string): Record<string, unknown> {
  if (structuredContent === undefined) return { text };
  return isSameJson(text, structuredContent)
    ? { structured_content: structuredContent }
    : { text, structured_content: structuredContent };
}

const isSameJson = (text: string, value: unknown): boolean => {
  try {
    return isDeepStrictEqual(parseJson(text), value);
  } catch {
    return false;
  }
};

/** Takes texts as they are, and of anything else its kind. */
const textOf = (content: readonly unknown[]): string => storableText(content.map(blockText).join('\n'));

interface Block {
  type?: unknown;
  text?: unknown;
  mimeType?: unknown;
  data?: unknown;
  name?: unknown;
  uri?: unknown;
  description?: unknown;
  resource?: { uri?: unknown; text?: unknown; mimeType?: unknown; blob?: unknown };
}

const sizeOf = (base64: unknown): number => (typeof base64 === 'string' ? Buffer.byteLength(base64, 'base64') : 0);

function blockText(block: unknown): string {
  const { type, text, mimeType, data, name, uri, description, resource } = (block ?? {}) as Block;
  switch (type) {
    case 'text':
      return String(text);
    case 'image':
      return `[${type} ${String(mimeType)}, ${sizeOf(data)} bytes]`;
    case 'audio':
      return `[${type} ${String(mimeType)}, ${sizeOf(data)} bytes: audio cannot be read here]`;
    case 'resource_link':
      return `[resource ${String(name)}: ${String(uri)}${typeof description === 'string' ? `: ${description}` : ''}]`;
    case 'resource':
      if (typeof resource?.text === 'string') return resource.text;
      if (resource?.blob === undefined) return `[resource ${String(resource?.uri)}]`;
      return `[resource ${String(resource.uri)}: ${String(resource.mimeType)}, ${sizeOf(resource.blob)} bytes that are no text]`;
    default:
      return `[${String(type)}]`;
  }
}

/** @returns the picture that the block is, by its bytes: what a server calls it says nothing */
function pictureIn(block: unknown) {
  const { type, data, mimeType, resource } = fieldsOf(block);
  const { blob, mimeType: typeOfBlob } = fieldsOf(resource);
  const given = type === 'image' ? data : type === 'resource' ? blob : undefined;
  if (typeof given !== 'string') return undefined;
  const bytes = Buffer.from(given, 'base64');
  if (!isPicture(bytes)) return undefined;
  const contentType = String((type === 'image' ? mimeType : typeOfBlob) ?? 'application/octet-stream');
  const extension = /^image\/(png|jpeg|gif|webp|avif|tiff)$/.exec(contentType)?.[1];
  return extension ? { filename: `picture.${extension}`, contentType, bytes } : undefined;
}
