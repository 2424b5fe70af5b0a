/** The page of `ask_human`: a question, its options as buttons, and room for an answer in one's own words. */
export const QUESTION_HTML = `<style>
main { max-width: 40rem; margin: 8vh auto; padding: 0 1rem; font: 16px/1.5 system-ui, sans-serif; color: #123; }
h1 { font-size: 1.25rem; white-space: pre-wrap; overflow-wrap: anywhere; }
button { font: inherit; margin: 0 0.5rem 0.5rem 0; padding: 0.5rem 1rem; cursor: pointer; }
textarea { font: inherit; display: block; width: 100%; box-sizing: border-box; margin: 1rem 0 0.5rem; padding: 0.5rem; }
</style>
<main>
<h1></h1>
<div role="group" aria-label="Options"></div>
<form>
<textarea name="answer" rows="4" maxlength="10000" required aria-label="Your answer"></textarea>
<button>Send</button>
</form>
</main>
<script>
document.querySelector('h1').textContent = ARGS.question;
for (const option of ARGS.options ?? []) {
  const button = document.createElement('button');
  button.textContent = option;
  button.addEventListener('click', () => window.submit({ answer: option }));
  document.querySelector('div').append(button);
}
</script>
`;
