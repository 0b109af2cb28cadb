// A form as its recipients will see it, for whoever designs it: checked as usual, but what would be sent is only shown.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { fieldsOf } from '../form/form.ts';
import { readJson, writeJson } from '../form/json.ts';
import { type Entered, isObject, type JsonObject, own, textOf } from '../form/types.ts';
import { directionOf, type Language, sayIn } from '../texts/index.ts';
import { useScheme } from './app.tsx';
import { type FormServices, UiContext } from './context.ts';
import { FormView } from './form-view.tsx';

interface Previewed {
  readonly title: string;
  readonly category: string;
  readonly payload: JsonObject;
}

/** The message that the service has put into the page; null: this is no preview. */
export function previewedIn(page: Document): Previewed | null {
  const text = page.getElementById('previewed')?.textContent;
  if (!text) return null;
  const message = readJson(text);
  if (!isObject(message)) return null;
  const payload = own(message, 'payload');
  return { title: textOf(message, 'title'), category: textOf(message, 'category'), payload: isObject(payload) ? payload : {} };
}

/** Recordings stay in the page. Documents of the service want a login, which a preview does not have. */
function servicesOfPage(): FormServices {
  const media = new Map<string, Blob>();
  return {
    keepMedium: async (name, blob) => void media.set(name, blob),
    medium: async (name) => media.get(name) ?? null,
    documentBytes: () => Promise.reject(new Error('preview')),
    openDashboard: () => undefined,
  };
}

export function Preview({ message: { title, category, payload }, first }: { message: Previewed; first: Language }) {
  const scheme = useScheme();
  const say = useMemo(() => sayIn(first), [first]);
  const services = useMemo(servicesOfPage, []);
  const [entered, setEntered] = useState<Entered>({});
  const [answer, setAnswer] = useState<string | null>(null);
  const fields = useMemo(() => fieldsOf(payload), [payload]);
  useEffect(() => {
    document.documentElement.lang = first;
    document.documentElement.dir = directionOf(first);
    document.title = say('preview');
  }, [first]);
  return (
    <UiContext.Provider value={{ say, language: first, scheme, services }}>
      <main id="content">
        <p class="notice" role="note">
          {say('previewNotice')}
        </p>
        <h1 dir="auto">{title || category || say('preview')}</h1>
        {category !== '' && (
          <p class="quiet" dir="auto">
            {category}
          </p>
        )}
        <FormView
          payload={payload}
          entered={entered}
          refused={[]}
          isBusy={false}
          onChange={(values) => {
            setEntered(values);
            setAnswer(null);
          }}
          onSubmit={(submitValue) =>
            setAnswer(
              writeJson(
                {
                  submitValue,
                  values: only(
                    entered,
                    fields.map(({ id }) => id),
                  ),
                },
                2,
              ),
            )
          }
        />
        {answer !== null && (
          <section aria-live="polite">
            <p>{say('previewGood')}</p>
            <pre class="answer">{answer}</pre>
          </section>
        )}
      </main>
    </UiContext.Provider>
  );
}

const only = (entered: Entered, ids: readonly string[]): Entered =>
  Object.fromEntries(Object.entries(entered).filter(([id]) => ids.includes(id)));
