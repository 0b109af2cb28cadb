// Fields that show something and have no value: texts, images, documents, the dashboard; and those that fill themselves.
import { useEffect, useState } from 'preact/hooks';
import { type Field, numberOf, own, textOf } from '../form/types.ts';
import { useUi } from '../views/context.ts';
import { inert } from './inert.ts';
import { sideOf, textStyle } from './label.tsx';

/** Addresses of other places; everything else is the name of a document. */
const isAddress = (url: string): boolean => /^(?:https?:\/\/|\/)/i.test(url);

/** An address that a page may lead to: never one that is a program (`javascript:`, `data:`). */
function addressOf(url: string): string | null {
  try {
    const address = new URL(url, location.origin);
    return address.protocol === 'https:' || address.protocol === 'http:' ? address.href : null;
  } catch {
    return null;
  }
}

export function SectionLabel({ field }: { field: Field }) {
  const { scheme } = useUi();
  return (
    <h2 class="section" dir="auto" style={textStyle(field.source, scheme, 'center')}>
      {textOf(field.source, 'label')}
    </h2>
  );
}

export function Text({ field }: { field: Field }) {
  const { scheme } = useUi();
  return (
    <p class="text" dir="auto" style={textStyle(field.source, scheme, 'left')}>
      {textOf(field.source, 'text', textOf(field.source, 'label'))}
    </p>
  );
}

const Caption = ({ field }: { field: Field }) => {
  const { scheme } = useUi();
  const label = textOf(field.source, 'label');
  if (label === '') return null;
  return (
    <figcaption dir="auto" style={textStyle(field.source, scheme, 'center')}>
      {label}
    </figcaption>
  );
};

/** An address of the browser's own for what is read with the person's login. @param isOpened as a page, not in this one */
export function useSource(url: string, isOpened = false): { source: string | null; isBroken: boolean } {
  const { services } = useUi();
  const [state, setState] = useState<{ source: string | null; isBroken: boolean }>({ source: null, isBroken: false });
  useEffect(() => {
    if (isAddress(url)) return setState({ source: addressOf(url), isBroken: addressOf(url) === null });
    let made = '';
    let isOver = false;
    services.documentBytes(url).then(
      (blob) => {
        if (isOver) return;
        made = URL.createObjectURL(isOpened ? inert(blob) : blob);
        setState({ source: made, isBroken: false });
      },
      () => setState({ source: null, isBroken: true }),
    );
    return () => {
      isOver = true;
      if (made !== '') URL.revokeObjectURL(made);
    };
  }, [url, isOpened]);
  return state;
}

export function Image({ field }: { field: Field }) {
  const { say } = useUi();
  const { source, isBroken } = useSource(textOf(field.source, 'url'));
  const [isMissing, setMissing] = useState(false);
  const label = textOf(field.source, 'label');
  // `size` is of the label where there is one, else the width in percent.
  const percent = label === '' ? Math.min(100, Math.max(1, Number(own(field.source, 'size') ?? 100) || 100)) : 100;
  return (
    <figure class="figure" style={{ textAlign: textOf(field.source, 'align', 'center') as 'center' }}>
      <Caption field={field} />
      {isBroken || isMissing ? (
        <p class="problem">{say('noImage')}</p>
      ) : (
        source && <img src={source} alt={label} style={{ width: `${percent}%` }} onError={() => setMissing(true)} />
      )}
    </figure>
  );
}

const PLAYED = { vaudio: 'audio', vvideo: 'video', vimage: 'img' } as const;

export function Document({ field }: { field: Field }) {
  const flavor = textOf(field.source, 'flavor', 'html');
  const played = Object.hasOwn(PLAYED, flavor) ? PLAYED[flavor as keyof typeof PLAYED] : null;
  return (
    <figure class="figure" style={{ textAlign: sideOf(field) }}>
      <Caption field={field} />
      {played ? <Played field={field} as={played} /> : <DocumentLink field={field} isPdf={flavor === 'pdf'} />}
    </figure>
  );
}

function Played({ field, as }: { field: Field; as: 'audio' | 'video' | 'img' }) {
  const { say } = useUi();
  const { source, isBroken } = useSource(textOf(field.source, 'url'));
  const name = textOf(field.source, 'label') || textOf(field.source, 'placeholder') || say('recorded');
  if (isBroken) return <p class="problem">{say('notOpened')}</p>;
  if (source === null) return <p>{say('loading')}</p>;
  if (as === 'img') return <img src={source} alt={name} />;
  return as === 'audio' ? <audio controls src={source} aria-label={name} /> : <video controls playsInline src={source} aria-label={name} />;
}

function DocumentLink({ field, isPdf }: { field: Field; isPdf: boolean }) {
  const { say } = useUi();
  const url = textOf(field.source, 'url');
  const { source, isBroken } = useSource(/^[a-z][a-z0-9+.-]*:/i.test(url) && !isAddress(url) ? '//' : url, true);
  if (isBroken) return <p class="problem">{say('notOpened')}</p>;
  return (
    <a class="button" href={source ?? undefined} target="_blank" rel="noopener noreferrer">
      <span dir="auto">{textOf(field.source, 'placeholder') || say(isPdf ? 'viewPdf' : 'viewWeb')}</span>
      <span class="hidden"> ({say('opensNewTab')})</span>
    </a>
  );
}

/** The dashboard of this app is the list of what waits; its tabs are the categories. */
export function Dashboard({ field }: { field: Field }) {
  const { say, services } = useUi();
  return (
    <figure class="figure" style={{ textAlign: sideOf(field) }}>
      <Caption field={field} />
      <button type="button" class="button" dir="auto" onClick={() => services.openDashboard(textOf(field.source, 'startTab'))}>
        {textOf(field.source, 'placeholder') || say('viewDashboard')}
      </button>
    </figure>
  );
}

/** The person is told what is sent beside what is entered. */
export function Filled({ field }: { field: Field }) {
  const { say } = useUi();
  return <p class="quiet">{say(field.type === 'currentLocation' ? 'placeUsed' : 'timeUsed')}</p>;
}

export const widthOf = (field: Field): number => {
  const width = numberOf(field.source, 'maxWidth', 0);
  return width >= 1 ? width : 2_048;
};
