// Whether a text may hold a shared Map (builtins.md 10): what reads a member then asks whether it is one's entry, which others are spared.
import type { Call, Definition, Execute, MethodCall } from '../ast.ts';
import type { CallResolver } from './calls.ts';
import type { CallTarget, Model } from './model.ts';
import { type AnyNode, childrenOf } from './walk.ts';

const MAKERS: ReadonlySet<string> = new Set(['Concurrent.Map', 'Concurrent.Cache']);

/**
 * A shared Map is made by the text itself, under whatever name it has imported that, or comes from what procedures of one service keep and
 * hand each other (language.md 4.9, C6). A rule may be part of a service, too, and be handed one by a private procedure (Y8).
 */
export function holdsMaps(
  definition: Definition,
  { procedure, rule, package: prefix }: Pick<Model, 'procedure' | 'rule' | 'package'>,
  resolver: CallResolver,
): boolean {
  if (procedure && procedure.serviceName !== null) return true;
  const services = rule ? servicesOf(rule, prefix) : new Set<string>();
  const gives = (node: AnyNode): boolean => {
    const target = targetOf(node, resolver);
    if (target?.kind === 'builtin') return MAKERS.has(target.info.name);
    return target?.names.some((name) => services.has(name.slice(0, name.lastIndexOf('.')))) ?? false;
  };
  const holds = (node: AnyNode): boolean => gives(node) || childrenOf(node).some(holds);
  return holds(definition);
}

/** Those that the rule may be part of: its package, and those whose events it handles. */
function servicesOf({ triggers }: NonNullable<Model['rule']>, prefix: string | null): ReadonlySet<string> {
  const handled = triggers.flatMap(({ paths }) => paths.map((path) => /^\/services\/([^/]+)\//.exec(path)?.[1] ?? null));
  return new Set([prefix, ...handled].filter((service) => service !== null));
}

function targetOf(node: AnyNode, resolver: CallResolver): CallTarget | null {
  switch (node.type) {
    case 'Call':
      return resolver.byName((node as Call).callee.text);
    case 'MethodCall':
      return resolver.method(node as MethodCall);
    case 'Execute':
      return resolver.execute(node as Execute);
    default:
      return null;
  }
}
