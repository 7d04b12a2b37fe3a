// The sheet, and the texts of the page in the chosen language. Elements name their text by `data-word`, or their
// accessible name by `data-label`.

const sheet = JSON.parse(document.getElementById("sheet").textContent);
const WORDS = JSON.parse(document.getElementById("words").textContent);

let language = sheet.language;

/** A text of the page, with values in place of {0}, {1}, ... */
function say(word, ...values) {
  return WORDS[language][word].replace(/\{(\d)\}/g, (_, at) => values[at]);
}

/** The code of the other language. */
function otherLanguage() {
  return Object.keys(WORDS).find((code) => code !== language);
}

function showWords() {
  document.documentElement.lang = language;
  document.title = `${say("title")}: ${sheet.suite}`;
  for (const element of document.querySelectorAll("[data-word]")) element.textContent = say(element.dataset.word);
  for (const element of document.querySelectorAll("[data-label]")) element.ariaLabel = say(element.dataset.label);
  const button = document.getElementById("language");
  button.textContent = WORDS[otherLanguage()].name;
  button.lang = otherLanguage();
}
