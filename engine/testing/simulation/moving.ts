// A type that is created, renamed, deleted and created again while clients insert: stored instances are found under its present name, and
// those from before its deletion are gone.
import { deleteDefinition } from '../../../resources/definitions/delete.ts';
import { putDefinition } from '../../../resources/definitions/operations.ts';
import { DEFINITIONS } from '../../../resources/catalog/definition-store.ts';
import { renameType } from '../../../features/types/rename-type.ts';
import { TYPES } from '../../../features/types/types-kind.ts';
import { countedBy, isGone, isThere, type Part, untilDone } from './part.ts';
import type { SimulatedService } from './service.ts';

const INSERTS = 6;
const NAMES = ['Here', 'There'] as const;

interface Step {
  readonly ask: (service: SimulatedService) => Promise<unknown>;
  /** Instances from before this change do not exist after it. */
  readonly empties?: true;
}

const made = (name: string): Step => ({
  ask: ({ space, asClient }) => putDefinition(space, TYPES, { name, properties: { tag: { type: 'String' } } }, asClient(), false),
});
const renamed = (name: string, newName: string): Step => ({
  ask: ({ space, asClient }) => renameType(space, TYPES, name, { newName }, asClient()),
});
const deleted = (name: string): Step => ({
  ask: ({ space, asClient }) => deleteDefinition(space, TYPES, name, asClient()),
  empties: true,
});

const STEPS: readonly Step[] = [
  made('Here'),
  renamed('Here', 'There'),
  renamed('There', 'Here'),
  deleted('Here'),
  made('Here'),
  renamed('Here', 'There'),
];

export function movingType(): Part {
  const waiting = new Set<string>();
  /** A counter that orders the observed moments. */
  let moments = 0;
  const emptied = { begunAt: Number.POSITIVE_INFINITY, doneAt: Number.POSITIVE_INFINITY };
  const inserted = new Map<string, { readonly begunAt: number; doneAt: number }>();
  return {
    tasks: (serving) => [
      () => {
        waiting.add('the type');
        const edit = async (): Promise<void> => {
          for (const { ask, empties } of STEPS) {
            if (empties) emptied.begunAt = ++moments;
            await untilDone(serving, ask, (error) => isGone(error) || isThere(error));
            if (empties) emptied.doneAt = ++moments;
          }
          waiting.delete('the type');
        };
        void edit();
      },
      ...Array.from({ length: INSERTS }, (_, index) => () => {
        const tag = `m${index}`;
        // A new instance for each attempt: a refused one may be stored nevertheless.
        let tries = 0;
        const ask = async (service: SimulatedService): Promise<void> => {
          const name = NAMES.find((one) => service.space.catalog.types.has(one)) ?? NAMES[0];
          const known = { begunAt: ++moments, doneAt: Number.POSITIVE_INFINITY };
          const one = `${tag}.${++tries}`;
          inserted.set(one, known);
          await service.insert(name, { tag: one });
          known.doneAt = ++moments;
        };
        void untilDone(serving, ask, () => false);
      }),
    ],
    unfinished: () => [...waiting].map((what) => `${what} is not done yet`),
    wrong(store) {
      const types = store.rows(DEFINITIONS).filter(({ kind }) => kind === 'types');
      if (types.length === 0) return inserted.size > 0 && waiting.size > 0 ? ['there is no type'] : [];
      const [{ collection, name } = { collection: '', name: '' }] = types;
      const found = countedBy(store.rows(String(collection)), ({ tag }) => String(tag));
      return [
        ...(types.length > 1 || name !== 'There' ? [`types: ${types.map((type) => String(type['name'])).join(', ')}`] : []),
        ...[...inserted].flatMap(([tag, { begunAt, doneAt }]) => {
          const times = found.get(tag) ?? 0;
          if (times > 1) return [`${tag} is stored ${times} times`];
          if (times === 1 && doneAt < emptied.begunAt) return [`${tag} was inserted before the type was deleted, and is there`];
          if (times === 0 && doneAt < Number.POSITIVE_INFINITY && begunAt > emptied.doneAt) return [`${tag} is lost`];
          return [];
        }),
      ];
    },
  };
}
