// Reads from a source's definition whether it is active, whether it is mocked, and whether its pipeline exists.
import { isObject, type ObjectValue } from '../../stdlib/values/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import { own } from './protocols/fields.ts';

export const isMocked = (source: ObjectValue): boolean => own(source, 'mockMode') === true;
export const isActive = (source: ObjectValue): boolean => own(source, 'active') !== false;

export function pipelineOf(source: ObjectValue): string[] {
  const rules = own(source, 'pipelineRules');
  return Array.isArray(rules) ? rules.map(String) : [];
}

/** The first rule of the pipeline that does not exist, or does not listen to the source; null: there is none. */
export const unresolvedRule = (space: Pick<Namespace, 'catalog'>, source: ObjectValue): string | null =>
  pipelineOf(source).find((rule) => !listensTo(space.catalog.definitions.get('rules', rule), String(own(source, 'name')))) ?? null;

function listensTo(rule: ObjectValue | undefined, source: string): boolean {
  const triggers = rule ? own(rule, 'triggers') : null;
  const paths = (Array.isArray(triggers) ? triggers : []).map((one) => (isObject(one) ? own(one, 'path') : null));
  return paths.includes(`/sources/${source}/publish`);
}

/** The parts of a definition that its connection depends on, as a key for comparison. */
export function madeOf(source: ObjectValue, consumes: boolean): string {
  const { ars_properties: _, ars_version: __, ars_modifiedAt: ___, ars_modifiedBy: ____, ...rest } = source;
  return JSON.stringify([consumes, rest], (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
}
