// The label of a field with its size, place, colour and style (integrations.md 8.2), and what is to be said beside it.
import type { ComponentChildren, CSSProperties } from 'preact';
import type { Problem } from '../form/check.ts';
import { hasValue, isRequired } from '../form/form.ts';
import { type Field, type Json, type JsonObject, own, textOf } from '../form/types.ts';
import type { Say } from '../texts/index.ts';
import { inkOf, useUi } from '../views/context.ts';
import type { Scheme } from '../form/colors.ts';

/** Smaller cannot be read, larger leaves no room on a phone. */
const SIZES = { least: 12, most: 64, usual: 18 };

const sizeOf = (value: Json, usual: number): number => {
  const size = typeof value === 'string' ? Number(value) : value;
  return typeof size === 'number' && Number.isFinite(size) ? Math.min(SIZES.most, Math.max(SIZES.least, size)) : usual;
};

export function textStyle(source: JsonObject, scheme: Scheme, align: string): CSSProperties {
  const style = textOf(source, 'style', 'plain');
  const ink = inkOf(textOf(source, 'color'), scheme);
  return {
    fontSize: `${sizeOf(own(source, 'size'), SIZES.usual) / 16}rem`,
    textAlign: textOf(source, 'align', align),
    fontWeight: style.startsWith('bold') ? 700 : 400,
    fontStyle: style.endsWith('italic') ? 'italic' : 'normal',
    ...(ink !== undefined && { color: ink }),
  };
}

export function buttonStyle(source: JsonObject, ground: string, ink: string): CSSProperties {
  const style = textOf(source, 'buttonLabelStyle', 'plain');
  return {
    fontSize: `${sizeOf(own(source, 'buttonLabelSize'), SIZES.usual) / 16}rem`,
    fontWeight: style.startsWith('bold') ? 700 : 400,
    fontStyle: style.endsWith('italic') ? 'italic' : 'normal',
    background: ground,
    color: ink,
  };
}

export function problemText(problem: Problem, say: Say): string {
  switch (problem.kind) {
    case 'missing':
      return say('missing');
    case 'choice':
      return say('wrongChoice');
    case 'range':
      return say('wrongRange', problem.least, problem.most);
    case 'length':
      return say('tooLong', problem.most);
    case 'media':
      return say('wrongMedia');
    default:
      return say('wrongType');
  }
}

interface LabelProps {
  readonly field: Field;
  /** Of the control that it names; absent: it names a group by its own id. */
  readonly control?: string;
}

/** A field without a label is named by its id for those who do not see where it stands. */
export function Label({ field, control }: LabelProps) {
  const { say, scheme } = useUi();
  const label = textOf(field.source, 'label');
  const id = `${field.key}-label`;
  const text = (
    <>
      <span dir="auto">{label || field.id || say('map')}</span>
      {isRequired(field) && (
        <span class="required" title={say('required')}>
          <span aria-hidden="true"> *</span>
          <span class="hidden"> ({say('required')})</span>
        </span>
      )}
    </>
  );
  const shown = label === '' ? 'label hidden' : 'label';
  const style = textStyle(field.source, scheme, 'center');
  return control === undefined ? (
    <div id={id} class={shown} style={style}>
      {text}
    </div>
  ) : (
    <label id={id} for={control} class={shown} style={style}>
      {text}
    </label>
  );
}

export interface FieldProps {
  readonly field: Field;
  readonly value: Json;
  readonly problem: Problem | null;
  readonly onChange: (value: Json) => void;
}

/** Label, control, problem: the frame of every field with a value. */
export function Framed({
  field,
  problem,
  control,
  children,
}: Omit<FieldProps, 'value' | 'onChange'> & { control?: string; children: ComponentChildren }) {
  const { say } = useUi();
  return (
    <div
      class={problem ? 'field wrong' : 'field'}
      data-field={field.id}
      style={{ '--side': sideOf(field) }}
      {...(control === undefined && groupOf(field, problem))}
    >
      <Label field={field} {...(control !== undefined && { control })} />
      {children}
      {problem && (
        <p class="problem" id={`${field.key}-problem`}>
          {problemText(problem, say)}
        </p>
      )}
    </div>
  );
}

/** Where buttons, pictures and boxes stand: below their label. */
export const sideOf = ({ source }: Field): string =>
  textOf(source, 'label') === '' ? 'start' : ({ left: 'left', right: 'right' }[textOf(source, 'align')] ?? 'center');

const groupOf = (field: Field, problem: Problem | null) => ({
  role: 'group' as const,
  'aria-labelledby': `${field.key}-label`,
  ...(problem && { 'aria-describedby': `${field.key}-problem` }),
});

/** What a control says to those who do not see the page. */
export const controlAttributes = (field: Field, problem: Problem | null) => ({
  id: field.key,
  'aria-required': hasValue(field) && isRequired(field),
  'aria-invalid': problem !== null,
  ...(problem && { 'aria-describedby': `${field.key}-problem` }),
});
