// Fields that are filled by typing or choosing: texts, numbers, dates, choices, check boxes.
import { useState } from 'preact/hooks';
import { choicesOf, isRequired, isSlider, rangeOf, stepOf } from '../form/form.ts';
import { timeOf } from '../form/times.ts';
import { numberIn } from '../form/numbers.ts';
import { type Field, isNumber, type Json, numberOf, textOf } from '../form/types.ts';
import { useUi } from '../views/context.ts';
import { controlAttributes, Framed, type FieldProps } from './label.tsx';

/** Which keyboard a phone shows. The text is not checked (integrations.md 8.3). */
const KEYBOARDS: Record<string, { type: 'text' | 'password' | 'tel'; inputMode: 'text' | 'email' | 'tel' | 'url'; autoComplete: string }> =
  {
    email: { type: 'text', inputMode: 'email', autoComplete: 'email' },
    password: { type: 'password', inputMode: 'text', autoComplete: 'off' },
    telephone: { type: 'tel', inputMode: 'tel', autoComplete: 'tel' },
    url: { type: 'text', inputMode: 'url', autoComplete: 'url' },
    text: { type: 'text', inputMode: 'text', autoComplete: 'off' },
  };

export function TextField({ field, value, problem, onChange }: FieldProps) {
  const flavor = textOf(field.source, 'flavor', 'text');
  const most = numberOf(field.source, 'maxLength', 0);
  const attributes = {
    ...controlAttributes(field, problem),
    dir: 'auto' as const,
    value: typeof value === 'string' ? value : '',
    placeholder: textOf(field.source, 'placeholder'),
    ...(most > 0 && { maxLength: most }),
    onInput: ({ currentTarget }: { currentTarget: HTMLInputElement | HTMLTextAreaElement }) =>
      onChange(currentTarget.value === '' ? null : currentTarget.value),
  };
  return (
    <Framed field={field} problem={problem} control={field.key}>
      {flavor === 'multiline' ? <textarea rows={4} {...attributes} /> : <input {...(KEYBOARDS[flavor] as object)} {...attributes} />}
    </Framed>
  );
}

export function NumberField(props: FieldProps) {
  return isSlider(props.field) ? <Slider {...props} /> : <TypedNumber {...props} />;
}

/** What is typed so far may be no number yet, such as `-`; it is kept as the text it is, and found wrong. */
function TypedNumber({ field, value, problem, onChange }: FieldProps) {
  const [typed, setTyped] = useState<string | null>(null);
  const isInteger = field.type === 'inputInteger';
  const parsed = (text: string): Json => (isInteger ? numberOrText(text) : asReal(numberOrText(text)));
  const shown = typed !== null && parsed(typed) === value ? typed : value === null ? '' : String(value);
  const units = textOf(field.source, 'units');
  const { least } = rangeOf(field);
  return (
    <Framed field={field} problem={problem} control={field.key}>
      <div class="row">
        <input
          {...controlAttributes(field, problem)}
          type="text"
          inputMode={least < 0 ? 'text' : isInteger ? 'numeric' : 'decimal'}
          autoComplete="off"
          value={shown}
          placeholder={textOf(field.source, 'placeholder')}
          onInput={({ currentTarget }) => {
            setTyped(currentTarget.value);
            onChange(parsed(currentTarget.value));
          }}
        />
        {units !== '' && (
          <span class="units" dir="auto">
            {units}
          </span>
        )}
      </div>
    </Framed>
  );
}

const numberOrText = (text: string): Json => (text.trim() === '' ? null : (numberIn(text, navigator.language) ?? text));
const asReal = (value: Json): Json => (typeof value === 'bigint' ? Number(value) : value);

function Slider({ field, value, problem, onChange }: FieldProps) {
  const { least, most } = rangeOf(field);
  const step = stepOf(field);
  const shown = isNumber(value) ? value : least;
  return (
    <Framed field={field} problem={problem} control={field.key}>
      <div class="row">
        <input
          {...controlAttributes(field, problem)}
          type="range"
          min={String(least)}
          max={String(most)}
          step={step}
          value={String(shown)}
          onInput={({ currentTarget }) => onChange(reached(Number(currentTarget.value), field))}
        />
        <output for={field.key}>{String(shown)}</output>
      </div>
    </Framed>
  );
}

/** A browser's slider counts in doubles: beyond 2^53 its ends are those of the field, and what lies between is near. */
function reached(at: number, field: Field): number | bigint {
  if (field.type !== 'inputInteger' || Number.isSafeInteger(at)) return at;
  const { least, most } = rangeOf(field);
  const near = BigInt(at);
  return near <= least ? least : near >= most || at >= Number(most) ? most : near;
}

export function CheckBox({ field, value, problem, onChange }: FieldProps) {
  const { say } = useUi();
  const label = textOf(field.source, 'checkboxLabel') || textOf(field.source, 'label') || field.id || say('none');
  return (
    <Framed field={field} problem={problem}>
      <label class="choice">
        <input
          {...controlAttributes(field, problem)}
          type="checkbox"
          checked={value === true}
          onChange={({ currentTarget }) => onChange(currentTarget.checked)}
        />
        <span dir="auto">{label}</span>
      </label>
    </Framed>
  );
}

/** Optional ones begin with an empty item (integrations.md 8.3); the others too, as long as nothing is chosen. */
export function DropList({ field, value, problem, onChange }: FieldProps) {
  const { say } = useUi();
  const choices = choicesOf(field);
  const at = choices.findIndex((choice) => choice.value === value);
  return (
    <Framed field={field} problem={problem} control={field.key}>
      <select
        {...controlAttributes(field, problem)}
        value={String(at)}
        onChange={({ currentTarget }) => onChange(choices[Number(currentTarget.value)]?.value ?? null)}
      >
        {(at === -1 || !isRequired(field)) && <option value="-1">{isRequired(field) ? '' : say('none')}</option>}
        {choices.map(({ label }, index) => (
          <option key={index} value={index} dir="auto">
            {label}
          </option>
        ))}
      </select>
    </Framed>
  );
}

export function RadioButtons({ field, value, problem, onChange }: FieldProps) {
  const { say } = useUi();
  const choices = [...(isRequired(field) ? [] : [{ label: say('none'), value: null }]), ...choicesOf(field)];
  return (
    <Framed field={field} problem={problem}>
      <div class="choices" role="radiogroup" aria-labelledby={`${field.key}-label`} aria-required={isRequired(field)}>
        {choices.map((choice, index) => (
          <label key={index} class="choice">
            <input
              id={index === 0 ? field.key : undefined}
              type="radio"
              name={field.key}
              checked={choice.value === value}
              onChange={() => onChange(choice.value)}
            />
            <span dir="auto">{choice.label}</span>
          </label>
        ))}
      </div>
    </Framed>
  );
}

export function DateField({ field, value, problem, onChange }: FieldProps) {
  const isDay = field.type === 'date';
  const shown = typeof value !== 'string' ? '' : isDay ? value : localOf(value);
  return (
    <Framed field={field} problem={problem} control={field.key}>
      <input
        {...controlAttributes(field, problem)}
        type={isDay ? 'date' : 'datetime-local'}
        min={isDay ? FIRST_DAY : `${FIRST_DAY}T00:00`}
        max={isDay ? LAST_DAY : `${LAST_DAY}T23:59`}
        value={shown}
        onInput={({ currentTarget }) => onChange(entered(currentTarget.value, isDay))}
      />
    </Framed>
  );
}

/** The service's first and last: without them browsers take years of six digits. */
const [FIRST_DAY, LAST_DAY] = ['0001-01-01', '9999-12-31'];

/** What is no time is kept as the text it is, and found wrong. */
function entered(text: string, isDay: boolean): string | null {
  if (text === '') return null;
  const at = isDay ? null : new Date(text);
  return at === null || Number.isNaN(at.getTime()) ? text : at.toISOString();
}

/** Of a time its text in the person's zone, as the browser's control wants it. */
function localOf(iso: string): string {
  const at = timeOf(iso);
  if (at === null) return '';
  const two = (part: number): string => String(part).padStart(2, '0');
  const day = `${String(at.getFullYear()).padStart(4, '0')}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day}T${two(at.getHours())}:${two(at.getMinutes())}`;
}
