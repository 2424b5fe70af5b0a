/**
 * Defines what a kind of custom tool consists of. Each kind is one file; `index.ts` makes tools of a workspace's rows
 * with them.
 */
import { z } from 'zod';
import { first } from '../../../platform/core/present.ts';
import type { Effect } from '../../runs/model.ts';
import { ToolError, type CustomTool, type Tool, type ToolContext, type ToolKind, type ToolShape } from '../model.ts';

/** @throws ToolError for what the model should be told; anything else counts as a failure and is retried */
type Execute = (tool: CustomTool, args: Record<string, unknown>, context: ToolContext) => Promise<unknown>;

/** The parts of a custom tool that its body is checked with. */
export type ToolBody = Pick<CustomTool, 'body' | 'schema'>;

/** A tool is taken to be this where whoever makes it does not say. */
interface Defaults {
  shape: ToolShape;
  sensitive: boolean;
  /** The effect must never be more harmless than is known: its author says what else may happen twice. */
  effect: Effect;
}

export interface CustomKind {
  /** @param body as it was given, before it was checked */
  defaultsOf(body: CustomTool['body']): Defaults;
  /** @returns what is wrong with the body, or why this deployment does not run it; told to whoever writes the tool */
  checkBody(tool: ToolBody): string | undefined;
  /** It is called with arguments that the tool's schema takes. */
  execute: Execute;
  /** The workflow carries the tool out in this way. */
  dispatch: Tool['dispatch'];
  /**
   * These fields of the body are records of texts which may be secrets: they are shown masked, and kept where the mask
   * comes back.
   */
  secretFields: readonly string[];
  /**
   * @param body need not be a valid one
   * @returns the only origin that a call reaches; undefined if it reaches none
   */
  originOf(body: CustomTool['body']): string | undefined;
  /**
   * Returns what is given the secrets of the body: an origin, or a program. A secret stays with its receiver: whoever
   * keeps the mask and changes the receiver would send the secret to a place of their choice.
   */
  receiverOf(body: CustomTool['body']): string | undefined;
  /** @returns whether a secret that was given for `before` may stay in `after` */
  isSameReceiver(before: ToolBody, after: ToolBody): boolean;
}

export type CustomKinds = Readonly<Record<ToolKind, CustomKind>>;

interface Definition<Body extends z.ZodObject> {
  body: Body;
  defaults: Omit<Defaults, 'effect'> & { effect: Effect | ((body: CustomTool['body']) => Effect) };
  /** Checks what the form of the body does not tell. @returns what is wrong, as `url: must be ...` */
  check?: (body: z.output<Body>, tool: ToolBody) => string | undefined;
  dispatch?: Tool['dispatch'];
  secretFields?: readonly (keyof z.output<Body> & string)[];
  originOf?: CustomKind['originOf'];
  /** By default the origin. */
  receiverOf?: CustomKind['receiverOf'];
  /** By default whether `receiverOf` returns the same. */
  isSameReceiver?: CustomKind['isSameReceiver'];
  execute(
    body: z.output<Body>,
    args: Record<string, unknown>,
    context: ToolContext,
    tool: CustomTool,
  ): Promise<unknown>;
}

/** The seconds that a call may take. */
export const TimeoutS = z.number().int().min(1).max(300);

const faultOf = (error: z.ZodError): string => {
  const { path, message } = first(error.issues);
  return `body${path.map((part) => `.${String(part)}`).join('')}: ${message}`;
};

/** Makes a kind whose body is parsed before each use, so that a row from before a rule was made cannot get past it. */
export const customKind = <Body extends z.ZodObject>(definition: Definition<Body>): CustomKind => {
  const { body: schema, defaults, check, dispatch = 'activity', secretFields = [], execute } = definition;
  const { originOf = () => undefined, receiverOf = originOf } = definition;
  const isSameReceiver = definition.isSameReceiver ?? ((a, b) => receiverOf(a.body) === receiverOf(b.body));
  return {
    dispatch,
    secretFields,
    originOf,
    receiverOf,
    isSameReceiver,
    defaultsOf(body) {
      const { effect } = defaults;
      return { ...defaults, effect: typeof effect === 'function' ? effect(body) : effect };
    },
    checkBody(tool) {
      const parsed = schema.safeParse(tool.body);
      if (!parsed.success) return faultOf(parsed.error);
      const fault = check?.(parsed.data, tool);
      return fault && `body.${fault}`;
    },
    async execute(tool, args, context) {
      const parsed = schema.safeParse(tool.body);
      if (!parsed.success) throw new ToolError(`${tool.slug} cannot be called: ${faultOf(parsed.error)}`);
      const fault = check?.(parsed.data, tool);
      if (fault) throw new ToolError(`${tool.slug} cannot be called: ${fault}`);
      return execute(parsed.data, args, context, tool);
    },
  };
};
