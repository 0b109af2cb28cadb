// A form: its fields in order, its buttons, and what is wrong with what was entered. What happens with an answer is its caller's.
import type { FunctionComponent } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { readable } from '../form/colors.ts';
import { type Problems, problemsIn, problemsOf, type Refusal } from '../form/check.ts';
import { choicesOf, fieldsOf, footerButtons, hasValue, shownValue } from '../form/form.ts';
import type { Entered, Field, FieldType, Json, JsonObject } from '../form/types.ts';
import { exactOf, isNumber, textOf } from '../form/types.ts';
import { CheckBox, DateField, DropList, NumberField, RadioButtons, TextField } from '../fields/entries.tsx';
import { buttonStyle, type FieldProps, Label, problemText } from '../fields/label.tsx';
import { MapField } from '../fields/map.tsx';
import { Barcode, MediaField } from '../fields/media.tsx';
import { Dashboard, Document, Filled, Image, SectionLabel, Text } from '../fields/shown.tsx';
import { useUi } from './context.ts';

const ENTERED: { readonly [T in FieldType]?: FunctionComponent<FieldProps> } = {
  audio: MediaField,
  barcode: Barcode,
  camera: MediaField,
  checkbox: CheckBox,
  date: DateField,
  datetime: DateField,
  droplist: DropList,
  inputInteger: NumberField,
  inputReal: NumberField,
  inputString: TextField,
  map: MapField,
  markupImage: MediaField,
  radioButtons: RadioButtons,
  video: MediaField,
};
const SHOWN: { readonly [T in FieldType]?: FunctionComponent<{ field: Field }> } = {
  currentDateTime: Filled,
  currentLocation: Filled,
  dashboard: Dashboard,
  document: Document,
  image: Image,
  sectionLabel: SectionLabel,
  text: Text,
};

export interface FormProps {
  readonly payload: JsonObject;
  readonly entered: Entered;
  /** Fields that the service has found wrong in what was sent. */
  readonly refused: readonly Refusal[];
  readonly isBusy: boolean;
  readonly onChange: (entered: Entered) => void;
  readonly onSubmit: (submitValue: number | bigint) => void;
}

export function FormView({ payload, entered, refused, isBusy, onChange, onSubmit }: FormProps) {
  const { say } = useUi();
  const fields = useMemo(() => fieldsOf(payload), [payload]);
  const [isTried, setTried] = useState(false);
  const summary = useRef<HTMLDivElement>(null);
  const [tries, setTries] = useState(0);
  const form = useRef<HTMLFormElement>(null);
  const [unread, setUnread] = useState<readonly string[]>([]);
  const found = problemsOf(fields, entered);
  const tried = isTried ? [...found, ...problemsIn(fields, unread.map(asNoValue))] : [];
  const problems: Problems = new Map([...problemsIn(fields, refused), ...tried]);
  useEffect(() => {
    if (tries > 0) summary.current?.focus();
  }, [tries]);
  const submit = (value: number | bigint): void => {
    if (isBusy) return;
    const notRead = unreadable(form.current);
    setTried(true);
    setUnread(notRead);
    if (found.size > 0 || notRead.length > 0) setTries(tries + 1);
    else onSubmit(value);
  };
  // A field may tell of its value long after it was shown (a place that is looked for): it changes what is entered by then.
  const latest = useRef(entered);
  latest.current = entered;
  const change = (id: string, value: Json): void => {
    if (unread.length > 0) setUnread([]);
    latest.current = { ...latest.current, [id]: value };
    onChange(latest.current);
  };
  return (
    <form
      ref={form}
      class="form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        // Enter in a field is the button, where there is but one.
        const [first, ...others] = [...footerButtons(fields), ...fields.flatMap(inlineValues)];
        if (first && others.length === 0) submit(first.value);
      }}
    >
      {problems.size > 0 && (
        <div ref={summary} class="summary" role="alert" tabIndex={-1}>
          <p>{say('problems')}</p>
          <ul>
            {fields
              .filter(({ id }) => problems.has(id))
              .map((field) => (
                <li key={field.key}>
                  <a
                    href={`#${field.key}`}
                    onClick={(event) => {
                      event.preventDefault();
                      document.getElementById(field.key)?.focus();
                    }}
                  >
                    <span dir="auto">{textOf(field.source, 'label') || field.id}</span>: {problemText(problems.get(field.id)!, say)}
                  </a>
                </li>
              ))}
          </ul>
        </div>
      )}
      {fields.map((field) => (
        <OneField
          key={`${field.key}/${field.type}`}
          field={field}
          entered={entered}
          problems={problems}
          isBusy={isBusy}
          onChange={change}
          onSubmit={submit}
        />
      ))}
      <footer class="footer">
        {footerButtons(fields).map(({ label, value }) => (
          <button key={value} type="button" class="button primary" dir="auto" disabled={isBusy} onClick={() => submit(value)}>
            {label || say('submit')}
          </button>
        ))}
      </footer>
    </form>
  );
}

const inlineValues = (field: Field): { value: number | bigint }[] =>
  field.type === 'inlineButton'
    ? [{ value: exactOf(field.source, 'value', 0) }]
    : field.type === 'buttonCluster'
      ? choicesOf(field).flatMap(({ value }) => (isNumber(value) ? [{ value }] : []))
      : [];

const asNoValue = (id: string): Refusal => ({ id, reason: 'type' });

/** Fields of which the browser cannot say what stands there, such as a day without a year: they count as empty, and are not meant so. */
function unreadable(form: HTMLFormElement | null): string[] {
  const controls = form ? [...form.querySelectorAll('input')].filter(({ validity }) => validity.badInput) : [];
  return controls.flatMap((control) => control.closest<HTMLElement>('[data-field]')?.dataset['field'] ?? []);
}

interface OneFieldProps extends Omit<FormProps, 'payload' | 'refused' | 'onChange'> {
  readonly field: Field;
  readonly onChange: (id: string, value: Json) => void;
  readonly problems: Problems;
}

function OneField({ field, entered, problems, isBusy, onChange, onSubmit }: OneFieldProps) {
  const { scheme } = useUi();
  const Shown = SHOWN[field.type];
  if (Shown) return <Shown field={field} />;
  if (field.type === 'inlineButton') {
    const ground = textOf(field.source, 'buttonBackgroundColor', '#000000');
    const ink = readable(textOf(field.source, 'buttonLabelColor', '#d0d0d0'), /^#[0-9a-f]{6}$/i.test(ground) ? ground : '#000000');
    return (
      <div class="field">
        {textOf(field.source, 'label') !== '' && <Label field={field} />}
        <button
          type="button"
          class={`button inline on-${scheme}`}
          dir="auto"
          disabled={isBusy}
          style={buttonStyle(field.source, ground, ink)}
          onClick={() => onSubmit(exactOf(field.source, 'value', 0))}
        >
          {textOf(field.source, 'buttonLabel')}
        </button>
      </div>
    );
  }
  if (field.type === 'buttonCluster') return <Cluster field={field} isBusy={isBusy} onSubmit={onSubmit} />;
  const Entry = ENTERED[field.type];
  if (!Entry) return null;
  return (
    <Entry
      field={field}
      value={hasValue(field) ? shownValue(field, entered) : null}
      problem={problems.get(field.id) ?? null}
      onChange={(value) => onChange(field.id, value)}
    />
  );
}

function Cluster({ field, isBusy, onSubmit }: { field: Field; isBusy: boolean; onSubmit: (value: number | bigint) => void }) {
  const { say } = useUi();
  const label = textOf(field.source, 'label');
  return (
    <div class="field" role="group" aria-label={label || say('submit')}>
      {label !== '' && <Label field={field} />}
      <div class="cluster">
        {choicesOf(field).map(({ label: text, value }) => (
          <button key={value} type="button" class="button" dir="auto" disabled={isBusy} onClick={() => isNumber(value) && onSubmit(value)}>
            {text}
          </button>
        ))}
      </div>
    </div>
  );
}
