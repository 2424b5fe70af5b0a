/**
 * Runs a container of an image that the Docker host has. It gets the arguments in its argv and as JSON on its input.
 */
import { z } from 'zod';
import { canonical } from '../../../platform/core/json.ts';
import type { ContainerSandbox } from '../../../platform/sandbox/container.ts';
import { Argv } from './command.ts';
import { customKind, TimeoutS, type ToolBody } from './kind.ts';
import { fillArgv, resultOf, sandboxed } from './sandboxed.ts';

const DEFAULT_TIMEOUT_S = 60;
const MAX_VARIABLES = 50;

const Environment = z
  .record(
    z
      .string()
      .max(200)
      .regex(/^[A-Za-z_]\w*$/, 'must be the name of a variable'),
    z.string().max(8_000),
  )
  .refine((env) => Object.keys(env).length <= MAX_VARIABLES, `at most ${MAX_VARIABLES}`);

const programOf = ({ body: { image, argv, env }, schema }: ToolBody): string => canonical({ image, argv, env, schema });

export const createContainer = (sandbox: ContainerSandbox) =>
  sandboxed(
    customKind({
      defaults: { shape: 'cli', sensitive: true, effect: 'irreversible' },
      body: z.strictObject({
        image: z.string().min(1).max(255),
        argv: Argv.optional(),
        env: Environment.optional(),
        timeout_s: TimeoutS.optional(),
      }),
      check({ image }) {
        const fault = sandbox.imageProblem(image);
        return fault && `image: ${fault}`;
      },
      secretFields: ['env'],
      receiverOf: ({ image, argv }) => `the image and arguments ${JSON.stringify([image, argv])}`,
      // What a program prints is the result of the call. Another program could print the environment. The same one could
      // be told to by another variable, or by the schema: it decides which braces of `argv` take which arguments.
      isSameReceiver: (before, after) => programOf(before) === programOf(after),
      async execute({ image, argv, env, timeout_s = DEFAULT_TIMEOUT_S }, args, { customerId, signal }, tool) {
        const order = { image, ...(argv && { argv: fillArgv(argv, tool, args) }), ...(env && { env }) };
        const request = { stdin: JSON.stringify(args), timeoutMs: timeout_s * 1_000, owner: customerId, signal };
        return resultOf(await sandbox.run(order, request));
      },
    }),
    sandbox.problem,
  );
