// The key of a group as a text: equal values have one, however they are spelled (builtins.md 16).
import { equalForm, equalText } from '../../stdlib/operators/index.ts';
import { encodeInner, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import { type InPieces, isDivisible, isLong, runsOf, spellInPieces } from '../../model/types/index.ts';
import { finishInSlices, type MaybePromise } from '../../platform/structures/index.ts';

/** Long keys are worked on in slices, of the namespace whose rows they are of. */
export const groupKey = ({ name }: { readonly name: string }, key: ObjectValue): MaybePromise<string> =>
  isLong(key) ? finishInSlices(name, equalTextInPieces(key)) : equalText(key);

function* equalTextInPieces(key: ObjectValue): InPieces<string> {
  return yield* spellInPieces(yield* equalFormInPieces(key), encodeInner);
}

function* equalFormInPieces(value: Value): InPieces<Value> {
  if (!isDivisible(value)) return equalForm(value);
  const isList = Array.isArray(value);
  const names = isList ? null : Object.keys(value).sort();
  const at = (index: number): Value => (isList ? value[index] : value[names?.[index] ?? '']) as Value;
  const members: ObjectValue = {};
  const elements: Value[] = [];
  for (const run of runsOf(names?.length ?? (value as Value[]).length, at)) {
    for (let index = run.from; index < run.to; index++) {
      const form = run.isDivisible ? yield* equalFormInPieces(at(index)) : equalForm(at(index));
      if (names) setOwn(members, names[index] as string, form);
      else elements.push(form);
    }
    yield;
  }
  return isList ? elements : members;
}
