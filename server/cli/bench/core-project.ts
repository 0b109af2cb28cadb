// The rules and procedures of a project without a service: types by name, rules in an index, procedures for the sandbox.
import { compile, type CompiledRule } from '../../../compiler/index.ts';
import { systemClock } from '../../../platform/clock/index.ts';
import { parseType, type ScalarDefinition, type TypeDefinition } from '../../../model/types/index.ts';
import { parseJson } from '../../../model/values/index.ts';
import { pureBuiltins } from '../../../resources/host-context.ts';
import { programOf } from '../../../runtime/programs/index.ts';
import { type IndexedRule, TriggerIndex } from '../../../runtime/triggers/index.ts';
import type { Program, ResolvedProcedure, RunOptions } from '../../../sandbox/index.ts';
import { builtinTable } from '../../../stdlib/builtins/index.ts';
import type { ObjectValue } from '../../../stdlib/values/index.ts';
import { proceduresOf, readProject, stateOf } from '../project.ts';
import { filesOf, readText } from '../projects/local.ts';
import { UsageError } from '../terminal.ts';

export const NAMESPACE = 'main';

/** The run that a rule of the index starts. */
export interface Ready {
  readonly program: Program;
  readonly opts: RunOptions;
  readonly binds: ReadonlyMap<string, 'event' | 'value'>;
}

export interface CoreProject {
  readonly types: ReadonlyMap<string, TypeDefinition>;
  readonly index: TriggerIndex;
  readonly procedures: ReadonlyMap<string, ResolvedProcedure>;
  readonly rules: number;
  readonly notes: readonly string[];
}

/** @throws UsageError for a file that does not belong in a project, and for a text that does not compile */
export async function openCoreProject(root: string): Promise<CoreProject> {
  const files = await filesOf(root, () => undefined);
  const project = await readProject(root);
  const compiling = { builtins: builtinTable(), stateOf: stateOf(project) };
  const scalars = new Map<string, ScalarDefinition>();
  const bodies: ObjectValue[] = [];
  const rules: CompiledRule[] = [];
  for (const { folder, path, file } of files) {
    if (folder === 'types') bodies.push(parseJson(await readText(file)) as ObjectValue);
    if (folder === 'scalars') {
      const scalar = JSON.parse(await readText(file)) as ScalarDefinition;
      scalars.set(scalar.name, scalar);
    }
    if (folder !== 'rules') continue;
    const made = compile(await readText(file), compiling);
    const [first] = made.diagnostics.filter(({ severity }) => severity === 'error');
    if (!made.ok) throw new UsageError(`${folder}/${path}: line ${first?.line}, column ${first?.column}: ${first?.message}`);
    if (made.unit.kind === 'rule') rules.push(made.unit);
  }
  const types = typesOf(bodies, scalars);
  const index = new TriggerIndex({
    typeOf: (name) => types.get(name) ?? null,
    builtin: pureBuiltins(systemClock),
    namespace: NAMESPACE,
    onError: () => undefined,
  });
  const simple = rules.filter(isSimple);
  for (const rule of simple) index.add(indexed(rule));
  const left = rules.filter((rule) => !isSimple(rule)).map(({ fullName }) => fullName);
  return {
    types,
    index,
    procedures: new Map(proceduresOf(project.texts, compiling).map((unit) => [unit.name, resolved(unit)])),
    rules: simple.length,
    notes: left.length > 0 ? [`Left out, as they run before changes or wait for several events or for time: ${left.join(', ')}.`] : [],
  };
}

const isSimple = ({ timing, triggers, correlation, expect }: CompiledRule): boolean =>
  timing === 'when' && triggers.length === 1 && !correlation && !expect;

/** Types may refer to each other in any order: each is read after those that it refers to. */
function typesOf(bodies: readonly ObjectValue[], scalars: ReadonlyMap<string, ScalarDefinition>): Map<string, TypeDefinition> {
  const types = new Map<string, TypeDefinition>();
  let waiting = [...bodies];
  while (waiting.length > 0) {
    const failed: ObjectValue[] = [];
    let reason = '';
    for (const body of waiting)
      try {
        const type = parseType(body, { types, scalars });
        types.set(type.name, type);
      } catch (error) {
        failed.push(body);
        reason = (error as Error).message;
      }
    if (failed.length === waiting.length) throw new UsageError(`types/: ${reason}`);
    waiting = failed;
  }
  return types;
}

function indexed(rule: CompiledRule): IndexedRule {
  const { fullName, name, version, triggers, where } = rule;
  const opts = { level: 20, namespace: NAMESPACE, username: 'admin', resource: `/rules/${fullName}`, service: rule.package };
  const binds = new Map(triggers.flatMap((trigger) => trigger.paths.map((path) => [path, trigger.binds] as const)));
  const baseName = version ? fullName.slice(0, -version.length - 1) : fullName;
  const payload: Ready = { program: programOf(rule.module, ''), opts, binds };
  return { name: fullName, baseName: baseName || name, version, triggers, where, payload };
}

type Procedure = ReturnType<typeof proceduresOf>[number];

const resolved = (unit: Procedure): ResolvedProcedure => ({
  name: unit.name,
  program: programOf(unit.module, unit.name),
  private: unit.private,
  service: unit.serviceName,
  parameters: [...unit.parameters],
  returns: unit.returns,
});
