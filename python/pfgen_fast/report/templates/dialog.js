// The dialog of a page, which shows one view at a time. The page's state.js defines `askedView`, the view that the state
// names, and `NOTHING_OPEN`, the changes of the state that close all views.

const dialog = document.getElementById("details");
const dialogTitle = document.getElementById("details-title");
const dialogBody = document.getElementById("details-body");

/** The views by name; each view's script adds its own.
 *
 * A view has `title()`, the nodes of its head; `content()`, which promises the nodes of its body; and, if places in it
 * can be asked for, `reach()`, which shows the place that the state asks for; and perhaps `rest()`, the nodes below the
 * first screen, which are made when the browser has shown those above. All of them read `state`.
 */
const views = {};

function problem(error) {
  return make("p", { className: "notice" }, `The answers cannot be shown: ${error.message}`);
}

/** Fills a part of a details element when it is opened first; `element.opened()` opens it and promises that it is full. */
function fillWhenOpened(element, part, content) {
  let filled = null;
  const fill = async () => {
    part.append(make("p", { className: "quiet" }, "Loading …"));
    try {
      part.replaceChildren(...await content());
    } catch (error) {
      part.replaceChildren(problem(error));
    }
  };
  element.opened = () => {
    element.open = true;
    return filled ??= fill();
  };
  element.addEventListener("toggle", () => { if (element.open) element.opened(); });
}

let shownSubject = null;

async function showView() {
  hideTip();
  const asked = askedView();
  const view = asked && views[asked.name];
  if (!view) {
    shownSubject = null;
    dialog.close();
    return;
  }
  if (asked.subject === shownSubject) {
    view.reach?.();
    return;
  }
  shownSubject = asked.subject;
  const chosen = dialogBody.contains(document.activeElement) ? document.activeElement.dataset : {};
  dialogTitle.replaceChildren(...view.title());
  dialogBody.replaceChildren("Loading …");
  if (!dialog.open) dialog.showModal();
  dialogTitle.focus();
  dialog.scrollTop = 0;
  let content;
  try {
    content = await view.content();
  } catch (error) {
    content = [problem(error)];
  }
  if (asked.subject !== shownSubject) return;  // another view has been opened meanwhile
  dialogBody.replaceChildren(...content);
  if (chosen.filter ?? chosen.part) dialogBody.querySelector(`[data-filter="${chosen.filter}"], [data-part="${chosen.part}"]`)?.focus();  // the list that has changed the view
  view.reach?.();
  if (!view.rest) return;
  await new Promise((shown) => requestIdleCallback(shown, { timeout: 200 }));
  if (asked.subject !== shownSubject) return;
  dialogBody.append(...view.rest());
  view.reach?.();
}

whenChanged(showView);
// Scroll targets stop below the head of the dialog.
const dialogHead = dialog.querySelector(".details-head");
const leaveHead = () => { dialog.style.scrollPaddingTop = `${dialogHead.offsetHeight + 8}px`; };
new ResizeObserver(leaveHead).observe(dialogHead);
document.getElementById("close").addEventListener("click", closeView);
dialog.addEventListener("click", (event) => { if (event.target === dialog) closeView(); });
dialog.addEventListener("cancel", (event) => { event.preventDefault(); closeView(); });
dialog.addEventListener("close", () => {
  if (dialog.open) return;  // another view has been opened since
  dialogBody.replaceChildren();
  closeView();  // browsers close it by themselves when Esc is pressed twice
});

/** Closes the open view; Back undoes this. */
function closeView() {
  if (askedView()) go(NOTHING_OPEN);
}
