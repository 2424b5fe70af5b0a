/** What both pages need: markup that escapes, requests, screens, forms, money and times. */

class Markup {
  constructor(text) {
    this.text = text;
  }
}
const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function render(value) {
  if (value === undefined || value === null || value === false) return '';
  if (value instanceof Markup) return value.text;
  if (Array.isArray(value)) return value.map(render).join('');
  return String(value).replace(/[&<>"']/g, (character) => ENTITIES[character]);
}

/** Whatever stands in a `${}` becomes text, unless it is markup itself. Attributes are always quoted. */
export const html = (strings, ...values) =>
  new Markup(strings.reduce((text, next, at) => text + render(values[at - 1]) + next));

export const money = (cents) => `$${(cents / 100).toFixed(2)}`;
export const sum = (items, value) => items.reduce((total, item) => total + value(item), 0);
const TIME = { weekday: 'long', day: 'numeric', month: 'long', hour: 'numeric', minute: '2-digit' };
export const when = (instant) => new Date(instant).toLocaleString('en', TIME);

/** The server answered, and not with what was asked for. */
export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** Nobody can tell whether the request arrived. */
export class NoAnswer extends Error {
  message = 'No connection. Please try again.';
}

export async function call(method, path, body) {
  const sent = body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  try {
    const response = await fetch(path, { method, ...sent, signal: AbortSignal.timeout(15_000) });
    const text = await response.text();
    const data = text ? JSON.parse(text) : {};
    if (response.status >= 500) throw new NoAnswer();
    if (!response.ok) throw new Refused(response.status, data.message);
    return data;
  } catch (problem) {
    throw problem instanceof Refused ? problem : new NoAnswer();
  }
}

const main = document.querySelector('main');

/** Shows a screen and takes the keyboard there. */
export function show(title, content) {
  document.title = title;
  main.innerHTML = render(content);
  main.focus({ preventScroll: true });
}

export function on(type, selector, work) {
  for (const element of main.querySelectorAll(selector)) element.addEventListener(type, () => work(element));
}

let latest = 0;
/** Fetches with `read` and shows with `draw`, unless something else was asked for meanwhile. */
export async function load(read, draw, refused = () => false) {
  const turn = (latest += 1);
  show('Loading', html`<p role="status">Loading…</p>`);
  scrollTo(0, 0);
  try {
    const data = await read();
    if (turn === latest) draw(data);
  } catch (problem) {
    if (turn !== latest || refused(problem)) return;
    const again = problem instanceof NoAnswer && html`<button id="again">Try again</button>`;
    show('Not available', html`<h1>That did not work</h1><p>${problem.message}</p>${again}`);
    on('click', '#again', () => load(read, draw, refused));
  }
}

let fields = 0;
/** A labelled input, with a hint below it where there is one. The attributes are markup. */
export function field(label, attributes, hint) {
  const id = `field-${(fields += 1)}`;
  return html`<div class="field">
    <label for="${id}">${label}</label>
    <input id="${id}" ${attributes} ${hint && html`aria-describedby="${id}-hint"`} />
    ${hint && html`<p class="hint" id="${id}-hint">${hint}</p>`}
  </div>`;
}

/** The end of each form: where it says what went wrong, and its button. */
export const ending = (label) => html`<p role="alert" class="problem"></p><button>${label}</button>`;

/** Sends a form once at a time, and keeps what was typed when that fails. */
export function onSubmit(selector, send) {
  const form = main.querySelector(selector);
  const [problem, button] = [form.querySelector('.problem'), form.querySelector('button:not([type])')];
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    problem.textContent = '';
    button.disabled = true;
    try {
      await send(Object.fromEntries(new FormData(form)), form);
    } catch (error) {
      problem.textContent = error.message;
    } finally {
      button.disabled = false;
    }
  });
}
